package auditlog

import (
	"fmt"
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
