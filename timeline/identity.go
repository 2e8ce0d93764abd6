package timeline

import (
	"slices"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// On the tape an object's name, namespace, uid and resourceVersion stand
// beside it, and its kind and apiVersion in the header. What is left is the
// body; states are kept and compared as:
//
//	{"metadata":{…},…}
//
// with metadata first, whatever order the object came in.
const bodyStart = `{"metadata":{`

// identity holds what is beside a body.
type identity struct {
	namespace, name, uid, rv string

	// types says that kind or apiVersion aren't those of the header's resource
	// and so are in the body.
	types bool
}

// split takes an object in canonical JSON apart, and appends its body to dst, which is empty. Its parts are its members and those
// of its metadata, as in an outline. What the object doesn't say of its identity stays
// empty. kind and apiVersion go where they are those of r; others stay in the body.
func split(dst, object []byte, parts []rawjson.Part, r Resource) (body []byte, id identity, err *Error) {
	if !rawjson.IsObject(object) {
		return nil, id, fault("a JSON object", "object %.40q", object)
	}
	body = append(slices.Grow(dst, len(object)), bodyStart...)
	first := len(body)
	metadata := false // whether the parts are in it
	for i := range parts {
		p := &parts[i]
		if p.Depth == parts[0].Depth {
			if metadata = string(p.Name) == "metadata"; metadata && !rawjson.IsObject(p.Value) {
				return nil, id, fault("an object", "metadata %.40q", p.Value)
			}
			continue
		}
		if !metadata || p.Depth != parts[0].Depth+1 {
			continue
		}
		var into *string
		switch string(p.Name) {
		case "name":
			into = &id.name
		case "namespace":
			into = &id.namespace
		case "uid":
			into = &id.uid
		case "resourceVersion":
			into = &id.rv
		default:
			body = appendMember(body, first, p.Name, p.Value)
			continue
		}
		s, ok := rawjson.Unquote(p.Value)
		if !ok {
			return nil, id, fault("a string", "metadata.%s %.40q", p.Name, p.Value)
		}
		*into = s
	}
	body = append(body, '}')
	for i := range parts {
		p := &parts[i]
		if p.Depth != parts[0].Depth {
			continue
		}
		switch string(p.Name) {
		case "metadata":
			continue
		case "kind":
			if s, ok := rawjson.Unquote(p.Value); ok && s == r.Kind {
				continue
			}
			id.types = true
		case "apiVersion":
			if s, ok := rawjson.Unquote(p.Value); ok && s == r.APIVersion() {
				continue
			}
			id.types = true
		}
		body = appendMember(body, 0, p.Name, p.Value)
	}
	return append(body, '}'), id, nil
}

// appendMember appends a member; there is a comma before it unless the
// object's members start at first.
func appendMember(dst []byte, first int, name, value []byte) []byte {
	if len(dst) > first {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '"'), name...), '"', ':')
	return append(dst, value...)
}

// ownTypes tells which of kind and apiVersion a body has of its own.
func ownTypes(body []byte) (kind, apiVersion bool) {
	for c := rawjson.Object(body); ; {
		name, _, ok := c.Next()
		if !ok {
			return kind, apiVersion
		}
		kind = kind || string(name) == "kind"
		apiVersion = apiVersion || string(name) == "apiVersion"
	}
}

// opening is everything of a whole object up to the opening quote of its
// resourceVersion; the same for all of an object's states.
func opening(r Resource, id identity, body []byte) []byte {
	var kind, apiVersion bool
	if id.types {
		kind, apiVersion = ownTypes(body)
	}
	const names = len(`{"kind":"","apiVersion":"","metadata":{"name":"","namespace":"","uid":"","resourceVersion":`)
	b := make([]byte, 0, names+len(r.Kind)+len(r.Group)+1+len(r.Version)+len(id.name)+len(id.namespace)+len(id.uid))
	b = append(b, '{')
	if !kind {
		b = append(rawjson.AppendString(append(b, `"kind":`...), r.Kind), ',')
	}
	if !apiVersion {
		b = append(rawjson.AppendString(append(b, `"apiVersion":`...), r.APIVersion()), ',')
	}
	b = append(b, `"metadata":{"name":`...)
	b = rawjson.AppendString(b, id.name)
	if id.namespace != "" {
		b = rawjson.AppendString(append(b, `,"namespace":`...), id.namespace)
	}
	if id.uid != "" {
		b = rawjson.AppendString(append(b, `,"uid":`...), id.uid)
	}
	return append(b, `,"resourceVersion":`...)
}

// join puts a whole object together again. rest is the offset of what stands
// after the opening of the body's metadata.
func join(opening, body []byte, rv string) (whole []byte, rest int) {
	b := make([]byte, 0, len(opening)+len(rv)+len(body)+2)
	b = append(b, opening...)
	b = rawjson.AppendString(b, rv)
	if body[len(bodyStart)] != '}' {
		b = append(b, ',')
	}
	return append(b, body[len(bodyStart):]...), len(b)
}
