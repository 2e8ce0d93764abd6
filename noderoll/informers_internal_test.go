package noderoll

import (
	"context"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// StartInformers returns when the caches are filled: by then they are well, or
// the first Snapshot would list once more. So no caller is told that they are
// while the holder of the lock still sees a list on its way.
func TestFilledMeansWell(t *testing.T) {
	f := &watchFeed{resource: Nodes, filled: make(chan struct{}), listing: true}
	f.mu.Lock()
	done := make(chan struct{})
	go func() {
		f.replaced()
		close(done)
	}()
	for range 1000 {
		runtime.Gosched()
		select {
		case <-f.filled:
			t.Fatal("filled, and still listing")
		default:
		}
	}
	f.mu.Unlock()
	<-f.filled
	if err := f.health(); err != nil {
		t.Error(err)
	}
	<-done
}

// From the end of a stream to the next one the memory isn't to be trusted.
func TestAWatchThatHasEndedIsNotWell(t *testing.T) {
	f := &watchFeed{resource: "nodes", filled: make(chan struct{})}
	open := f.opened(func(*metav1.ListOptions) {}, func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil })
	for range 2 {
		w, err := open(t.Context(), metav1.ListOptions{})
		if err != nil || f.health() != nil {
			t.Fatal(err, f.health())
		}
		w.Stop()
		if err := f.health(); err == nil || !strings.Contains(err.Error(), "the watch of nodes has ended") {
			t.Errorf("found %v", err)
		}
	}
}
