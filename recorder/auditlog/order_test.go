package auditlog

import (
	"fmt"
	"slices"
	"testing"
)

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
	for i := range 3 * mostEarlier {
		known = append(known, entry{at: int64(i), version: uint64(2*mostEarlier + i), name: fmt.Sprint("shop/p", i)})
	}
	late := len(known) - 1
	eviction := entry{at: int64(late) - 1, name: "shop/web", op: opEvicted}
	if i := evicted(merge(known, []entry{eviction})); i != late {
		t.Errorf("found it before %d, want %d", i, late)
	}
	for i := range late - 9 { // room before the tenth of the last
		known[i].version -= 2
	}
	if i := evicted(merge(known, []entry{eviction})); i != late-9 {
		t.Errorf("with room: found it before %d, want %d", i, late-9)
	}
}

// A server that has much to do answers the creation of a pod after its binding, which the scheduler asked for once it saw the pod.
// The binding comes after the creation, where there is room for its version, and what follows comes after it.
func TestCreationsThatAreAnsweredLate(t *testing.T) {
	known := []entry{
		{received: 1, at: 1, version: 10, name: "shop/other", op: opState},
		{received: 2, at: 9, version: 12, name: "shop/web", op: opCreated},
		{received: 9, at: 10, version: 13, name: "shop/other", op: opState},
		{received: 11, at: 12, version: 16, name: "shop/other", op: opState},
	}
	others := []entry{
		{received: 3, at: 4, name: "shop/web", op: opBound},
		{received: 5, at: 6, name: "shop/web", op: opPatched},
	}
	before := int64(0)
	var ops []op
	for _, e := range merge(known, others) {
		ops = append(ops, e.op)
		if e.at < before {
			t.Errorf("found %d after %d, want times that never decrease", e.at, before)
		}
		before = e.at
	}
	if want := []op{opState, opCreated, opState, opBound, opPatched, opState}; !slices.Equal(ops, want) {
		t.Errorf("found %v, want %v", ops, want)
	}
	// What came before the creation did is of an object of the same name before.
	known[1].received = 4
	if all := merge(known, others); all[1].op != opBound || all[2].op != opCreated || all[4].op != opPatched {
		t.Errorf("a binding of before: found %v", all)
	}
}
