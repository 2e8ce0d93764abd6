package media

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// What is made of the text is what is made of the Go object: of the objects of the tapes, nearly all of which need no Go
// object.
func TestEncodedTapes(t *testing.T) {
	objects, quick := 0, 0
	for _, tape := range tapes(t) {
		m := NewMaker(tape.resource, printed)
		for _, o := range tape.end.Items {
			objects++
			if sameMessage(t, m, o.Raw()) {
				quick++
			}
		}
	}
	if objects == 0 || quick < objects*9/10 {
		t.Errorf("%d of %d objects were made of their text", quick, objects)
	}
}

// The same of objects of every kind with anything in them.
func TestEncodedKinds(t *testing.T) {
	const rounds = 20
	all, quick := 0, 0
	for kind, typ := range types().AllKnownTypes() {
		if _, is := reflect.New(typ).Interface().(message); !is || kind.Version == runtime.APIVersionInternal {
			continue
		}
		m := NewMaker(timeline.Resource{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}, Options{})
		for seed := range uint64(rounds) {
			v := reflect.New(typ)
			fill(rand.New(rand.NewPCG(seed, 1)), v.Elem(), 12) //nolint:gosec // a test
			text, err := json.Marshal(v.Interface())
			if err != nil {
				t.Fatal(kind, err)
			}
			if text, err = rawjson.Compact(nil, text); err != nil {
				t.Fatal(kind, err)
			}
			all++
			if sameMessage(t, m, text) {
				quick++
			}
		}
	}
	if all == 0 || quick < all/2 {
		t.Errorf("%d of %d objects were made of their text", quick, all)
	}
}

// sameMessage compares both ways to a message, and reports whether an encoder has made one.
func sameMessage(t *testing.T, m *Maker, raw []byte) bool {
	t.Helper()
	p := m.plan()
	if p == nil {
		return false
	}
	got, ok := encoded(p, raw)
	if !ok {
		return false
	}
	want, err := m.decodedBody(raw)
	if err != nil {
		t.Fatalf("%s: %s has no message and got one: %v", m.kind, raw, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %s\nhas the message %q\nwant %q", m.kind, raw, got, want)
	}
	return true
}

// fill gives a value something, and leaves out much of it.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch to := v.Addr().Interface().(type) {
	case *metav1.Time:
		*to = metav1.Unix(r.Int64N(1<<32), 0)
		return
	case *metav1.MicroTime:
		to.Time = time.UnixMicro(r.Int64N(1 << 52))
		return
	case *resource.Quantity:
		*to = resource.MustParse(fmt.Sprint(r.IntN(9999)) + []string{"", "m", "Mi", "k"}[r.IntN(4)])
		return
	case *intstr.IntOrString:
		*to = []intstr.IntOrString{intstr.FromInt32(r.Int32()), intstr.FromString("20%")}[r.IntN(2)]
		return
	case json.Unmarshaler:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"", "web", "a \"b\"\n", "größe", "<&>\u2028"}[r.IntN(5)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Int32()) - 1<<30)
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && r.IntN(3) > 0 {
				fill(r, v.Field(i), depth-1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		for i := range v.Len() {
			fill(r, v.Index(i), depth-2)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range r.IntN(4) {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(r, value, depth-2)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint("k", i)).Convert(v.Type().Key()), value)
		}
	}
}

// What a decoder takes in a way of its own is left to it.
func TestNotEncoded(t *testing.T) {
	m := NewMaker(nodes, Options{})
	for _, raw := range []string{
		``, `{`, `[]`, `"x"`, `{"spec":"none"}`, `{"spec":{"unschedulable":1}}`, `{"kind":7}`, `{"spec":{"podCIDR":"a","podCIDR":"b"}}`,
		`{"spec":{"taints":[null]}}`, `{"metadata":{"labels":{"a":null}}}`, `{"metadata":{"labels":{"a":"1","a":"2"}}}`,
		`{"metadata":{"generation":1.5}}`, `{"metadata":{"creationTimestamp":"soon"}}`, `{"status":{"capacity":{"cpu":"much"}}}`,
		`{"m\u0065tadata":{}}`, "{\"metadata\":{\"name\":\"\xff\"}}",
	} {
		if _, ok := encoded(m.plan(), []byte(raw)); ok {
			t.Errorf("%s was made of its text", raw)
		}
	}
}

// Whatever JSON an object is, what is made of its text is what is made of the Go object.
func FuzzEncoded(f *testing.F) {
	makers := []*Maker{NewMaker(nodes, Options{}), NewMaker(pods, Options{})}
	for _, seed := range []string{
		`{"metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00.5+02:00","labels":{"b":"1","a":""},"finalizers":["x"]}}`,
		`{"spec":{"taints":[{"key":"a","timeAdded":null}],"unschedulable":true},"status":{"capacity":{"cpu":"1e3","memory":"0.5Gi"}}}`,
		`{"spec":{"containers":[{"ports":[{"containerPort":80}],"livenessProbe":{"httpGet":{"port":"http"}}}],"priority":-1}}`,
		`{"kind":"Pod","status":{"conditions":[{"lastProbeTime":null}],"podIPs":[{}]},"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		compact, err := rawjson.Compact(nil, raw)
		if err != nil {
			return
		}
		for _, m := range makers {
			sameMessage(t, m, compact)
		}
	})
}
