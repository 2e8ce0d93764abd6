package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"gopkg.in/yaml.v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// protobufMagic begins an object in protobuf (k8s.io/apimachinery, pkg/runtime/serializer/protobuf).
var protobufMagic = []byte("k8s\x00")

// decode makes plain values of a body, by its Content-Type.
func decode(form string, content []byte, stream bool) ([]any, error) {
	kind, _, err := mime.ParseMediaType(form)
	if err != nil {
		kind = form // compared as text
	}
	switch {
	case len(content) == 0:
		return nil, nil
	case kind == "application/json":
		return values(json.NewDecoder(bytes.NewReader(content)))
	case kind == "application/yaml":
		var v any
		if err := yaml.Unmarshal(content, &v); err != nil {
			return nil, err
		}
		return plain(v)
	case strings.HasPrefix(kind, "application/vnd.kubernetes.protobuf"):
		if stream {
			return frames(content)
		}
		v, err := fromProtobuf(content)
		return []any{v}, err
	}
	return []any{string(content)}, nil
}

func values(d *json.Decoder) (all []any, err error) {
	for {
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

// plain gives a value the types that JSON decodes to.
func plain(v any) ([]any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return values(json.NewDecoder(bytes.NewReader(b)))
}

// frames decodes a watch in protobuf: each event after its length in four bytes.
func frames(content []byte) (all []any, err error) {
	for len(content) > 0 {
		if len(content) < 4 || uint32(len(content)-4) < binary.BigEndian.Uint32(content) {
			return nil, fmt.Errorf("found %d bytes after event %d, want a length and so many bytes", len(content), len(all))
		}
		n := 4 + int(binary.BigEndian.Uint32(content))
		var unknown runtime.Unknown
		var event metav1.WatchEvent
		frame := content[4:n]
		if bytes.HasPrefix(frame, protobufMagic) {
			if err := unknown.Unmarshal(frame[len(protobufMagic):]); err != nil {
				return nil, err
			}
			frame = unknown.Raw
		}
		if err := event.Unmarshal(frame); err != nil {
			return nil, err
		}
		object, err := fromProtobuf(event.Object.Raw)
		if err != nil {
			return nil, err
		}
		all = append(all, map[string]any{"type": event.Type, "object": object})
		content = content[n:]
	}
	return all, nil
}

// fromProtobuf decodes an object that client-go knows. Of another, which only its own group's packages know, the kind
// is compared.
func fromProtobuf(content []byte) (any, error) {
	if v, err := untyped(content); v != nil || err != nil {
		return v, err
	}
	o, kind, err := scheme.Codecs.UniversalDeserializer().Decode(content, nil, nil)
	switch {
	case runtime.IsNotRegisteredError(err) && kind != nil:
		return map[string]any{"kind": kind.Kind, "apiVersion": kind.GroupVersion().String()}, nil
	case err != nil:
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(*kind)
	v, err := plain(o)
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// untyped decodes those of discovery, which kube-apiserver sends without an apiVersion; nil for any other.
func untyped(content []byte) (any, error) {
	var unknown runtime.Unknown
	if !bytes.HasPrefix(content, protobufMagic) {
		return nil, nil
	}
	if err := unknown.Unmarshal(content[len(protobufMagic):]); err != nil || unknown.APIVersion != "" {
		return nil, err
	}
	var o interface{ Unmarshal([]byte) error }
	switch unknown.Kind {
	case "APIVersions":
		o = &metav1.APIVersions{}
	case "APIGroupList":
		o = &metav1.APIGroupList{}
	case "APIGroup":
		o = &metav1.APIGroup{}
	case "APIResourceList":
		o = &metav1.APIResourceList{}
	default:
		return nil, nil
	}
	if err := o.Unmarshal(unknown.Raw); err != nil {
		return nil, err
	}
	v, err := plain(o)
	if err != nil {
		return nil, err
	}
	return v[0], nil
}
