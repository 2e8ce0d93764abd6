package inspect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

func check(t *testing.T, r *timeline.Reader, err error) *inspect.Report {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	rep, err := inspect.Check(r, inspect.CheckOptions(r.Header()))
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func example(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestSoundTapes(t *testing.T) {
	for _, name := range []string{"surge", "spot-vanish"} {
		r, err := timeline.NewReader(strings.NewReader(example(t, name)))
		if rep := check(t, r, err); len(rep.Violations) > 0 {
			t.Errorf("%s: %v", name, rep.Violations)
		}
	}
	for _, s := range scenarios.All() {
		r, err := scenarios.Open(s.Name)
		if rep := check(t, r, err); len(rep.Violations) > 0 {
			t.Errorf("%s: %v", s.Name, rep.Violations)
		}
	}
}

// A tape is damaged as a text editor would do it.
func TestViolationsAreReported(t *testing.T) {
	tape := example(t, "surge")
	for _, edit := range [][2]string{
		{`"effect":"NoSchedule","timeAdded":"2026-11-21T00:03:41Z"`, `"effect":"NoSchedule"`},
		{`to ip-10-0-2-10","source":{}`, `to ip-10-0-2-99\u001b[2J","source":{}`},
	} {
		if !strings.Contains(tape, edit[0]) {
			t.Fatalf("the example has no %s", edit[0])
		}
		tape = strings.Replace(tape, edit[0], edit[1], 1)
	}
	r, err := timeline.NewReader(strings.NewReader(tape))
	rep := check(t, r, err)
	golden.Assert(t, "violations", text(t, rep))
	var out struct {
		Violations []struct {
			At, Invariant, Object, Found, Wanted string
			Line                                 int
		}
	}
	if err := json.Unmarshal(rep.JSON(), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Violations) != 2 || out.Violations[0].At != "5.171092s" || out.Violations[0].Invariant != "taint-time-added" || out.Violations[0].Line != 88 {
		t.Errorf("JSON has %+v", out.Violations)
	}
}

func TestUncheckedReportsNoViolations(t *testing.T) {
	if json := demo(t).JSON(); bytes.Contains(json, []byte("violations")) {
		t.Errorf("not checked, and yet: %s", json)
	}
	r, err := scenarios.Open("demo")
	if json := check(t, r, err).JSON(); !bytes.Contains(json, []byte(`"violations":[]`)) {
		t.Errorf("checked and sound: want an empty list: %s", json)
	}
}

// A tape that is broken from end to end gives a report that fits into memory.
func TestViolationsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(header + `--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}` + "\n")
	for i := range 1200 {
		b.WriteString(strings.Replace(nodeLine("1s", "ADDED", "n"+strconv.Itoa(i), "a", "False"), `"rv":"1"`, fmt.Sprintf(`"rv":"%d"`, i+2), 1))
	}
	b.WriteString(`--- {"at":"9s","type":"SYNC","resource":"nodes","rv":"1300"}` + "\n")
	r, err := timeline.NewReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := inspect.Check(r, invariant.CheckSimulated(r.Header().Metadata.Start.Time))
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Violations) != 1000 || rep.MoreViolations != 200 || !strings.Contains(text(t, rep), "1200 violations of invariants") {
		t.Errorf("%d violations kept, %d more: want 1000 of 1200", len(rep.Violations), rep.MoreViolations)
	}
}
