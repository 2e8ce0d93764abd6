package fault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/fault"
)

// The tables in docs/faults.md are the code's.
func TestDocsAreTheCode(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "faults.md")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(raw), "\n"); n > 120 {
		t.Errorf("%s: %d lines, want at most 120", file, n)
	}
	golden.AssertPart(t, file, "kinds", kindTable())
	golden.AssertPart(t, file, "parameters", paramTable())
}

func kindTable() string {
	var b strings.Builder
	b.WriteString("| kind | hits | what happens | its own parameters, and what they are if not given |\n|---|---|---|---|\n")
	for _, k := range fault.Kinds() {
		var own []string
		given := strings.TrimPrefix(k.Default.String(), k.Default.Kind)
		for part := range strings.SplitSeq(strings.TrimPrefix(given, ","), ",") {
			if part != "" {
				own = append(own, "`"+part+"`")
			}
		}
		for _, p := range []string{"lose", "initial"} {
			if slices.Contains(k.Params, p) {
				own = append(own, "`"+p+"`")
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, k.Hits, k.Does, strings.Join(own, ", "))
	}
	return b.String()
}

func paramTable() string {
	var b strings.Builder
	b.WriteString("| parameter | | taken by |\n|---|---|---|\n")
	all := fault.Kinds()
	for _, p := range fault.Params() {
		var with, without []string
		for _, k := range all {
			if slices.Contains(k.Params, p.Name) {
				with = append(with, k.Name)
			} else {
				without = append(without, k.Name)
			}
		}
		by := strings.Join(with, ", ")
		switch {
		case len(without) == 0:
			by = "all"
		case len(without) < len(with):
			by = "all but " + strings.Join(without, ", ")
		}
		fmt.Fprintf(&b, "| `%s=%s` | %s | %s |\n", p.Name, p.Value, p.Does, by)
	}
	return b.String()
}

// The states that when= knows are those that a verbose feed tells of nodes.
func TestStatesAreTheFeeds(t *testing.T) {
	for _, k := range []noderoll.EventKind{
		noderoll.EvtJoining, noderoll.EvtOnline, noderoll.EvtCordoned, noderoll.EvtDraining, noderoll.EvtNotReady, noderoll.EvtTerminated,
		noderoll.EvtEvicted, noderoll.EvtBlocked, noderoll.EvtUnblocked, noderoll.EvtPressure, noderoll.EvtWarning,
	} {
		if _, err := fault.Parse("close,when=node:*:" + string(k)); err != nil {
			t.Error(err)
		}
	}
	for _, w := range []noderoll.EventKind{noderoll.EvtComplete, noderoll.EvtFailed} {
		if _, err := fault.Parse("close,when=" + string(w)); err != nil {
			t.Error(err)
		}
	}
}
