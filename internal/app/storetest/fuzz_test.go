package storetest_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/app/storetest"
)

// FuzzReadResults: whatever a log holds, nothing panics; and results that are taken from it can be written, and read again as the same.
func FuzzReadResults(f *testing.F) {
	whole := `{"kind":"TestResult","program":"v0.1.0","store":"file:///srv/tapes","input":"0a1b","shard":0,"shards":1,"passed":1,"failed":1,"tapes":[` +
		`{"name":"c1/2026/11/27/a","sha256":"` + strings.Repeat("0a", 32) + `","policies":[{"policy":"mine","holds":true,"rules":[` +
		`{"rule":"no-rolls","severity":"warning","over":"rolls","objects":2,"applied":1,"absent":1,"lacks":"roll.strategy","violations":[` +
		`{"object":"Roll/workers","message":"a roll","found":"1","wanted":"0"}],"moreViolations":3}]}]},` +
		`{"name":"c1/2026/11/27/b","failures":["not complete: it ends without END, so its recorder was cut off"],"policies":[{"policy":"no-stuck-roll","holds":false,"rules":[` +
		`{"rule":"roll-complete","severity":"error","over":"rolls","objects":1,"applied":1,"absent":0,"violations":[` +
		`{"at":"1124.918s","line":812,"object":"Roll/workers","found":"<stuck>","wanted":"complete"}]}]}]}]}` + "\n"
	f.Add(whole)
	f.Add("a line of something else\n" + whole + "\r\n  " + whole)
	for _, change := range [][2]string{
		{`"kind":"TestResult"`, `"kind":"TestResult","kind":"x"`}, {`"shard":0`, `"shard":2`}, {`"shard":0`, `"shard":-1`}, {`"shards":1`, `"shards":2`}, {`"shards":1`, `"shards":100000`}, {`"passed":`, `"passed":1`},
		{`"policy":"mine"`, `"policy":"no\u001b[2J"`}, {`"holds":true`, `"holds":false`}, {`"tapes":[`, `"lacks":[1],"tapes":[`}, {`"tapes":[`, `"lacks":[],"tapes":[null,`},
		{`"1124.918s"`, `""`}, {`"1124.918s"`, `"-1s"`}, {`"line":812`, `"line":812,"moment":{"at":7}`}, {`"c1/`, "\"\xff\x1b"}, {`}]}]}` + "\n", ""},
	} {
		f.Add(strings.ReplaceAll(whole, change[0], change[1]))
	}
	f.Add(`{"kind":"TestResult"}`)
	f.Fuzz(func(t *testing.T, log string) {
		read, err := storetest.ReadResults([]string{"-"}, strings.NewReader(log))
		if err != nil {
			return
		}
		written := lines(t, read)
		again, err := storetest.ReadResults([]string{"-"}, strings.NewReader(written))
		if err != nil {
			t.Fatalf("%q is written as %q, and then refused: %v", log, written, err)
		}
		if next := lines(t, again); next != written {
			t.Errorf("written again it is\n%s\nwant\n%s", next, written)
		}
		m, err := storetest.Merge(read)
		if err != nil {
			return
		}
		if n := len(m.Tapes); m.Passed+m.Failed != n {
			t.Errorf("merged, found %d passed and %d failed, want %d in all", m.Passed, m.Failed, n)
		}
		if len(m.Lacks) == 0 {
			if _, err := storetest.ReadResults([]string{"-"}, strings.NewReader(text(t, m))); err != nil {
				t.Errorf("merged it is %s, and then refused: %v", text(t, m), err)
			}
		}
	})
}

// lines are results as a log has them.
func lines(t *testing.T, all []storetest.Result) string {
	t.Helper()
	var log strings.Builder
	for i := range all {
		log.WriteString(text(t, &all[i]))
	}
	return log.String()
}
