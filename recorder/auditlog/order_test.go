package auditlog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// asLogged sets when entries were answered.
func asLogged(all []entry) []entry {
	for i := range all {
		all[i].answered = all[i].at
	}
	return all
}

// A request that is said to have come in 1970 is put before what is later than its answer if there is no room close before
// that: it isn't looked for a place at the beginning of the log.
func TestRequestsOf1970(t *testing.T) {
	evicted := func(all []entry) int {
		for i, e := range all {
			if e.op == opEvicted {
				return i
			}
		}
		t.Fatal("found no eviction")
		return 0
	}
	var known []entry
	for i := range 3 * mostSteps {
		known = append(known, entry{at: int64(i), version: uint64(2*mostSteps + i), name: fmt.Sprint("shop/p", i), op: opState})
	}
	known[len(known)-1].received = int64(len(known))
	late := len(known) - 1
	eviction := entry{at: int64(late) - 1, name: "shop/web", op: opEvicted}
	if i := evicted(merge(asLogged(known), []entry{eviction})); i != late {
		t.Errorf("found it before %d, want %d", i, late)
	}
	for i := range late - 9 { // room before the tenth of the last
		known[i].version -= 2
	}
	if i := evicted(merge(known, []entry{eviction})); i != late-9 {
		t.Errorf("with room: found it before %d, want %d", i, late-9)
	}
}

// A busy server answers the creation of a pod after its binding, which the scheduler asked for once it saw the pod. The binding comes
// after the creation, where there is room for its version, and what follows comes after it.
func TestCreationsThatAreAnsweredLate(t *testing.T) {
	known := asLogged([]entry{
		{received: 1, at: 1, version: 10, name: "shop/other", op: opState},
		{received: 2, at: 9, version: 12, name: "shop/web", op: opCreated},
		{received: 3, at: 10, version: 13, name: "shop/other", op: opState},
		{received: 11, at: 12, version: 16, name: "shop/other", op: opState},
	})
	others := asLogged([]entry{
		{received: 3, at: 4, name: "shop/web", op: opBound},
		{received: 5, at: 6, name: "shop/web", op: opPatched},
	})
	ops := func(all []entry) (ops []op) {
		for _, e := range all {
			ops = append(ops, e.op)
		}
		return ops
	}
	if got, want := ops(merge(known, others)), []op{opState, opCreated, opState, opBound, opPatched, opState}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	// What came before the creation did is of an object of the same name before.
	known[1].received = 4
	if got, want := ops(merge(known, others)), []op{opState, opBound, opCreated, opState, opPatched, opState}; !slices.Equal(got, want) {
		t.Errorf("a binding of before: found %v, want %v", got, want)
	}
	// A kubelet that is told that a pod isn't there may have asked before its creation.
	asked := asLogged([]entry{{received: 3, at: 4, name: "shop/web", op: opFinal}})
	if got := ops(merge(known, asked)); got[1] != opFinal {
		t.Errorf("an object that isn't there yet: found %v, want it before the creation", got)
	}
}

// The creation of the next object of a name ends what can be said of the one before.
func TestChangesStayBeforeTheNextCreation(t *testing.T) {
	known := asLogged([]entry{
		{received: 1, at: 37, version: 11, name: "shop/db-0", op: opCreated},
		{received: 10, at: 38, version: 13, name: "shop/db-0", op: opCreated},
	})
	all := merge(known, asLogged([]entry{{received: 5, at: 9, name: "shop/db-0", op: opDeleted}}))
	if all[1].op != opDeleted {
		t.Errorf("found %v, want the deletion between both", all)
	}
}

// Whatever the delays of requests and answers: nothing is lost, times never decrease, versions increase, no change of an object comes
// before its creation, and no two requests for an object change places that didn't overlap.
func TestOrderOfRandomHistories(t *testing.T) {
	for seed := range uint64(5000) {
		all, r := history(seed)
		if ok := r.order(); ok {
			last := r.list
			for _, e := range r.entries {
				if e.version <= last {
					t.Fatalf("seed %d: found version %d after %d in %+v", seed, e.version, last, r.entries)
				}
				if last = e.version; e.twice {
					last++
				}
			}
		}
		if len(r.entries) != len(all) {
			t.Fatalf("seed %d: found %d entries, want %d", seed, len(r.entries), len(all))
		}
		where := make([]int, len(all))
		for i, e := range r.entries {
			if where[e.body.off] = i; i > 0 && e.at < r.entries[i-1].at {
				t.Fatalf("seed %d: found time %d after %d in %+v", seed, e.at, r.entries[i-1].at, r.entries)
			}
		}
		for i, a := range all {
			for j, b := range all {
				switch {
				case a.name != b.name || i == j || where[i] < where[j]:
				case a.answered < b.received:
					t.Fatalf("seed %d: found %+v after %+v, which came later", seed, a, b)
				case a.op == opCreated && i < j && a.life == b.life:
					t.Fatalf("seed %d: found %+v before the creation %+v", seed, b, a)
				}
			}
		}
	}
}

// A done is an entry with which life of its name it is about.
type done struct {
	entry
	life int
}

// history draws what a server did with objects of two names, one write after the other, and the log of it: half of the requests
// have no version, and each is answered sooner or later. The offset of an entry's body is its place in the history.
func history(seed uint64) (all []done, r *resource) {
	rng := rand.New(rand.NewPCG(seed, 11))
	type object struct {
		lives int
		alive bool
		since int64 // when it was created; nobody asks for a change before
		gone  int64
	}
	objects := map[string]*object{"shop/a": {}, "shop/b": {}}
	now, version, spare := int64(1), uint64(10), rng.IntN(3)
	for range 3 + rng.IntN(12) {
		now += 2 + rng.Int64N(4)
		name := []string{"shop/a", "shop/b"}[rng.IntN(2)]
		o := objects[name]
		kind := []op{opBound, opPatched, opState, opState, opGraceful, opDeleted}[rng.IntN(6)]
		earliest := o.since
		if !o.alive {
			o.alive, o.lives, kind, earliest = true, o.lives+1, opCreated, o.gone
		}
		late := func() int64 {
			if rng.IntN(4) == 0 {
				return 1 + rng.Int64N(40)
			}
			return 1 + rng.Int64N(4)
		}
		e := entry{name: name, op: kind, received: min(max(earliest+1, now-late()), now), at: now + late()}
		e.answered, e.body.off = e.at, int64(len(all))
		version += kind.writes() + uint64(rng.IntN(spare+1))
		if kind == opCreated || kind == opState {
			e.version = version
		}
		all = append(all, done{e, o.lives})
		switch kind {
		case opCreated:
			o.since = now
		case opDeleted:
			o.alive, o.gone = false, now
		}
	}
	r = &resource{kind: "Pod"}
	for _, d := range all {
		r.entries = append(r.entries, d.entry)
	}
	rng.Shuffle(len(r.entries), func(i, j int) { r.entries[i], r.entries[j] = r.entries[j], r.entries[i] })
	slices.SortStableFunc(r.entries, func(a, b entry) int { return int(a.at - b.at) })
	return all, r
}
