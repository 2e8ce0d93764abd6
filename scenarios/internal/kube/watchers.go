package kube

import "slices"

// watchers are the functions that are told of the writes of one kind of objects, in the order in which they began to watch.
type watchers[T any] struct {
	all   []func(Change, *T, *T)
	begun int
	// at is the place of each of all among all that have begun, and named are those that have to do with some names alone.
	at    []int
	named map[string][]named[T]
}

type named[T any] struct {
	at   int
	tell func(Change, *T, *T)
}

func (w *watchers[T]) add(f func(Change, *T, *T)) {
	w.all, w.at = append(w.all, f), append(w.at, w.begun)
	w.begun++
}

// tell calls those that watch everything, and those that watch a name.
func (w *watchers[T]) tell(name string, c Change, old, now *T) {
	var some []named[T]
	if len(w.named) > 0 {
		some = w.named[name]
	}
	at := w.at
	for i, f := range w.all {
		for len(some) > 0 && some[0].at < at[i] {
			some[0].tell(c, old, now)
			some = some[1:]
		}
		f(c, old, now)
	}
	for _, one := range some {
		one.tell(c, old, now)
	}
}

// A Watch is told of the objects of the names that it follows. A hundred watches that follow some names each cost no more
// than one. The zero Watch follows nothing.
type Watch struct{ follow, drop func(name string) }

// Follow has the watch told of the objects of a name. One that is followed twice is to be dropped twice.
func (w Watch) Follow(name string) {
	if w.follow != nil {
		w.follow(name)
	}
}

// Drop ends that.
func (w Watch) Drop(name string) {
	if w.drop != nil {
		w.drop(name)
	}
}

// watch adds a watch whose place among the others is that of this call.
func (w *watchers[T]) watch(f func(Change, *T, *T)) Watch {
	if w.named == nil {
		w.named = map[string][]named[T]{}
	}
	at := w.begun
	w.begun++
	is := func(one named[T]) bool { return one.at == at }
	// Copies, since the old ones may be being told.
	return Watch{
		follow: func(name string) {
			some := w.named[name]
			i, _ := slices.BinarySearchFunc(some, at+1, func(one named[T], at int) int { return one.at - at })
			w.named[name] = slices.Insert(slices.Clone(some), i, named[T]{at, f})
		},
		drop: func(name string) {
			some := w.named[name]
			i := slices.IndexFunc(some, is)
			switch {
			case i < 0:
			case len(some) == 1:
				delete(w.named, name)
			default:
				w.named[name] = slices.Delete(slices.Clone(some), i, i+1)
			}
		},
	}
}
