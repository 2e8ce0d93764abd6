package inspect_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/app/inspect"
	found "github.com/nodesim/nodesim/replay/analysis/rolls"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

func demo(t *testing.T, opts ...timeline.ReadOption) *inspect.Report {
	t.Helper()
	r, err := scenarios.Open("demo", opts...)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := inspect.Tape(r)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func text(t *testing.T, rep *inspect.Report) string {
	t.Helper()
	var b strings.Builder
	if err := rep.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDemo(t *testing.T) {
	rep := demo(t, timeline.Lines())
	golden.Assert(t, "demo", text(t, rep))
	golden.Assert(t, "demo-json", indent(t, rep.JSON()))
}

func TestLinesAndObjectsTellTheSame(t *testing.T) {
	if lines, whole := demo(t, timeline.Lines()).JSON(), demo(t).JSON(); !bytes.Equal(lines, whole) {
		t.Errorf("by lines:\n%s\nby objects:\n%s", lines, whole)
	}
}

func indent(t *testing.T, line []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", "  "); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return b.String()
}

const header = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata:
  name: "%NAME%"
  start: "2026-11-20T22:21:09Z"
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
`

func read(t *testing.T, tape string) *inspect.Report {
	t.Helper()
	r, err := timeline.NewReader(strings.NewReader(tape), timeline.Lines())
	if err != nil {
		t.Fatal(err)
	}
	rep, err := inspect.Tape(r)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func nodeLine(at, typ, name, group, ready string) string {
	return `--- {"at":"` + at + `","type":"` + typ + `","resource":"nodes","name":"` + name + `","uid":"u-` + name + `","rv":"1","object":` +
		`{"metadata":{"labels":{"eks.amazonaws.com/nodegroup":"` + group + `","eks.amazonaws.com/nodegroup-image":"ami-` + name[:1] + `"}},` +
		`"status":{"conditions":[{"type":"Ready","status":"` + ready + `"}]}}}` + "\n"
}

func TestTwoGroupsRollEachForItself(t *testing.T) {
	tape := header +
		nodeLine("0s", "ADDED", "a1", "one", "True") + nodeLine("0s", "ADDED", "a2", "two", "True") +
		`--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"2"}` + "\n" +
		nodeLine("10s", "ADDED", "b1", "one", "False") +
		nodeLine("20s", "MODIFIED", "b1", "one", "True") +
		nodeLine("25s", "ADDED", "b2", "two", "False") +
		`--- {"at":"30s","type":"DELETED","resource":"nodes","name":"a1","rv":"9"}` + "\n" +
		`--- {"at":"40s","type":"DELETED","resource":"nodes","name":"a2","rv":"10"}` + "\n"
	golden.Assert(t, "two-groups", text(t, read(t, tape)))
}

func TestGroupThatComesLate(t *testing.T) {
	tape := header +
		`--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"2"}` + "\n" +
		nodeLine("10s", "ADDED", "b1", "one", "False") + nodeLine("20s", "MODIFIED", "b1", "one", "True")
	if rep := read(t, tape); len(rep.Rolls) != 0 || rep.Complete {
		t.Errorf("a group that grows is no roll, and the tape has no END: %s", rep.JSON())
	}
}

// A node that is Ready when it is first seen has come all the same; one that
// was there, and only gets Ready, hasn't.
func TestNodesThatComeReady(t *testing.T) {
	tape := header +
		nodeLine("0s", "ADDED", "a1", "one", "True") + nodeLine("0s", "ADDED", "a2", "one", "False") +
		`--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"2"}` + "\n" +
		nodeLine("5s", "MODIFIED", "a2", "one", "True") +
		nodeLine("10s", "ADDED", "b1", "one", "True") +
		`--- {"at":"20s","type":"GAP","resource":"nodes","rv":"3","reason":"410"}` + "\n" +
		nodeLine("21s", "ADDED", "b2", "one", "True") +
		`--- {"at":"21s","type":"DELETED","resource":"nodes","name":"a1"}` + "\n" +
		`--- {"at":"22s","type":"SYNC","resource":"nodes","rv":"9"}` + "\n" +
		`--- {"at":"40s","type":"DELETED","resource":"nodes","name":"a2","rv":"10"}` + "\n"
	rolls := read(t, tape).Rolls
	if len(rolls) != 1 || rolls[0].Joined != 2 || rolls[0].Replaced != 2 || rolls[0].Start != 10*time.Second || rolls[0].Outcome != found.Complete {
		t.Errorf("got %+v, want one complete roll from 10s on, 2 replaced by 2", rolls)
	}
}

func TestHostileNamesStayText(t *testing.T) {
	tape := strings.Replace(header, "%NAME%", `\e]0;owned\a`, 1) +
		`--- {"at":"1s","type":"MARK","name":"\u001b[2Jcleared","reason":"\u202eabc"}` + "\n" +
		`--- {"at":"2s","type":"GAP","resource":"nodes","reason":"line\u001b[1m\nline"}` + "\n" +
		`--- {"at":"3s","type":"\u001b[31mODD","resource":"no\u0007des"}` + "\n"
	rep := read(t, tape)
	for form, got := range map[string]string{"text": text(t, rep), "json": string(rep.JSON())} {
		for _, r := range got {
			if r < ' ' && r != '\n' || r == 0x7f || r == 0x202e {
				t.Errorf("%s: %U reaches the terminal: %q", form, r, got)
				break
			}
		}
	}
	var back map[string]any
	if err := json.Unmarshal(rep.JSON(), &back); err != nil || back["name"] != "\x1b]0;owned\a" {
		t.Errorf("JSON lost the name: %v, %v", back["name"], err)
	}
}

func TestReportOfABadTapeHoldsWhatStandsBefore(t *testing.T) {
	r, err := timeline.NewReader(strings.NewReader(header+
		`--- {"at":"1s","type":"MARK","name":"a"}`+"\n"+`--- {"at":"0s","type":"MARK","name":"b"}`+"\n"), timeline.Lines())
	if err != nil {
		t.Fatal(err)
	}
	rep, err := inspect.Tape(r)
	if err == nil || rep.Events != 1 || rep.Complete {
		t.Errorf("got %v and %s", err, rep.JSON())
	}
}
