package invariant

// memory is that of what a Checker remembers of objects. A Checker that was reset keeps some for the next tape.
type memory struct {
	objects shelf[trackedObject]
	pods    shelf[trackedPod]
	nodes   shelf[trackedNode]
	budgets shelf[trackedBudget]
	events  shelf[trackedEvent]
}

// reuse has what was taken be taken again.
func (m *memory) reuse() {
	m.objects.reuse()
	m.pods.reuse()
	m.nodes.reuse()
	m.budgets.reuse()
	m.events.reuse()
}

// shelf is memory for one kind of things. Before the first reuse it keeps nothing: what nobody remembers any more is the
// collector's.
type shelf[T any] struct {
	kept  []*T
	taken int
	keeps bool
}

// mostKept bounds what is kept of a kind from one tape to the next.
const mostKept = 8192

// take returns a thing, which is as another one has left it.
func (s *shelf[T]) take() *T {
	if s.taken < len(s.kept) {
		s.taken++
		return s.kept[s.taken-1]
	}
	t := new(T)
	if s.keeps && len(s.kept) < mostKept {
		s.kept = append(s.kept, t)
		s.taken++
	}
	return t
}

func (s *shelf[T]) reuse() { s.taken, s.keeps = 0, true }
