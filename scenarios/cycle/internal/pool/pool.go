// Package pool does a number of independent pieces of work, a few at once.
//
// What goes in: how many pieces, how many at once, and a function that does one by its number. What comes out:
// nothing, after the last piece is done. The package must never leak a goroutine: Each owns those that it starts and
// waits for all of them. It stands apart from the planner, which is a function of its arguments and starts none.
package pool

import "sync"

// Each calls work for 0 to n-1, at most limit calls at once (at least one), and returns when all have returned. Calls
// begin in the order of their numbers. work must not panic.
func Each(n, limit int, work func(i int)) {
	if n <= 0 {
		return
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(n, max(limit, 1)) {
		workers.Go(func() {
			for i := range next {
				work(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}
