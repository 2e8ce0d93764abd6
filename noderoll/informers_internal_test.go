package noderoll

import "testing"

// StartInformers returns when the caches are filled: by then they are well, or
// the first Snapshot would list once more.
func TestFilledMeansWell(t *testing.T) {
	for range 200 {
		f := &watchFeed{resource: Nodes, filled: make(chan struct{}), listing: true}
		done := make(chan struct{})
		go func() {
			f.replaced()
			close(done)
		}()
		<-f.filled
		if err := f.health(); err != nil {
			t.Fatal(err)
		}
		<-done
	}
}
