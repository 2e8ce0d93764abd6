package recorder_test

import (
	"fmt"
	"strings"
	"testing"
)

// A name that stands twice in what looks like the initial list: the list has
// ended before the second, or, where the dump marks its end, is the last state.
func TestImportOfOneNameTwiceInAList(t *testing.T) {
	plain := func(typ, object string) string { return fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", typ, object) }
	reborn := strings.Replace(obj("a", "8", 0, 0), `"uid":"uid-a"`, `"uid":"other"`, 1)
	for story, c := range map[string]struct {
		dump, want string
		repeats    int
	}{
		"the same event": {plain("ADDED", obj("a", "7", 0, 0)) + plain("ADDED", obj("a", "7", 0, 0)), `
	0s ADDED nodes a 7
	0s SYNC nodes 7
	0s END
	`, 1},
		"a later version": {plain("ADDED", obj("a", "7", 0, 0)) + plain("ADDED", obj("a", "8", 0, 0)), `
	0s ADDED nodes a 7
	0s SYNC nodes 7
	0s MODIFIED nodes a 8
	0s END
	`, 0},
		"another object": {plain("ADDED", obj("a", "7", 0, 0)) + plain("ADDED", reborn), `
	0s ADDED nodes a 7
	0s SYNC nodes 7
	0s GAP nodes 8 the deletion of a is missing: its name has another UID from here on
	0s DELETED nodes a
	0s SYNC nodes 7
	0s ADDED nodes a 8
	0s END
	`, 0},
		"before a marked end": {captured(0, "nodes", "ADDED", obj("a", "7", 0, 0)) + captured(0, "nodes", "ADDED", reborn) + captured(0, "nodes", "BOOKMARK", endMark("20")), `
	0s ADDED nodes a 8
	0s SYNC nodes 20
	0s END
	`, 1},
	} {
		t.Run(story, func(t *testing.T) {
			sum, tape, err := imported(t, c.dump, nil)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, renderText(t, tape), c.want)
			if got := sum.Resources[0].Repeats; got != c.repeats {
				t.Errorf("found %d repeats, want %d", got, c.repeats)
			}
		})
	}
}
