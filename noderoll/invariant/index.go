package invariant

// fewIndexed is up to how many elements an index looks through one by one.
const fewIndexed = 16

// index finds elements of a list by key. The lists of real objects are short;
// where one is long, a map answers, so that comparing two states of an object
// takes time in proportion to them.
type index[K comparable, T any] struct {
	list []T
	key  func(*T) K
	m    map[K]int
}

func indexed[K comparable, T any](list []T, key func(*T) K) index[K, T] {
	x := index[K, T]{list: list, key: key}
	if len(list) > fewIndexed {
		x.m = make(map[K]int, len(list))
		for i := range list {
			if k := key(&list[i]); !x.has(k) {
				x.m[k] = i
			}
		}
	}
	return x
}

func (x *index[K, T]) has(k K) bool {
	_, known := x.m[k]
	return known
}

// find returns the first element with a key, or nil.
func (x *index[K, T]) find(k K) *T {
	if x.m != nil {
		if i, known := x.m[k]; known {
			return &x.list[i]
		}
		return nil
	}
	for i := range x.list {
		if x.key(&x.list[i]) == k {
			return &x.list[i]
		}
	}
	return nil
}
