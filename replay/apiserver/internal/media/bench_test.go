package media

import (
	"bytes"
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nodesim/nodesim/replay"
)

// node is one of 3 KB.
func node(tb testing.TB) *replay.Object {
	tb.Helper()
	for _, tape := range tapes(tb) {
		if tape.resource == nodes {
			pad := strings.Repeat("x", 3000-len(tape.events[0].Object.Raw()))
			return tape.events[0].Object.With([]byte(`{"metadata":{"annotations":{"pad":"` + pad + `"}}}`))
		}
	}
	tb.Fatal("no nodes on the tapes")
	return nil
}

// A frame that another client has asked for before costs the others nothing.
func TestKeptFrameDoesntAllocate(t *testing.T) {
	for _, accept := range []string{"", protobufAccept, asTable, "application/json" + partialAccept} {
		m, f, ev := NewMaker(nodes, printed), form(t, nodes, Stream, accept, ""), replay.Event{Type: watch.Added, Object: node(t)}
		n := testing.AllocsPerRun(100, func() {
			if _, err := m.Frame(f, ev, false); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 {
			t.Errorf("%q: %v allocations", accept, n)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	for name, accept := range map[string]string{"json": "", "protobuf": protobufAccept, "table": asTable, "metadata": "application/json" + partialAccept} {
		m, f, o := NewMaker(nodes, printed), form(b, nodes, Stream, accept, ""), node(b)
		b.Run(name+"/first", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Frame(f, replay.Event{Type: watch.Added, Object: o.With([]byte(`{}`))}, false); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/again", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Frame(f, replay.Event{Type: watch.Added, Object: o}, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	m, ev := NewMaker(nodes, Options{}), replay.Event{Type: watch.Added, Object: node(b)}
	b.Run("json/made", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.frame(Form{}, ev, nil, false); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What a server does for a frame, by apimachinery: the object is decoded
// already, in a server by etcd's codec.
func BenchmarkApimachineryFrame(b *testing.B) {
	o, err := scheme.Scheme.New(kindOf(nodes))
	if err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(node(b).Raw(), o); err != nil {
		b.Fatal(err)
	}
	text := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, serializer.SerializerOptions{})
	for name, s := range map[string]struct{ object, event runtime.Encoder }{
		"json":     {text, text},
		"protobuf": {protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var inner, outer bytes.Buffer
			for b.Loop() {
				inner.Reset()
				outer.Reset()
				if err := s.object.Encode(o, &inner); err != nil {
					b.Fatal(err)
				}
				if err := s.event.Encode(&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: inner.Bytes()}}, &outer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A list of a thousand nodes of 3 KB.
func BenchmarkList(b *testing.B) {
	l := &replay.List{Resource: nodes, ResourceVersion: "1"}
	for range 1000 {
		l.Items = append(l.Items, node(b))
	}
	for name, accept := range map[string]string{"json": "", "protobuf": protobufAccept, "table": asTable, "metadata": "application/json" + partialsAccept} {
		m, f := NewMaker(nodes, printed), form(b, nodes, Collection, accept, "")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.List(f, l, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
