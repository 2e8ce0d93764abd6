package media

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	metaclient "k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/replay"
)

// wire answers a client's requests about one resource, without a socket: with
// its list, its first object, or its events and an error after them.
type wire struct {
	taped
	maker *Maker
	types map[string]bool // Content-Types that were answered
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	f, err := w.answer(rec, req)
	if err != nil {
		f = ForStatus(req)
		s := apierrors.NewInternalError(err).ErrStatus
		if known := apierrors.APIStatus(nil); errors.As(err, &known) {
			s = known.Status()
		}
		rec.Code = int(s.Code)
		rec.Body = bytes.NewBuffer(Status(f, &s))
	}
	r := rec.Result()
	r.Header.Set("Content-Type", f.ContentType())
	w.types[f.ContentType()] = true
	return r, nil
}

var gone = apierrors.NewResourceExpired("too old").ErrStatus

func (w *wire) answer(out *httptest.ResponseRecorder, req *http.Request) (Form, error) {
	switch {
	case req.URL.Query().Get("watch") != "":
		f, err := Negotiate(req, w.resource, Stream)
		if err != nil {
			return f, err
		}
		for i, ev := range append(w.events[:len(w.events):len(w.events)], replay.Event{Type: watch.Error, Status: &gone}) {
			frame, err := w.maker.Frame(f, ev, i == 0)
			if err != nil {
				return f, err
			}
			out.Body.Write(frame)
		}
		return f, nil
	case strings.HasSuffix(req.URL.Path, "/"+w.resource.Resource):
		f, err := Negotiate(req, w.resource, Collection)
		if err != nil {
			return f, err
		}
		return f, w.maker.List(f, w.end, out.Body)
	}
	f, err := Negotiate(req, w.resource, Single)
	if err != nil {
		return f, err
	}
	if !strings.HasSuffix(req.URL.Path, "/"+w.events[0].Object.Name()) {
		return f, apierrors.NewNotFound(gvr(w.resource).GroupResource(), "other")
	}
	got, err := w.maker.Object(f, w.events[0].Object)
	out.Body.Write(got)
	return f, err
}

// eachResource runs a test for each resource of the tapes that has events.
func eachResource(t *testing.T, test func(t *testing.T, w *wire, c *rest.Config)) {
	for _, tape := range tapes(t) {
		if len(tape.events) == 0 {
			continue
		}
		t.Run(tape.tape+"/"+tape.resource.Resource, func(t *testing.T) {
			w := &wire{taped: tape, maker: NewMaker(tape.resource, printed), types: map[string]bool{}}
			test(t, w, &rest.Config{Host: "https://wire", Transport: w, QPS: -1})
		})
	}
}

// follow reads a watch to its end, which is the error.
func follow(t *testing.T, events []replay.Event, w watch.Interface, err error, same func(got runtime.Object, want *replay.Object)) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	i := 0
	for ev := range w.ResultChan() {
		if i == len(events) {
			s, ok := ev.Object.(*metav1.Status)
			if ev.Type != watch.Error || !ok || s.Reason != gone.Reason || s.Code != gone.Code {
				t.Fatalf("got %s %v, want the error", ev.Type, ev.Object)
			}
			i++
			continue
		}
		if i > len(events) {
			t.Fatalf("%s after the error", ev.Type)
		}
		if ev.Type != events[i].Type {
			t.Fatalf("event %d is %s, want %s", i, ev.Type, events[i].Type)
		}
		same(ev.Object, events[i].Object)
		i++
	}
	if i != len(events)+1 {
		t.Fatalf("%d of %d events arrived", i, len(events)+1)
	}
}

// A typed client reads what is on the tape, as protobuf and as JSON.
func TestTypedClient(t *testing.T) {
	for _, accept := range []string{clientGo, "application/json"} {
		eachResource(t, func(t *testing.T, w *wire, c *rest.Config) {
			c.AcceptContentTypes = accept
			k, err := kubernetes.NewForConfig(c)
			if err != nil {
				t.Fatal(err)
			}
			r, ctx := w.resource, context.Background()
			client := clientFor(k, r.Group)
			same := func(got runtime.Object, want *replay.Object) {
				t.Helper()
				o := typedOf(t, r, want)
				setKind(o, got)
				if !equality.Semantic.DeepEqual(got, o) {
					t.Fatalf("got %v\nwant %v", got, o)
				}
			}
			get, err := client.Get().Resource(r.Resource).Name(w.events[0].Object.Name()).Do(ctx).Get()
			if err != nil {
				t.Fatal(err)
			}
			same(get, w.events[0].Object)
			list, err := client.Get().Resource(r.Resource).Do(ctx).Get()
			if err != nil {
				t.Fatal(err)
			}
			items, err := meta.ExtractList(list)
			if err != nil || len(items) != len(w.end.Items) || list.(metav1.ListInterface).GetResourceVersion() != w.end.ResourceVersion {
				t.Fatalf("%v: %d items of %d", err, len(items), len(w.end.Items))
			}
			for i, o := range items {
				same(o, w.end.Items[i])
			}
			stream, err := client.Get().Resource(r.Resource).Param("watch", "1").Watch(ctx)
			follow(t, w.events, stream, err, func(got runtime.Object, want *replay.Object) { bookmarkOr(t, got, want, same) })
			_, err = client.Get().Resource(r.Resource).Name("other").Do(ctx).Get()
			if !apierrors.IsNotFound(err) {
				t.Errorf("got %v, want a 404", err)
			}
			if want := strings.Split(accept, ",")[0]; !w.types[want] {
				t.Errorf("answered in %v, want %s", w.types, want)
			}
		})
	}
}

func clientFor(k kubernetes.Interface, group string) rest.Interface {
	switch group {
	case "policy":
		return k.PolicyV1().RESTClient()
	case "apps":
		return k.AppsV1().RESTClient()
	}
	return k.CoreV1().RESTClient()
}

// setKind gives an object the kind of another: whether a decoder leaves it in
// is the decoder's business.
func setKind(to, from runtime.Object) {
	to.GetObjectKind().SetGroupVersionKind(from.GetObjectKind().GroupVersionKind())
}

// bookmarkOr compares a bookmark by what it says, and anything else whole.
func bookmarkOr(t *testing.T, got runtime.Object, want *replay.Object, same func(runtime.Object, *replay.Object)) {
	t.Helper()
	if want.Name() != "" {
		same(got, want)
		return
	}
	m, err := meta.Accessor(got)
	if err != nil || m.GetResourceVersion() != want.ResourceVersion() || m.GetName() != "" {
		t.Fatalf("%v: bookmark %v, want version %s", err, got, want.ResourceVersion())
	}
}

// reader holds what the dynamic and the metadata client have in common.
type reader[O, L runtime.Object] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions, subresources ...string) (O, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// readAll gets, lists and watches, and checks each object against the tape's.
func readAll[O, L runtime.Object](t *testing.T, w *wire, client reader[O, L], same func(runtime.Object, *replay.Object)) {
	t.Helper()
	get, err := client.Get(t.Context(), w.events[0].Object.Name(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same(get, w.events[0].Object)
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	items, err := meta.ExtractList(list)
	if err != nil || len(items) != len(w.end.Items) {
		t.Fatalf("%v: %d items of %d", err, len(items), len(w.end.Items))
	}
	for i, o := range items {
		same(o, w.end.Items[i])
	}
	stream, err := client.Watch(t.Context(), metav1.ListOptions{})
	follow(t, w.events, stream, err, func(got runtime.Object, want *replay.Object) { bookmarkOr(t, got, want, same) })
}

// A dynamic client reads the tape's objects with all that they hold.
func TestDynamicClient(t *testing.T) {
	eachResource(t, func(t *testing.T, w *wire, c *rest.Config) {
		k, err := dynamic.NewForConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		client := k.Resource(gvr(w.resource))
		same := func(got runtime.Object, want *replay.Object) {
			t.Helper()
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(parse(t, text), parse(t, want.Raw())) {
				t.Fatalf("got %s\nwant %s", text, want.Raw())
			}
		}
		readAll(t, w, client, same)
	})
}

// A metadata client reads what is in metadata.
func TestMetadataClient(t *testing.T) {
	eachResource(t, func(t *testing.T, w *wire, c *rest.Config) {
		k, err := metaclient.NewForConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		client := k.Resource(gvr(w.resource))
		same := func(got runtime.Object, want *replay.Object) {
			t.Helper()
			p := partialOf(t, typedOf(t, w.resource, want), metav1.SchemeGroupVersion)
			setKind(p, got)
			// The tape may write out what is empty.
			a, err := got.(*metav1.PartialObjectMetadata).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			b, err := p.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			equal(t, a, b)
		}
		readAll(t, w, client, same)
	})
}
