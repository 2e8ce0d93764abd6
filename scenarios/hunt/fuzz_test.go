package hunt_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios/hunt"
)

// FuzzReadResults: whatever a log holds, nothing panics; and results that are taken from it can be written, and read again as the same.
func FuzzReadResults(f *testing.F) {
	r := run(f, options(f, "surge", nil, 2))
	whole := line(f, r)
	f.Add("hunt: 5 rolls\n" + whole)
	r.Found = &hunt.Found{
		Case: 1, Failure: hunt.Failure{Kind: hunt.OfPolicy, Name: "no-stuck-roll/roll-complete", Text: "line 812: found <stuck>, want complete"},
		File: "apiVersion: nodesim.dev/v1\nkind: Scenario\n", Small: hunt.Failure{Kind: hunt.OfTest, Text: "always"}, Size: "1 node", Tries: 7, Unsteady: true,
	}
	found := line(f, r)
	f.Add(found + "\r\n  " + found)
	f.Add(strings.Replace(whole, `"shards":1`, `"shards":3`, 1) + strings.Replace(whole, `"shard":0,"shards":1`, `"shard":2,"shards":3`, 1))
	for _, change := range [][2]string{
		{`"shard":0`, `"shard":1`}, {`"shard":0`, `"shard":-1`}, {`"seed":7`, `"seed":18446744073709551615`}, {`"cases":2`, `"cases":0`}, {`"tried":2`, `"tried":1`},
		{`"kind":"HuntResult"`, `"kind":"HuntResult","kind":"x"`}, {`"simulated":"`, `"simulated":"-1h`}, {`"simulated":"`, `"simulated":"x`}, {`"found":{`, `"lacks":[1],"found":{`}, {`"found":{`, `"found":null,"more":{`},
		{`"cells":[`, `"cells":[null,{"strategy":"none","cases":1},`}, {`"strategies":[`, `"strategies":["","a",`}, {`"states":[`, `"states":null,"more":[`}, {"}\n", ""},
	} {
		f.Add(strings.Replace(found, change[0], change[1], 1))
	}
	f.Add(`{"kind":"HuntResult"}`)
	f.Add(`{"kind":"HuntResult","shards":1}`)
	f.Fuzz(func(t *testing.T, log string) {
		read, err := hunt.ReadResults([]string{"-"}, strings.NewReader(log))
		if err != nil {
			return
		}
		for i := range read {
			c := &read[i].Coverage
			if len(c.Strategies)*len(c.Faults)*len(c.States) > 10_000 {
				return // what was never tried of so much takes its time
			}
		}
		written := lines(t, read)
		again, err := hunt.ReadResults([]string{"-"}, strings.NewReader(written))
		if err != nil {
			t.Fatalf("%q is written as %q, and then refused: %v", log, written, err)
		}
		if next := lines(t, again); next != written {
			t.Errorf("written again it is\n%s\nwant\n%s", next, written)
		}
		if m, err := hunt.Merge(read); err == nil {
			line(t, m)
		}
	})
}

// line is a result as a log has it.
func line(t testing.TB, r *hunt.Result) string {
	t.Helper()
	text, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func lines(t testing.TB, all []hunt.Result) string {
	t.Helper()
	var log strings.Builder
	for i := range all {
		log.WriteString(line(t, &all[i]))
	}
	return log.String()
}
