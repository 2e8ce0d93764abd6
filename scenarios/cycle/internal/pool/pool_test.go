package pool_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/nodesim/nodesim/scenarios/cycle/internal/pool"
)

func TestEachDoesAllWithinTheLimit(t *testing.T) {
	for _, test := range []struct{ n, limit, want int }{
		{0, 3, 0}, {-1, 3, 0}, {1, 3, 1}, {10, 0, 1}, {10, 1, 1}, {10, 3, 3}, {3, 10, 3},
	} {
		var (
			mu           sync.Mutex
			running, top int
			done         []int
		)
		// As many as may run at once meet before any of them returns, so that the greatest number is seen.
		full := make(chan struct{})
		pool.Each(test.n, test.limit, func(i int) {
			mu.Lock()
			running++
			if running > top {
				top = running
			}
			if top == test.want && !closed(full) {
				close(full)
			}
			mu.Unlock()
			<-full
			mu.Lock()
			defer mu.Unlock()
			running--
			done = append(done, i)
		})
		slices.Sort(done)
		for i, got := range done {
			if got != i {
				t.Fatalf("%d pieces, %d at once: did %v", test.n, test.limit, done)
			}
		}
		if len(done) != max(test.n, 0) || top != test.want || running != 0 {
			t.Errorf("%d pieces, %d at once: did %d, %d at once, %d still run; want %d at once",
				test.n, test.limit, len(done), top, running, test.want)
		}
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
