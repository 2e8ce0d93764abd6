package examples_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/timeline"
)

// logger drives a feed, and notes what it is told, by resource.
type logger struct {
	live
	log map[string][]string
}

// forget tears out what was written so far.
func (d *logger) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.log)
}

func (d *logger) note(what timeline.Type, o any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, err := meta.Accessor(o)
	if err != nil {
		d.log["?"] = append(d.log["?"], fmt.Sprintf("%s %T", what, o))
		return
	}
	kind := fmt.Sprintf("%T", o)
	d.log[kind] = append(d.log[kind], entry(what, m.GetNamespace(), m.GetName(), m.GetResourceVersion()))
}

func entry(what timeline.Type, namespace, name, version string) string {
	return fmt.Sprintf("%s %s/%s@%s", what, namespace, name, version)
}

func (d *logger) OnAdd(o any, initial bool) {
	d.note(timeline.Added, o)
	d.live.OnAdd(o, initial)
}

func (d *logger) OnUpdate(before, o any) {
	d.note(timeline.Modified, o)
	d.live.OnUpdate(before, o)
}

func (d *logger) OnDelete(o any) {
	if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok { // never: no event is missed
		d.note("LOST", unknown.Obj)
		return
	}
	d.note(timeline.Deleted, o)
	d.live.OnDelete(o)
}

// logOfTape returns what is on the tape after the initial lists.
func logOfTape(t *testing.T, name string) map[string][]string {
	t.Helper()
	r := open(t, name)
	kinds := map[string]string{"nodes": "*v1.Node", "pods": "*v1.Pod", "events": "*v1.Event", "poddisruptionbudgets": "*v1.PodDisruptionBudget"}
	listed, all := map[string]bool{}, map[string][]string{}
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			if len(all["*v1.Node"]) == 0 {
				t.Fatalf("%s tells of no nodes", name)
			}
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == timeline.Sync {
			listed[ev.Resource] = true
		}
		if listed[ev.Resource] && ev.Type.Object() {
			kind := kinds[ev.Resource]
			all[kind] = append(all[kind], entry(ev.Type, ev.Namespace, ev.Name, ev.RV))
		}
	}
}
