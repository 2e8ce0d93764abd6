package kube

// kind is how objects of a type are written.
type kind[T any] struct {
	resource string
	write    func(*writer, *T, *T)
	same     func(old, now *T) bool // see same.go
}

var (
	ofNodes   = kind[Node]{"nodes", (*writer).node, sameNode}
	ofPods    = kind[Pod]{"pods", (*writer).pod, samePod}
	ofBudgets = kind[Budget]{"poddisruptionbudgets", (*writer).budget, sameBudget}
	ofEvents  = kind[Event]{"events", (*writer).event, sameEvent}
)

func ofCustoms(resource string) kind[Custom] {
	return kind[Custom]{resource, (*writer).custom, sameCustom}
}

// changed reports whether there is anything to write between two states, and the patch between them where text is made.
func changed[T any](s *Store, k *kind[T], old, now *T) (patch []byte, is bool) {
	if s.textless {
		return nil, !k.same(old, now)
	}
	patch = differ(s, k.write, old, now)
	return patch, patch != nil
}

// add puts a new object on the tape. text is its text, nil where that is what the kind's writer makes of it.
func add[T any](s *Store, k *kind[T], m *Meta, now *T, text func() []byte) {
	s.write = Write{Change: Added, Meta: m, Object: now, whole: text}
	if text == nil && !s.textless {
		text = whole(s, k.write, now)
	}
	s.emit(k.resource, &s.write, nil, text)
}

// modify puts a change of an object on the tape.
func modify[T any](s *Store, k *kind[T], m *Meta, old, now *T, patch []byte) {
	s.write = Write{Change: Modified, Meta: m, Object: now, Old: old}
	if s.textless {
		s.emit(k.resource, &s.write, nil, nil)
		return
	}
	s.emit(k.resource, &s.write, patch, whole(s, k.write, now))
}

// remove puts the end of an object on the tape.
func remove[T any](s *Store, k *kind[T], m *Meta, now *T) {
	s.write = Write{Change: Deleted, Meta: m, Object: now}
	s.emit(k.resource, &s.write, nil, nil)
}
