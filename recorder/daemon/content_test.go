package daemon_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/timeline"
)

// content is what tapes show.
type content struct {
	versions map[string]bool // "nodes a 104"
	lost     []lost
	gaps     int
	marks    []string
	ends     []string
}

// lost are the versions above the first, up to the second, that may be missing where a GAP is.
type lost struct {
	resource   string
	after, end int
}

// has reports whether a write, "nodes a 104", is on a tape or in a GAP.
func (c content) has(write string, version int) bool {
	return c.versions[write] || slices.ContainsFunc(c.lost, func(l lost) bool {
		return strings.HasPrefix(write, l.resource+" ") && l.after < version && version <= l.end
	})
}

func read(t *testing.T, files ...string) content {
	t.Helper()
	c := content{versions: map[string]bool{}}
	for _, f := range files {
		r, err := timeline.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		newest := map[string]int{} // by resource
		for ev, err := range r.All() {
			version, _ := strconv.Atoi(ev.RV)
			switch {
			case err != nil:
				t.Fatal(err)
			case ev.Type.Object():
				c.versions[ev.Resource+" "+ev.Name+" "+ev.RV] = true
				newest[ev.Resource] = max(newest[ev.Resource], version)
			case ev.Type == timeline.Gap:
				c.gaps++
				c.lost = append(c.lost, lost{ev.Resource, newest[ev.Resource], math.MaxInt})
			case ev.Type == timeline.Sync:
				for i := range c.lost {
					if l := &c.lost[i]; l.resource == ev.Resource && l.end == math.MaxInt {
						l.end = version
					}
				}
			case ev.Type == timeline.Mark:
				c.marks = append(c.marks, ev.Name)
			case ev.Type == timeline.End:
				c.ends = append(c.ends, ev.Reason)
			}
		}
		if !r.Complete() {
			t.Errorf("%s: not complete", f)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
