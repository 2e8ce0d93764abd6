package media

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

const (
	protobufAccept = "application/vnd.kubernetes.protobuf"
	partialAccept  = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	partialsAccept = ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	partialsBeta   = ";as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io"
)

func encode(t *testing.T, e runtime.Encoder, o runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.Encode(o, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// typedOf decodes an object of the tape into client-go's type.
func typedOf(t *testing.T, r timeline.Resource, o *replay.Object) runtime.Object {
	t.Helper()
	kind := kindOf(r)
	out, _, err := scheme.Codecs.UniversalDeserializer().Decode(o.Raw(), &kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	out.GetObjectKind().SetGroupVersionKind(kind)
	return out
}

// partialOf returns what the server makes of the object, by its own function.
func partialOf(t *testing.T, o runtime.Object, version schema.GroupVersion) *metav1.PartialObjectMetadata {
	t.Helper()
	m, err := meta.Accessor(o)
	if err != nil {
		t.Fatal(err)
	}
	p := meta.AsPartialObjectMetadata(m)
	p.SetGroupVersionKind(version.WithKind("PartialObjectMetadata"))
	return p
}

func listOf(t *testing.T, l *replay.List) runtime.Object {
	t.Helper()
	kind := kindOf(l.Resource)
	kind.Kind += "List"
	out, err := scheme.Scheme.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	items := []runtime.Object{}
	for _, o := range l.Items {
		items = append(items, typedOf(t, l.Resource, o))
	}
	if err := meta.SetList(out, items); err != nil {
		t.Fatal(err)
	}
	out.GetObjectKind().SetGroupVersionKind(kind)
	out.(metav1.ListInterface).SetResourceVersion(l.ResourceVersion)
	out.(metav1.ListInterface).SetContinue(l.Continue)
	out.(metav1.ListInterface).SetRemainingItemCount(l.Remaining)
	return out
}

// Protobuf equals what apimachinery's serializers write, byte for byte: objects,
// lists and frames, whole and as metadata.
func TestProtobufAgainstApimachinery(t *testing.T) {
	s := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	stream := protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme)
	for _, tape := range tapes(t) {
		r := tape.resource
		t.Run(tape.tape+"/"+r.Resource, func(t *testing.T) {
			m := NewMaker(r, Options{})
			f, fp := form(t, r, Stream, protobufAccept, ""), form(t, r, Stream, protobufAccept+partialAccept, "")
			for _, ev := range tape.events {
				o := typedOf(t, r, ev.Object)
				p := partialOf(t, o, metav1.SchemeGroupVersion)
				for f, o := range map[Form]runtime.Object{f: o, fp: p} {
					want := encode(t, s, o)
					got, err := m.Object(f, ev.Object)
					if err != nil {
						t.Fatal(err)
					}
					equal(t, got, want)
					var frame bytes.Buffer
					w := protobuf.LengthDelimitedFramer.NewFrameWriter(&frame)
					event := &metav1.WatchEvent{Type: string(ev.Type), Object: runtime.RawExtension{Raw: want}}
					if err := stream.Encode(event, w); err != nil {
						t.Fatal(err)
					}
					if got, err = m.Frame(f, ev, false); err != nil {
						t.Fatal(err)
					}
					equal(t, got, frame.Bytes())
				}
			}
			remaining := int64(12)
			page := *tape.end
			page.Continue, page.Remaining = "next", &remaining
			for _, l := range []*replay.List{tape.begin, tape.end, &page, {Resource: r, ResourceVersion: "3"}} {
				equal(t, []byte(write(t, m, form(t, r, Collection, protobufAccept, ""), l)), encode(t, s, listOf(t, l)))
				v1, beta := partialsOf(t, l)
				equal(t, []byte(write(t, m, form(t, r, Collection, protobufAccept+partialsAccept, ""), l)), encode(t, s, v1))
				equal(t, []byte(write(t, m, form(t, r, Collection, protobufAccept+partialsBeta, ""), l)), encode(t, s, beta))
			}
		})
	}
}

func equal(t *testing.T, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
}

// partialsOf is asPartialObjectMetadataList of
// k8s.io/apiserver/pkg/endpoints/handlers/response.go.
func partialsOf(t *testing.T, l *replay.List) (*metav1.PartialObjectMetadataList, *metav1beta1.PartialObjectMetadataList) {
	t.Helper()
	v1 := &metav1.PartialObjectMetadataList{ListMeta: *listMeta(l)}
	v1.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
	beta := &metav1beta1.PartialObjectMetadataList{ListMeta: *listMeta(l)}
	beta.SetGroupVersionKind(metav1beta1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
	for _, o := range l.Items {
		typed := typedOf(t, l.Resource, o)
		v1.Items = append(v1.Items, *partialOf(t, typed, metav1.SchemeGroupVersion))
		beta.Items = append(beta.Items, *partialOf(t, typed, metav1beta1.SchemeGroupVersion))
	}
	return v1, beta
}

// Every list of the scheme has the fields that lists are written with.
func TestProtobufListsOfEveryKind(t *testing.T) {
	tried := 0
	for kind := range types().AllKnownTypes() {
		list := kind.GroupVersion().WithKind(kind.Kind + "List")
		o, err := types().New(kind)
		if err != nil {
			t.Fatal(err)
		}
		if _, isObject := o.(metav1.Object); !isObject || !types().Recognizes(list) {
			continue
		}
		tried++
		r := timeline.Resource{Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Resource: "any"}
		l := &replay.List{Resource: r, ResourceVersion: "7", Items: []*replay.Object{object(`{"metadata":{"name":"a"}}`), object(`{"metadata":{"name":"b"}}`)}}
		got := write(t, NewMaker(r, Options{}), form(t, r, Collection, protobufAccept, ""), l)
		out, actual, err := protobuf.NewSerializer(types(), types()).Decode([]byte(got), nil, nil)
		if err != nil || *actual != list {
			t.Errorf("%s: %v, decoded as %s", list, err, actual)
			continue
		}
		items, err := meta.ExtractList(out)
		if err != nil || len(items) != 2 || out.(metav1.ListInterface).GetResourceVersion() != "7" {
			t.Errorf("%s: %v, %d items", list, err, len(items))
			continue
		}
		if m, err := meta.Accessor(items[1]); err != nil || m.GetName() != "b" {
			t.Errorf("%s: %v, %v", list, err, items[1])
		}
	}
	if tried < 50 {
		t.Errorf("%d kinds with a list in client-go's scheme", tried)
	}
}

// JSON, pretty JSON and YAML say what apimachinery's serializers say; the
// latter two in the same bytes, once the members are in the same order.
func TestTextAgainstApimachinery(t *testing.T) {
	yaml := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, nil, nil, serializer.SerializerOptions{Yaml: true})
	for _, tape := range tapes(t) {
		r := tape.resource
		t.Run(tape.tape+"/"+r.Resource, func(t *testing.T) {
			m := NewMaker(r, Options{})
			for _, ev := range tape.events {
				u := new(unstructured.Unstructured)
				if err := u.UnmarshalJSON(ev.Object.Raw()); err != nil {
					t.Fatal(err)
				}
				for query, f := range map[string]Form{"": form(t, r, Single, "", ""), "pretty": form(t, r, Single, "", "pretty=1")} {
					got, err := m.Object(f, ev.Object)
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(parse(t, got), u.Object) {
						t.Fatalf("%s: got %s", query, got)
					}
				}
				got, err := m.Object(form(t, r, Single, "application/yaml", ""), ev.Object)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, got, encode(t, yaml, u))
			}
		})
	}
}

// Lists and metadata in JSON say what those of the Go types say.
func TestListsAgainstApimachinery(t *testing.T) {
	s := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, serializer.SerializerOptions{})
	for _, tape := range tapes(t) {
		r := tape.resource
		t.Run(tape.tape+"/"+r.Resource, func(t *testing.T) {
			m := NewMaker(r, Options{})
			for _, l := range []*replay.List{tape.begin, tape.end} {
				want := listOf(t, l)
				got, _, err := s.Decode([]byte(write(t, m, form(t, r, Collection, "", ""), l)), nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				withoutKinds(t, want)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("got %v\nwant %v", got, want)
				}
				v1, beta := partialsOf(t, l)
				for accept, want := range map[string]runtime.Object{partialsAccept: v1, partialsBeta: beta} {
					got := write(t, m, form(t, r, Collection, "application/json"+accept, ""), l)
					again, _, err := s.Decode([]byte(got), nil, want.DeepCopyObject())
					if err != nil {
						t.Fatal(err)
					}
					equal(t, encode(t, s, again), encode(t, s, want))
				}
			}
		})
	}
}

// withoutKinds drops the kinds of a list's items: in JSON they have none.
func withoutKinds(t *testing.T, list runtime.Object) {
	t.Helper()
	err := meta.EachListItem(list, func(o runtime.Object) error {
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, text []byte) any {
	t.Helper()
	u := new(unstructured.Unstructured)
	if err := json.Unmarshal(text, &u.Object); err != nil {
		t.Fatal(err)
	}
	return normal(u.Object)
}

// normal turns whole numbers into integers, as unstructured objects have them.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}
