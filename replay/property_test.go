package replay

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/timeline"
)

// randomTape makes a tape of one resource with gaps, deletions, re-creations
// and objects that come late.
func randomTape(t testing.TB, r *rand.Rand, n int) []timeline.Event {
	lines, rv, alive, inGap, uid := "0 ADDED nodes a 5 uid=0\n0 SYNC nodes 10\n", 10, map[string]int{"a": 0}, false, 0
	var skipped []int // versions of other resources, or of objects out of scope
	for i := range n {
		rv += 2 + r.IntN(2)
		skipped = append(skipped, rv-1)
		name := string('a' + rune(r.IntN(6)))
		pool := []string{"pool=x", "pool=y"}[r.IntN(2)]
		id, living := alive[name]
		switch k := r.IntN(20); {
		case k == 0 && !inGap:
			lines += fmt.Sprintf("%d GAP nodes %d\n", i, rv)
			inGap = true
		case k <= 3 && inGap || k == 0:
			lines += fmt.Sprintf("%d SYNC nodes %d\n", i, rv)
			inGap = false
		case !living:
			uid++
			alive[name] = uid
			late := rv
			if k == 1 && !inGap {
				n := r.IntN(len(skipped))
				late = skipped[n]
				skipped = append(skipped[:n], skipped[n+1:]...)
			}
			lines += fmt.Sprintf("%d ADDED nodes %s %d uid=%d %s\n", i, name, late, uid, pool)
		case k < 10:
			delete(alive, name)
			v := fmt.Sprint(rv)
			if inGap {
				v = "-"
			}
			lines += fmt.Sprintf("%d DELETED nodes %s %s uid=%d %s\n", i, name, v, id, pool)
		default:
			lines += fmt.Sprintf("%d MODIFIED nodes %s %d uid=%d %s\n", i, name, rv, id, pool)
		}
	}
	return tape(t, lines)
}

// client is an informer in short: it lists, watches, and now and then loses
// its connection and watches on from the last version that it has seen.
type client struct {
	opts    metav1.ListOptions
	w       *Watch
	version string
	store   map[string]string // name → uid@version
	err     error
	relists int
}

func (c *client) list(cl *Cluster) {
	l, err := cl.List(nodes, "", c.opts)
	if err != nil {
		c.err = err
		return
	}
	c.relists++
	c.version, c.store = l.ResourceVersion, map[string]string{}
	for _, o := range l.Items {
		c.store[o.Name()] = fmt.Sprintf("%s@%s", o.UID(), o.ResourceVersion())
	}
}

func (c *client) connect(cl *Cluster) {
	opts := c.opts
	opts.ResourceVersion = c.version
	w, err := cl.Watch(nodes, "", opts)
	if apierrors.IsResourceExpired(err) {
		c.list(cl)
		opts.ResourceVersion = c.version
		w, err = cl.Watch(nodes, "", opts)
	}
	c.w, c.err = w, err
}

// read takes one event, and complains about what an informer would drop or
// couldn't explain.
func (c *client) read(cl *Cluster) bool {
	pending := c.w.Pending()
	ev, err := c.w.TryNext()
	if pending != (err == nil) {
		c.err = fmt.Errorf("pending %t, and then %w", pending, err)
	}
	if err != nil {
		return false
	}
	if ev.Type == watch.Error {
		c.list(cl)
		c.connect(cl)
		return c.err == nil
	}
	c.version = ev.Object.ResourceVersion()
	name := ev.Object.Name()
	_, known := c.store[name]
	switch ev.Type {
	case watch.Bookmark:
		return true
	case watch.Deleted:
		delete(c.store, name)
	default:
		c.store[name] = fmt.Sprintf("%s@%s", ev.Object.UID(), c.version)
	}
	if known == (ev.Type == watch.Added) {
		c.err = fmt.Errorf("%s of %s@%s, which is known: %t", ev.Type, name, c.version, known)
	}
	return c.err == nil
}

// Whenever a client lists, watches, breaks off and watches on, it ends with
// what is there, having seen nothing twice, whatever the tape does.
func TestListAndWatchMissesNothingRepeatsNothing(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := NewCluster(header(), History(50+r.IntN(400)))
		clients := []*client{
			{}, {opts: metav1.ListOptions{LabelSelector: "pool=x"}},
			{opts: metav1.ListOptions{AllowWatchBookmarks: true}}, {opts: metav1.ListOptions{FieldSelector: "metadata.name!=a"}},
		}
		for _, ev := range randomTape(t, r, 300) {
			if _, err := c.Apply(ev); err != nil {
				t.Fatal(err)
			}
			for _, cl := range clients {
				switch k := r.IntN(12); {
				case cl.w == nil:
					cl.list(c)
					cl.connect(c)
				case k == 0:
					cl.w.Stop()
					cl.connect(c)
				case k < 6:
					for cl.read(c) && r.IntN(4) > 0 {
					}
				}
				if cl.err != nil {
					t.Fatalf("seed %d at %s: %v", seed, ev.At, cl.err)
				}
			}
		}
		for _, cl := range clients {
			for cl.read(c) {
			}
			want := &client{opts: cl.opts}
			want.list(c)
			if cl.err != nil || !maps.Equal(cl.store, want.store) {
				t.Fatalf("seed %d, %+v: %v\n got %v\nwant %v", seed, cl.opts, cl.err, cl.store, want.store)
			}
		}
	}
}

// A list at an exact version is the state that was there then.
func TestPastIsWhatItWas(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	c := NewCluster(header())
	then := map[string]string{}
	for _, ev := range randomTape(t, r, 500) {
		if _, err := c.Apply(ev); err != nil {
			t.Fatal(err)
		}
		l, err := c.List(nodes, "", metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if l.ResourceVersion != origin {
			then[l.ResourceVersion] = showList(l)
		}
	}
	for v, want := range then {
		equal(t, "at "+v, list(t, c, nodes, "", metav1.ListOptions{ResourceVersion: v, ResourceVersionMatch: "Exact"}), want)
	}
}

// Many watchers at once, some slow, some leaving: all that stay see the same.
func TestWatchersAtOnce(t *testing.T) {
	c := NewCluster(header(), History(10))
	apply(t, c, start)
	ctx := context.Background()
	const n = 2000
	var all sync.WaitGroup
	seen := make([]string, 8)
	for i := range seen {
		w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "50"})
		all.Go(func() {
			var s strings.Builder
			for k := range n {
				if i%2 == 1 && k == n/2 {
					w.Stop()
				}
				ev, err := w.Next(ctx)
				if err != nil {
					break
				}
				s.WriteString(ev.Object.ResourceVersion() + " ")
			}
			seen[i] = s.String()
		})
	}
	for i := range n {
		apply(t, c, fmt.Sprintf("1 MODIFIED nodes a %d", 100+i))
		if i%500 == 0 {
			if _, err := c.List(nodes, "", metav1.ListOptions{}); err != nil {
				t.Error(err)
			}
			c.Watches()
		}
	}
	all.Wait()
	for i := range seen {
		want := seen[i%2]
		if i%2 == 0 && len(strings.Fields(want)) != n || seen[i] != want {
			t.Errorf("watcher %d saw %d events, the first of its kind %d", i, len(strings.Fields(seen[i])), len(strings.Fields(want)))
		}
	}
}

func TestWaitDelivered(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	ctx, cancel := context.WithCancel(context.Background())
	var mine, others []string
	var all sync.WaitGroup
	for _, out := range []*[]string{&mine, &others} {
		w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "50"})
		all.Go(func() {
			for {
				ev, err := w.Next(ctx)
				if err != nil {
					return
				}
				*out = append(*out, ev.Object.ResourceVersion()) // read below without a lock
			}
		})
	}
	for i := range 200 {
		apply(t, c, fmt.Sprintf("1 MODIFIED nodes a %d", 100+i))
		if err := c.WaitDelivered(ctx); err != nil {
			t.Fatal(err)
		}
		if len(mine) != i+1 || len(others) != i+1 {
			t.Fatalf("after %d events: %d and %d delivered", i+1, len(mine), len(others))
		}
	}
	cancel()
	all.Wait()
	w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "50"})
	_ = w // never read
	if err := c.WaitDelivered(ctx); err == nil {
		t.Error("a watch that isn't read counts as delivered")
	}
}

func TestMaxLag(t *testing.T) {
	c := NewCluster(header(), MaxLag(300), History(10))
	apply(t, c, start)
	slow := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "50"})
	quick := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "50"})
	for i := range 1000 {
		apply(t, c, fmt.Sprintf("1 MODIFIED nodes a %d", 100+i))
		show(t, quick)
	}
	equal(t, "slow", show(t, slow), "ERROR 410 Expired EOF")
	equal(t, "history", show(t, open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "1098"})), "MODIFIED a@1099")
	if _, err := c.Watch(nodes, "", metav1.ListOptions{ResourceVersion: "200"}); !apierrors.IsResourceExpired(err) {
		t.Errorf("beyond the history: %v", err)
	}
}
