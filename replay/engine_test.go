package replay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// wishes is an Engine: of every ConfigMap that a client writes, it makes a pod
// two seconds later, says three seconds after that in a patch that the pod runs,
// and deletes it when the ConfigMap has been gone for a second.
type wishes struct {
	header *timeline.Header
	now    time.Duration
	rv     int
	made   []timeline.Event
	todo   []todo
	closed bool
}

type todo struct {
	at time.Duration
	ev timeline.Event
}

func newWishes() *wishes {
	e := &wishes{header: &timeline.Header{Resources: []timeline.Resource{
		{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
		{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
	}}, rv: 10}
	for _, r := range e.header.Resources {
		e.made = append(e.made, timeline.Event{Type: timeline.Sync, Resource: r.Resource, RV: "10"})
	}
	return e
}

func (e *wishes) Header() *timeline.Header { return e.header }
func (e *wishes) Close() error             { e.closed = true; return nil }

func (e *wishes) Made() (ev timeline.Event, ok bool) {
	if len(e.made) == 0 {
		return ev, false
	}
	ev, e.made = e.made[0], e.made[1:]
	return ev, true
}

func (e *wishes) Due() (at time.Duration, ok bool) {
	if len(e.todo) == 0 {
		return 0, false
	}
	return e.todo[0].at, true
}

func (e *wishes) Advance(to time.Duration) error {
	for len(e.todo) > 0 && e.todo[0].at <= to {
		next := e.todo[0]
		e.todo = e.todo[1:]
		if next.ev.Type == "" {
			return errors.New("the engine is broken")
		}
		next.ev.At, next.ev.RV = next.at, e.version()
		e.made = append(e.made, next.ev)
	}
	e.now = to
	return nil
}

func (e *wishes) version() string { e.rv++; return strconv.Itoa(e.rv) }

// later has an event made, in the order of the moments.
func (e *wishes) later(d time.Duration, ev timeline.Event) {
	at := e.now + d
	i := len(e.todo)
	for i > 0 && e.todo[i-1].at > at {
		i--
	}
	e.todo = append(e.todo[:i], append([]todo{{at, ev}}, e.todo[i:]...)...)
}

func (e *wishes) Put(ev timeline.Event) (string, error) {
	if ev.At != e.now {
		return "", fmt.Errorf("written at %s, and it is %s", ev.At, e.now)
	}
	pod := timeline.Event{Type: timeline.Added, Resource: "pods", Namespace: ev.Namespace, Name: ev.Name}
	switch {
	case ev.Name == "broken":
		e.later(time.Second, timeline.Event{})
	case ev.Type == timeline.Added:
		pod.UID = "uid-" + ev.Name
		pod.Object = []byte(`{"metadata":{"name":"` + ev.Name + `"},"spec":{"containers":[]},"status":{"phase":"Pending"}}`)
		e.later(2*time.Second, pod)
		pod.Type, pod.Object, pod.Patch = timeline.Modified, nil, []byte(`{"status":{"phase":"Running"}}`)
		e.later(5*time.Second, pod)
	case ev.Type == timeline.Deleted:
		pod.Type = timeline.Deleted
		e.later(time.Second, pod)
	}
	return e.version(), nil
}

// play opens a player of wishes, and writes down what it is told.
func play(t *testing.T, opts ...replay.Option) (p *replay.Player, said *strings.Builder) {
	t.Helper()
	p, err := replay.NewEnginePlayer(newWishes(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	said = &strings.Builder{}
	p.Subscribe(func(n replay.Note) {
		if n.Kind == replay.Applied && n.Event.Type.Object() {
			fmt.Fprintf(said, "%s %s %s %s\n", n.Event.At, n.Event.Type, n.Event.Resource, n.Event.Name)
		}
	})
	return p, said
}

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func wish(name string) timeline.Event {
	return timeline.Event{
		Type: timeline.Added, Resource: "configmaps", Namespace: "default", Name: name,
		Object: []byte(`{"metadata":{"name":"` + name + `","namespace":"default"}}`),
	}
}

func put(t *testing.T, p *replay.Player, ev timeline.Event) *replay.Object {
	t.Helper()
	var o *replay.Object
	err := p.Transact(func(tx *replay.Tx) (err error) {
		o, err = tx.Put(ev)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// phase is the phase of a pod, "none" where there is no pod.
func phase(t *testing.T, p *replay.Player, name string) string {
	t.Helper()
	o, err := p.Cluster().Get(pods, "default", name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(o.Raw()), `"phase":"`)
	text, _, _ := strings.Cut(after, `"`)
	return text
}

// In a bubble, time passes as soon as everybody waits.
func TestAnEngineLivesByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, said := play(t)
		ended := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- p.Run(ctx) }()
		<-time.After(time.Second)
		o := put(t, p, wish("a"))
		if o.ResourceVersion() != "11" || !strings.Contains(string(o.Raw()), `"resourceVersion":"11"`) {
			t.Errorf("written: %s", o.Raw())
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if got := phase(t, p, "a"); got != "Pending" || p.Position() != 3*time.Second {
			t.Errorf("%s at %s, want Pending at 3s", got, p.Position())
		}
		<-time.After(time.Hour)
		synctest.Wait()
		if got := phase(t, p, "a"); got != "Running" {
			t.Errorf("%s, want Running", got)
		}
		gone := put(t, p, timeline.Event{Type: timeline.Deleted, Resource: "configmaps", Namespace: "default", Name: "a"})
		if gone.ResourceVersion() != "14" {
			t.Errorf("deleted: %s", gone.Raw())
		}
		<-time.After(time.Second)
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		want := `1s ADDED configmaps a
3s ADDED pods a
6s MODIFIED pods a
1h0m3s DELETED configmaps a
1h0m4s DELETED pods a
`
		if diff := cmp.Diff(want, said.String()); diff != "" {
			t.Error(diff)
		}
	})
}

// Without a clock, steps and seeks say how far it goes.
func TestAnEngineGoesStepByStep(t *testing.T) {
	p, said := play(t, replay.StartPaused())
	put(t, p, wish("a"))
	if at, ok, err := p.Upcoming(); at != 2*time.Second || !ok || err != nil {
		t.Error(at, ok, err)
	}
	if err := p.Step(); err != nil || phase(t, p, "a") != "Pending" {
		t.Error(err, phase(t, p, "a"))
	}
	if err := p.Seek(t.Context(), 4*time.Second); err != nil || p.Position() != 4*time.Second {
		t.Error(err, p.Position())
	}
	put(t, p, wish("b"))
	for range 3 {
		if err := p.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Step(); !errors.Is(err, io.EOF) {
		t.Errorf("%v at rest, want EOF", err)
	}
	put(t, p, wish("c"))
	if err := p.Seek(t.Context(), time.Minute); err != nil || phase(t, p, "c") != "Running" || p.Position() != time.Minute {
		t.Error(err, phase(t, p, "c"), p.Position())
	}
	want := `0s ADDED configmaps a
2s ADDED pods a
4s ADDED configmaps b
5s MODIFIED pods a
6s ADDED pods b
9s MODIFIED pods b
9s ADDED configmaps c
11s ADDED pods c
14s MODIFIED pods c
`
	if diff := cmp.Diff(want, said.String()); diff != "" {
		t.Error(diff)
	}
}

// A paused cluster takes writes; what follows from them waits.
func TestAPausedEngineTakesWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, said := play(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Run(ctx) }()
		<-time.After(time.Second)
		p.Pause()
		<-time.After(time.Hour)
		put(t, p, wish("a"))
		<-time.After(time.Hour)
		synctest.Wait()
		if got := phase(t, p, "a"); got != "none" || p.Position() != time.Second {
			t.Errorf("%s at %s", got, p.Position())
		}
		p.SetSpeed(replay.Max) // there is no such thing: as fast as can be
		p.Resume()
		<-time.After(time.Second)
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if got := phase(t, p, "a"); got != "Running" || p.Status().Speed == replay.Max {
			t.Errorf("%s at %s", got, p.Status().Speed)
		}
		if diff := cmp.Diff("1s ADDED configmaps a\n3s ADDED pods a\n6s MODIFIED pods a\n", said.String()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnEngineRefuses(t *testing.T) {
	for _, o := range []replay.Option{replay.Loop(), replay.IdleLimit(time.Second), replay.WithSpeed(replay.Max), replay.To(time.Hour)} {
		if _, err := replay.NewEnginePlayer(newWishes(), o); err == nil {
			t.Error("accepted")
		}
	}
	p, _ := play(t)
	put(t, p, wish("a"))
	var after *replay.Tx
	err := p.Transact(func(tx *replay.Tx) error {
		after = tx
		for _, ev := range []timeline.Event{
			wish("a"), // it is there
			{Type: timeline.Deleted, Resource: "configmaps", Namespace: "default", Name: "b"},
			{Type: timeline.Modified, Resource: "configmaps", Namespace: "default", Name: "a"},
			{Type: timeline.Added, Resource: "secrets", Namespace: "default", Name: "a", Object: []byte(`{}`)},
		} {
			var e *replay.EventError
			if _, err := tx.Put(ev); !errors.As(err, &e) {
				t.Errorf("%s %s: %v", ev.Type, ev.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := after.Put(wish("c")); err == nil {
		t.Error("a write after its moment")
	}
	if err := p.Seek(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
	if err := p.Seek(t.Context(), time.Minute); err == nil || p.Position() != time.Hour {
		t.Error("back in time", err, p.Position())
	}
	if err := p.Seek(t.Context(), replay.End); err == nil || p.Position() != time.Hour {
		t.Error("to the end of what has none", err, p.Position())
	}
	put(t, p, wish("broken"))
	if err := p.Step(); err == nil {
		t.Error("a broken engine goes on")
	}
	if err := p.Transact(func(*replay.Tx) error { return nil }); err == nil {
		t.Error("a broken engine takes writes")
	}
	tape, err := replay.NewPlayer(replay.Events(newWishes().header, nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := tape.Transact(func(*replay.Tx) error { return nil }); err == nil {
		t.Error("a tape was written to")
	}
}
