package kube

// scratch holds what an object was before the write that is under way. Who
// watches sees it during the call only, and there is one write at a time, so
// that half a million updates need no memory of their own for it.
type scratch struct {
	pod    Pod
	node   Node
	budget Budget
	event  [2]Event // as it is, and as it was
}

// keep copies an object's state to its place in the scratch. Within a watch, where writes are forbidden, an outer
// write still needs that place: the error then isn't made worse.
func keep[T any](s *Store, place, now *T) *T {
	if s.watching > 0 {
		place = new(T)
	}
	*place = *now
	return place
}
