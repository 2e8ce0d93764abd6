package media

import (
	"bytes"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// appendWhole appends the object raw as a server shows it by itself: with its
// kind and apiVersion, which are added where the tape left them out.
func appendWhole(dst, raw []byte, r timeline.Resource) []byte {
	if !rawjson.IsObject(raw) {
		return append(dst, raw...)
	}
	missing := make([]byte, 0, 96)
	if rawjson.Get(raw, "kind") == nil {
		missing = append(missing, `"kind":`...)
		missing = append(rawjson.AppendString(missing, r.Kind), ',')
	}
	if rawjson.Get(raw, "apiVersion") == nil {
		missing = append(missing, `"apiVersion":`...)
		missing = append(rawjson.AppendString(missing, r.APIVersion()), ',')
	}
	if len(missing) == 0 {
		return append(dst, raw...)
	}
	dst = append(dst, '{')
	if _, _, ok := first(raw); !ok {
		return append(append(dst, missing[:len(missing)-1]...), '}')
	}
	return append(append(dst, missing...), raw[1:]...)
}

func first(raw []byte) (name, value []byte, ok bool) {
	c := rawjson.Object(raw)
	return c.Next()
}

// appendBare appends the object raw without its kind and apiVersion.
func appendBare(dst, raw []byte) []byte {
	if !rawjson.IsObject(raw) {
		return append(dst, raw...)
	}
	dst = append(dst, '{')
	empty := len(dst)
	c := rawjson.Object(raw)
	for cut := 0; cut < 2; {
		name, value, ok := c.Next()
		if !ok {
			return append(dst, '}')
		}
		if string(name) == "kind" || string(name) == "apiVersion" {
			cut++
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
		dst = append(dst, value...)
	}
	rest := raw[min(c.Offset(), len(raw)):]
	if len(rest) == 0 {
		return append(dst, '}')
	}
	if len(dst) > empty {
		dst = append(dst, ',')
	}
	return append(dst, rest...)
}

// appendType appends kind and apiVersion as the first members of an object.
func appendType(dst []byte, kind, apiVersion string) []byte {
	dst = rawjson.AppendString(append(dst, `{"kind":`...), kind)
	return rawjson.AppendString(append(dst, `,"apiVersion":`...), apiVersion)
}

// appendPartial appends the PartialObjectMetadata of the object raw.
func appendPartial(dst, raw []byte, version schema.GroupVersion) []byte {
	dst = appendType(dst, "PartialObjectMetadata", version.String())
	return append(append(append(dst, `,"metadata":`...), metadata(raw)...), '}')
}

func metadata(raw []byte) []byte {
	if m := rawjson.Get(raw, "metadata"); rawjson.IsObject(m) {
		return m
	}
	return []byte("{}")
}

// finish turns compact JSON into the text of a Form: with the line's end of the
// server's serializer, indented, or as YAML.
func finish(f Form, compact []byte) ([]byte, error) {
	switch {
	case f.encoding == asYAML:
		var out bytes.Buffer
		if err := toYAML.Encode(document(compact), &out); err != nil {
			return nil, fmt.Errorf("write an object as YAML: %w", err)
		}
		return out.Bytes(), nil
	case f.pretty:
		var out bytes.Buffer
		if err := json.Indent(&out, compact, "", "  "); err != nil {
			return nil, fmt.Errorf("indent an object: %w", err)
		}
		return out.Bytes(), nil
	}
	return append(compact, '\n'), nil
}

var toYAML = serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, nil, nil, serializer.SerializerOptions{Yaml: true})

// document hands JSON to apimachinery's serializers.
type document []byte

func (d document) MarshalJSON() ([]byte, error)     { return d, nil }
func (d document) GetObjectKind() schema.ObjectKind { return &metav1.TypeMeta{} }
func (d document) DeepCopyObject() runtime.Object   { return append(document(nil), d...) }
