package rawjson

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// shuffled returns objects of n members, and orders in which they differ.
func shuffled(r *rand.Rand, n int) (from, to []byte) {
	object := func(names []int, value func(int) string) []byte {
		b := []byte{'{'}
		for _, i := range names {
			b = append(appendName(b, 1, fmt.Appendf(nil, "m%d", i)), value(i)...)
		}
		return append(b, '}')
	}
	a, b := r.Perm(n), r.Perm(n)
	slices.Reverse(b)
	from = object(a[:n-n/8], func(i int) string { return fmt.Sprintf(`{"v":%d}`, i) })
	to = object(b[:n-n/8], func(i int) string { return fmt.Sprintf(`{"v":%d}`, i%3) })
	return from, to
}

// Objects of many members, in any order, are patched and compared as those of
// few are.
func TestManyMembersAreLookedUpAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		from, to := shuffled(r, n)
		patch, exact := Diff(nil, from, to)
		if !exact {
			t.Fatalf("%d members: no exact patch", n)
		}
		if got := decode(t, Apply(nil, from, patch)); fmt.Sprint(got) != fmt.Sprint(decode(t, to)) {
			t.Fatalf("%d members: the patch %s of %s makes %v, want %s", n, patch, from, got, to)
		}
	}
}

// However many names are looked up, an object is read from its beginning a few
// times only, and its index is made once.
func TestLookupReadsAFewTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	from, to := shuffled(r, 1000)
	l := lookup{Cursor: Object(from)}
	p := changes{}
	for name, value := range Members(from) {
		p.all = append(p.all, change{name: name, value: value})
	}
	found := 0
	for name := range Members(to) {
		value, ok := l.find(name)
		if ch := p.pick(name); ok != (ch != nil) || ok && !bytes.Equal(ch.value, value) {
			t.Fatalf("%s: find says %s %t, pick %v", name, value, ok, ch)
		}
		if ok {
			found++
		}
	}
	if found < 700 || l.scans > fewScans || len(l.index) != count(from) || len(p.index) != count(from) {
		t.Errorf("%d found by %d scans, %d and %d indexed", found, l.scans, len(l.index), len(p.index))
	}
}
