package inspect_test

import (
	"fmt"
	"strings"
	"testing"
)

// A tape may name any number of groups. The nodes of the first 1,000 are taken by
// group, those of further ones as one group.
func TestGroupsBeyondAThousand(t *testing.T) {
	const groups, first = 1003, 1000
	var tape strings.Builder
	tape.WriteString(header)
	for i := range groups {
		tape.WriteString(nodeLine("0s", "ADDED", fmt.Sprint("a", i), fmt.Sprint("g", i), "True"))
	}
	tape.WriteString(`--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"2"}` + "\n")
	for i := range groups {
		tape.WriteString(nodeLine("10s", "ADDED", fmt.Sprint("b", i), fmt.Sprint("g", i), "True"))
	}
	for i := range groups {
		fmt.Fprintf(&tape, `--- {"at":"20s","type":"DELETED","resource":"nodes","name":"a%d","rv":"9"}`+"\n", i)
	}
	rolls := read(t, tape.String()).Rolls
	if len(rolls) != first+1 {
		t.Fatalf("%d rolls of %d groups: want %d", len(rolls), groups, first+1)
	}
	found := map[string]int{}
	for _, r := range rolls {
		found[r.Nodegroup] = r.Replaced
	}
	for i := range first {
		if name := fmt.Sprint("g", i); found[name] != 1 {
			t.Errorf("%d nodes replaced in group %s: want 1", found[name], name)
		}
	}
	if got := found["(others)"]; got != groups-first {
		t.Errorf("%d nodes replaced in further groups: want %d", got, groups-first)
	}
}
