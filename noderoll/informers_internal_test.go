package noderoll

import (
	"runtime"
	"testing"
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
