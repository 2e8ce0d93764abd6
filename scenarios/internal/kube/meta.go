package kube

import "slices"

// Meta is the metadata that all objects have.
type Meta struct {
	Namespace, Name string
	UID             string
	Created         Instant
	Generation      int64
	Labels          Pairs
	Annotations     Pairs
	Finalizers      []string
	Owner           *Owner // the controller, or nil
	// Deleting is the deletionTimestamp; 0 where there is none. Grace is
	// deletionGracePeriodSeconds and counts only where Deleting is set.
	Deleting Instant
	Grace    int64

	// Beside is an observer's own: what it has made of the object. No write shows it. See [Store.Observe].
	Beside any

	rv     uint64
	writes int // since the tape had the object in full
	gone   bool
}

// Version returns the object's resourceVersion.
func (m *Meta) Version() uint64 { return m.rv }

// Gone reports whether the object was removed from the store. A caller that kept a pointer to it across two moments
// asks.
func (m *Meta) Gone() bool { return m.gone }

// Terminating reports whether the object has a deletionTimestamp.
func (m *Meta) Terminating() bool { return m.Deleting != 0 }

// HasFinalizer reports whether the object has the finalizer.
func (m *Meta) HasFinalizer(name string) bool { return slices.Contains(m.Finalizers, name) }

// SetFinalizer adds or removes a finalizer.
func (m *Meta) SetFinalizer(name string, want bool) {
	if has := m.HasFinalizer(name); has == want {
		return
	}
	if want {
		m.Finalizers = append(slices.Clip(m.Finalizers), name)
		return
	}
	m.Finalizers = slices.DeleteFunc(slices.Clone(m.Finalizers), func(f string) bool { return f == name })
}

// Owner is the owner reference to an object's controller.
type Owner struct {
	APIVersion, Kind, Name, UID string
}

// A Pair is a key and its value.
type Pair struct{ Key, Value string }

// Pairs are labels and their like, in the order of their keys, which is the
// order in which an API server writes a map.
type Pairs []Pair

// PairsOf sorts what it is given.
func PairsOf(pairs ...Pair) Pairs {
	p := Pairs(slices.Clone(pairs))
	slices.SortStableFunc(p, func(a, b Pair) int {
		if a.Key < b.Key {
			return -1
		}
		if a.Key > b.Key {
			return 1
		}
		return 0
	})
	return p
}

// Get returns the value of a key, or "".
func (p Pairs) Get(key string) string {
	value, _ := p.Lookup(key)
	return value
}

// Lookup returns the value of a key and whether it is there.
func (p Pairs) Lookup(key string) (string, bool) {
	for i := range p {
		if p[i].Key == key {
			return p[i].Value, true
		}
	}
	return "", false
}

// Holds reports whether all of want are in p, as a selector of labels asks.
func (p Pairs) Holds(want Pairs) bool {
	for _, w := range want {
		if value, ok := p.Lookup(w.Key); !ok || value != w.Value {
			return false
		}
	}
	return true
}

// With returns the pairs with a key set to a value. p stays as it is.
func (p Pairs) With(key, value string) Pairs {
	i, found := slices.BinarySearchFunc(p, key, func(a Pair, k string) int {
		switch {
		case a.Key < k:
			return -1
		case a.Key > k:
			return 1
		}
		return 0
	})
	if found {
		if p[i].Value == value {
			return p
		}
		q := slices.Clone(p)
		q[i].Value = value
		return q
	}
	return slices.Insert(slices.Clone(p), i, Pair{key, value})
}

// Without returns the pairs without a key. p stays as it is.
func (p Pairs) Without(key string) Pairs {
	i := slices.IndexFunc(p, func(a Pair) bool { return a.Key == key })
	if i < 0 {
		return p
	}
	return slices.Delete(slices.Clone(p), i, i+1)
}
