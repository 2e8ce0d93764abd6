package writescripts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
)

// A row of which no minor is compared any more is a row too many: no run would find that out.
func TestKnownRowsAreOfMinorsThatAreCompared(t *testing.T) {
	all, err := ReadKnown()
	if err != nil {
		t.Fatal(err)
	}
	held := map[int]bool{}
	for _, name := range assets.Minors() {
		m, err := readVersion([]byte(`{"gitVersion":"v` + name + `.0"}`))
		if err != nil || m.String() != name {
			t.Fatalf("minor %s: found %s, %v, want the same", name, m, err)
		}
		for _, r := range all.Of(m).rows {
			held[r.line] = true
		}
	}
	for _, r := range all.rows {
		if !held[r.line] {
			t.Errorf("known.tsv:%d: %s: found no minor of %s that it is for: take the row out, or mend its minors", r.line, r.text, strings.Join(assets.Minors(), ", "))
		}
	}
}

const table = "# a comment\n" +
	"*\tPod *\tstatus.phase\t(absent)\t*\t*\ta reason\n" +
	"*\tStatefulSet *\tspec.one\t1\t(absent)\t1.35,1.37\tanother reason\n" +
	"set-scale/*\tEvent set *: create *\t\t(there)\t(absent)\t<=1.34\ta third reason\n"

// A difference is known for the minors of its row alone, and a row is unused for these alone.
func TestRowsHoldForTheirMinors(t *testing.T) {
	all, err := readKnown(table)
	if err != nil {
		t.Fatal(err)
	}
	phase := Difference{Script: "pod", Object: "Pod web", Path: "status.phase", A: absent, B: "Running"}
	one := Difference{Script: "set", Object: "StatefulSet db", Path: "spec.one", A: "1", B: absent}
	event := Difference{Script: "set-scale/to=1", Object: "Event set StatefulSet/db Normal Done: create Pod db-#1", A: "(there)", B: absent}
	for _, c := range []struct {
		minor                      Minor
		phase, one, event          bool
		unusedBefore, unusedAtLast string // the lines
	}{
		{34, true, false, true, "2 4", ""},
		{35, true, true, false, "2 3", ""},
		{36, true, false, false, "2", ""},
		{37, true, true, false, "2 3", ""},
	} {
		k := all.Of(c.minor)
		lines := func() string {
			var all []string
			for _, u := range k.Unused() {
				line, _, _ := strings.Cut(strings.TrimPrefix(u, "known.tsv:"), ":")
				all = append(all, line)
			}
			return strings.Join(all, " ")
		}
		if got := lines(); got != c.unusedBefore {
			t.Errorf("%s: found the lines %q unused before any comparison, want %q", c.minor, got, c.unusedBefore)
		}
		if p, o, e := k.has(phase), k.has(one), k.has(event); p != c.phase || o != c.one || e != c.event {
			t.Errorf("%s: found %t, %t, %t, want %t, %t, %t", c.minor, p, o, e, c.phase, c.one, c.event)
		}
		if got := lines(); got != c.unusedAtLast {
			t.Errorf("%s: found the lines %q unused, want %q", c.minor, got, c.unusedAtLast)
		}
	}
}

func TestRowsThatAreRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"*\tPod *\tstatus\t1\t2\ta reason", "found 6 columns: want script, object, path, live, simulated, minors, reason"},
		{"*\tPod *\tstatus\t1\t2\t*\ta reason\tand one more", "found 8 columns: want script, object, path, live, simulated, minors, reason"},
		{"*\tPod *\tstatus\t1\t2\t*\t", `found the reason "": want why the clusters differ`},
		{"*\tPod *\tstatus\t1\t2\t1.34\t" + unexplained, `found the reason "(why?)": want why the clusters differ`},
		{"*\tPod *\tstatus\t1\t2\t1.34.3\ta reason", `minors "1.34.3": found "1.34.3": want * for all, or 1.34, <=1.34 or >=1.34, with commas and no spaces between several`},
	} {
		line, want := c[0], "known.tsv: line 2: "+c[1]
		if _, err := readKnown("# a comment\n" + line + "\n"); err == nil || err.Error() != want {
			t.Errorf("%q: found %v, want %s", line, err, want)
		}
	}
}

// What a run prints for known.tsv is a table that knows all that the run has found, once it has reasons.
func TestDifferencesAsRows(t *testing.T) {
	differ := []Difference{
		{"set-scale/from=1/to=2", "rest", "Pod db-#1", "metadata.labels[example.com/zone]", absent, "ZONE"},
		{"set-scale/from=1/to=2", "rest", "Pod db-#2", "metadata.labels[example.com/zone]", absent, "ZONE"},
		{"set-scale/from=1/to=3", "rest", "Pod db-#1", "metadata.labels[example.com/zone]", absent, "ZONE"},
		{"role", "rest", "Role r", "rules", "<nil>", "[]"},
		{"set-scale/from=1/to=3", "rest", "Event set StatefulSet/db Normal Done: create Pod db-#1", "", "(there)", absent},
		{"pod-refused/change=1", "create Pod a", "Answer 2", "answer", "422 one\nother\tline", "422"},
	}
	rows := Rows(34, differ)
	want := []string{
		"set-scale/*\tPod *\tmetadata.labels[example.com/zone]\t(absent)\tZONE\t1.34\t(why?)",
		"role\tRole *\trules\t<nil>\t[]\t1.34\t(why?)",
		"set-scale/from=1/to=3\tEvent set StatefulSet/db Normal Done: create Pod db-#1\t\t(there)\t(absent)\t1.34\t(why?)",
		"pod-refused/change=1\tAnswer 2\tanswer\t422 one*other*line\t422\t1.34\t(why?)",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	all, err := readKnown(strings.ReplaceAll(strings.Join(rows, "\n"), unexplained, "a reason"))
	if err != nil {
		t.Fatal(err)
	}
	of := all.Of(34)
	for _, d := range differ {
		if !of.has(d) {
			t.Errorf("found no row for %s", d)
		}
	}
}
