package replay

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// large is a tape of one node that changes n times, each state of so many bytes.
func large(n, bytes int) []timeline.Event {
	events := make([]timeline.Event, n)
	for i := range events {
		rv := fmt.Sprint(100 + i)
		events[i] = timeline.Event{
			At: time.Duration(i) * time.Second, Type: timeline.Modified, Resource: "nodes", Name: "a", UID: "u", RV: rv,
			Object: fmt.Appendf(nil, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"%s"},"spec":{"pad":"%s"}}`, rv, strings.Repeat("x", bytes)),
		}
	}
	events[0].Type = timeline.Added
	return events
}

// The history of large objects is shorter: older versions are 410, as they are once
// there are too many, and open watches and newer versions miss nothing.
func TestHistoryIsBoundedInBytes(t *testing.T) {
	const n, size = 2000, 4 << 10
	c := NewCluster(header(), func(c *Cluster) { c.mostBytes = 2 << 20 })
	events := large(n, size)
	take := func(events []timeline.Event) {
		t.Helper()
		for _, ev := range events {
			if _, err := c.Apply(ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	take(events[:1])
	c.Settle()
	begun := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "100"})
	take(events[1:])
	held := 0
	for _, chunk := range c.kinds[0].log.chunks {
		held += chunk.bytes
	}
	if held > c.mostBytes+chunkSize*(size+200) || held != c.kinds[0].log.bytes {
		t.Errorf("%d bytes are held, counted as %d, want about %d", held, c.kinds[0].log.bytes, c.mostBytes)
	}
	if _, err := c.Watch(nodes, "", metav1.ListOptions{ResourceVersion: "100"}); !apierrors.IsResourceExpired(err) {
		t.Errorf("a watch from the first version: %v, want 410", err)
	}
	read := func(w *Watch, from int) {
		t.Helper()
		for v := from; v < 100+n; v++ {
			ev, err := w.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "version", ev.Object.ResourceVersion(), fmt.Sprint(v))
		}
	}
	read(begun, 101)
	from := 100 + n - 300
	read(open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: fmt.Sprint(from)}), from+1)
}

// Keyframes of large states are fewer, and what is gone back to is the same.
func TestKeyframesAreBoundedInBytes(t *testing.T) {
	p, err := NewPlayer(Events(header(), large(60, 3<<20)))
	if err != nil {
		t.Fatal(err)
	}
	p.every = 1
	ctx := context.Background()
	if err := p.Seek(ctx, End); err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, f := range p.frames {
		held += f.state.bytes
	}
	if held == 0 || held > maxKeyframeBytes {
		t.Errorf("keyframes hold %d bytes, want some and at most %d", held, maxKeyframeBytes)
	}
	for _, at := range []int{50, 3, 31, 0} {
		if err := p.Seek(ctx, time.Duration(at)*time.Second); err != nil {
			t.Fatal(err)
		}
		o, err := p.Cluster().Get(nodes, "", "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "version", recorded(o.ResourceVersion(), p.cluster.base), fmt.Sprint(100+at))
	}
}

// A watch that waits is woken once the cluster no longer holds its news, and then
// has all of it; a reader before sees it too.
func TestHeldNewsIsReleased(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "50"})
	news := w.kind.coming()
	c.hold()
	apply(t, c, "1 MODIFIED nodes a 60\n1 MODIFIED nodes a 61")
	select {
	case <-news:
		t.Error("the watch was woken while news was held")
	default:
	}
	if !w.Pending() {
		t.Error("a reader sees nothing")
	}
	c.release()
	select {
	case <-news:
	default:
		t.Error("the watch was not woken")
	}
	for _, want := range []string{"60", "61"} {
		ev, err := w.TryNext()
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "version", ev.Object.ResourceVersion(), want)
	}
}
