package replay

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/internal/testing/emptycluster"
	"github.com/nodesim/nodesim/timeline"
)

// written opens a Player of a cluster with ConfigMaps, of which it returns a way to write one.
func written(t *testing.T) (p *Player, write func(what timeline.Type, name, pad string) error) {
	t.Helper()
	h := &timeline.Header{Resources: []timeline.Resource{{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true}}}
	p, err := NewEnginePlayer(emptycluster.New(h, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	return p, func(what timeline.Type, name, pad string) (err error) {
		failed := p.Transact(func(tx *Tx) error {
			ev := timeline.Event{Type: what, Resource: "configmaps", Namespace: "shop", Name: name}
			if what != timeline.Deleted {
				ev.Object = fmt.Appendf(nil, `{"metadata":{"name":%q},"pad":%q}`, name, pad)
			}
			_, err = tx.Put(ev)
			return nil
		})
		if failed != nil {
			return failed
		}
		return err
	}
}

// A cluster has room for so many objects and bytes. What is deleted makes room, and what gets smaller needs none.
func TestAClusterCanBeFull(t *testing.T) {
	p, write := written(t)
	p.cluster.mostLiving, p.cluster.mostLivingBytes = 3, 1000
	want := func(err error, full bool) {
		t.Helper()
		if full && (err == nil || err.Error() != "etcdserver: mvcc: database space exceeded") || !full && err != nil {
			t.Errorf("%v: want full %t", err, full)
		}
	}
	long := strings.Repeat("x", 700)
	want(write(timeline.Added, "a", ""), false)
	want(write(timeline.Added, "b", ""), false)
	want(write(timeline.Added, "c", ""), false)
	want(write(timeline.Added, "d", ""), true)
	want(write(timeline.Deleted, "c", ""), false)
	want(write(timeline.Added, "d", long), false)
	want(write(timeline.Modified, "a", long), true)
	want(write(timeline.Modified, "d", long[:500]), false)
	want(write(timeline.Modified, "a", long[:100]), false)
	want(write(timeline.Deleted, "d", ""), false)
	want(write(timeline.Modified, "a", long), false)
	if n := len(p.cluster.kinds[0].objects); n != 2 || p.cluster.bytes < 700 || p.cluster.bytes > 1000 {
		t.Errorf("%d objects of %d bytes, want 2 of up to 1000", n, p.cluster.bytes)
	}
}

// A controller that answers to its own writes without end, and so never lets a bubble's time pass, is told what it writes, and so is
// who waits for the cluster.
func TestAControllerThatNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, write := written(t)
		ended := make(chan error)
		go func() { ended <- p.Run(context.Background()) }()
		synctest.Wait()
		<-time.After(time.Minute)
		err := write(timeline.Added, "web", "")
		for n := 0; err == nil; n++ {
			if n > 2*mostWrites {
				t.Fatal("it goes on")
			}
			err = write(timeline.Modified, "web", fmt.Sprint(n))
		}
		want := "at 60s clients have written 11001 times, configmaps shop/web alone 10001 times, and no time has passed: " +
			"want a controller that waits when there is nothing to change"
		if err.Error() != want {
			t.Errorf("%s\nwant\n%s", err, want)
		}
		if err := <-ended; err == nil || err.Error() != want {
			t.Errorf("Run: %v", err)
		}
	})
}

// A client may write much while no time passes anyway, and as much as it wants while time passes.
func TestManyWritesAreNoLoop(t *testing.T) {
	p, write := written(t)
	if err := write(timeline.Added, "web", ""); err != nil {
		t.Fatal(err)
	}
	for n := range 2 * mostWrites {
		if err := write(timeline.Modified, "web", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	p.running = true
	var w writes
	for n := range 3 * mostWrites {
		if err := w.endless(timeline.Event{At: time.Duration(n / mostWrites), Resource: "configmaps", Name: "web"}); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	for n := 0; err == nil && n <= mostWritesAll; n++ {
		err = w.endless(timeline.Event{At: time.Hour, Resource: "configmaps", Name: fmt.Sprint("web-", n%1000)})
	}
	if err == nil || !strings.Contains(err.Error(), "1000001 times") {
		t.Error(err)
	}
}
