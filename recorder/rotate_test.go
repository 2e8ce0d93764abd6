package recorder_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// A recording that rotates goes on in the next tape with the state that the first one ends in, and watches on.
func TestRotateGoesOnInTheNextTape(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	one, two := filepath.Join(t.TempDir(), "one.yaml"), filepath.Join(t.TempDir(), "two.yaml")
	listed, seen := make(chan struct{}), make(chan struct{})
	rec, err := recorder.New(recorder.Config{
		REST: a.config(), Name: "test", Resources: []string{"nodes"}, Clock: newEager(),
		Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(one, h) },
		Stop: func(ev timeline.Event) bool {
			switch ev.Type {
			case timeline.Sync:
				close(listed)
			case timeline.Modified:
				close(seen)
			}
			return ev.Name == "end"
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Rotate(nil); err == nil {
		t.Error("found no error before the recording began")
	}
	var owned sync.WaitGroup
	owned.Go(func() {
		if _, err := rec.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
	<-listed
	a.put(nodesPath, "ADDED", node("b", ""))
	a.put(nodesPath, "MODIFIED", node("a", `"unschedulable":true`))
	<-seen
	if err := rec.Rotate(func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(filepath.Join(two, "no"), h) }); err == nil {
		t.Error("found no error of a tape that can't be made")
	}
	if err := rec.Rotate(func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(two, h) }); err != nil {
		t.Error(err)
	}
	a.put(nodesPath, "DELETED", node("b", ""))
	a.put(nodesPath, "ADDED", node("end", ""))
	owned.Wait()
	first, err := timeline.Open(one)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	alive, end := map[string]string{}, timeline.Event{}
	for ev, err := range first.All() {
		if err != nil {
			t.Fatal(err)
		}
		if end = ev; ev.Type.Object() {
			alive[ev.Name] = ev.RV
		}
	}
	if end.Type != timeline.End || end.Reason != recorder.EndContinued || !first.Complete() {
		t.Errorf("the first tape ends with %s %q, complete %t", end.Type, end.Reason, first.Complete())
	}
	next, err := timeline.Open(two)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = next.Close() }()
	if got, want := next.Header().Metadata.Start, first.Header().Metadata.Start.Add(end.At); !got.Equal(want) {
		t.Errorf("the next tape begins %s, want %s, where the first one ends", got, want)
	}
	synced := false
	var after []string
	for ev, err := range next.All() {
		switch {
		case err != nil:
			t.Fatal(err)
		case ev.Type == timeline.Sync:
			synced = true
		case synced && ev.Type.Object():
			after = append(after, string(ev.Type)+" "+ev.Name)
		case ev.Type == timeline.Added && alive[ev.Name] != ev.RV:
			t.Errorf("the next tape begins with %s at %s, want %s", ev.Name, ev.RV, alive[ev.Name])
		}
	}
	if n := len(after); n < 2 || after[n-2] != "DELETED b" || after[n-1] != "ADDED end" || !next.Complete() {
		t.Errorf("found %q after the state, complete %t, want what came after the rotation", after, next.Complete())
	}
}
