package writes

import (
	"slices"
	"sync"
)

// Kept is the number of values a Tail keeps at least.
const Kept = 1 << 16

// Tail keeps the last of very many values: [Kept] of them at least. Its zero
// value is empty. It is safe for concurrent use.
type Tail[T any] struct {
	mu     sync.Mutex
	values []T
}

// Add adds a value after the others.
func (t *Tail[T]) Add(v T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.values) >= 2*Kept {
		t.values = slices.Clone(t.values[Kept:])
	}
	t.values = append(t.values, v)
}

// All returns what is kept, oldest first.
func (t *Tail[T]) All() []T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.values)
}

// Clear forgets everything.
func (t *Tail[T]) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.values = nil
}
