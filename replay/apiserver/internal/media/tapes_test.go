package media

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// taped holds what a resource of a tape shows: a list at its beginning, one at its
// end, and everything in between.
type taped struct {
	tape       string
	resource   timeline.Resource
	begin, end *replay.List
	events     []replay.Event
}

// tapes reads the examples.
func tapes(t testing.TB) []taped {
	t.Helper()
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no tape in examples/")
	}
	return all
}

var read = sync.OnceValues(func() (all []taped, err error) {
	files, err := filepath.Glob("../../../../examples/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		p, err := replay.NewPlayer(replay.File(file))
		if err != nil {
			return nil, err
		}
		got, err := play(filepath.Base(file), p)
		_ = p.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, got...)
	}
	return all, nil
})

func play(tape string, p *replay.Player) (all []taped, err error) {
	if err := p.Open(); err != nil {
		return nil, err
	}
	c := p.Cluster()
	watches := map[timeline.Resource]*replay.Watch{}
	for _, r := range c.Resources() {
		begin, err := c.List(gvr(r), "", metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		w, err := c.Watch(gvr(r), "", metav1.ListOptions{ResourceVersion: "0", AllowWatchBookmarks: true})
		if err != nil {
			return nil, err
		}
		watches[r] = w
		all = append(all, taped{tape: tape, resource: r, begin: begin})
	}
	if err := p.Seek(context.Background(), replay.End); err != nil {
		return nil, err
	}
	for i := range all {
		w := watches[all[i].resource]
		for {
			ev, err := w.TryNext()
			if replay.IsNoEvent(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			all[i].events = append(all[i].events, ev)
		}
		w.Stop()
		if all[i].end, err = c.List(gvr(all[i].resource), "", metav1.ListOptions{}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func gvr(r timeline.Resource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}
