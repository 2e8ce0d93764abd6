package analysis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/timeline"
)

const header = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: "%s"}
scope: {provider: eks}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
- {group: policy, version: v1, kind: PodDisruptionBudget, resource: poddisruptionbudgets, namespaced: true}
`

func written(name string, lines ...string) tape {
	text := fmt.Sprintf(header, name) + "--- " + strings.Join(lines, "\n--- ") + "\n"
	return tape{name, func() (*timeline.Reader, error) { return timeline.NewReader(strings.NewReader(text)) }}
}

func nodeLine(at, typ, name, group, image string, cordoned bool) string {
	return fmt.Sprintf(`{"at":%q,"type":%q,"resource":"nodes","name":%q,"uid":"u-%[3]s","rv":"1","object":{"metadata":{"labels":{"eks.amazonaws.com/nodegroup":%q,"eks.amazonaws.com/nodegroup-image":%q}},"spec":{"unschedulable":%v},"status":{"conditions":[{"type":"Ready","status":"True"}]}}}`,
		at, typ, name, group, image, cordoned)
}

func podLine(at, typ, name, node, meta string) string {
	return fmt.Sprintf(`{"at":%q,"type":%q,"resource":"pods","namespace":"shop","name":%q,"uid":"u-%[3]s","rv":"1","object":{"metadata":{"labels":{"app":"web"}%s},"spec":{"nodeName":%q},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}}`,
		at, typ, name, meta, node)
}

const (
	nodesListed = `{"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}`
	podsListed  = `{"at":"0s","type":"SYNC","resource":"pods","rv":"1"}`
	leaves      = `,"deletionTimestamp":"2026-11-20T22:00:30Z","deletionGracePeriodSeconds":30`
)

// A tape that begins in the middle of a drain has no beginning of that drain.
func TestATapeThatBeginsInTheMiddle(t *testing.T) {
	a := written("middle",
		nodeLine("0s", "ADDED", "a", "g", "old", true), nodeLine("0s", "ADDED", "b", "g", "new", false), nodesListed,
		podLine("0s", "ADDED", "web-0", "a", leaves), podsListed,
		podLine("10s", "DELETED", "web-0", "a", leaves),
		`{"at":"40s","type":"DELETED","resource":"nodes","name":"a","rv":"9"}`).analyse(t, false)
	n := a.Nodes[0]
	if n.Cordoned != nil || n.DrainBegan != nil && n.DrainBegan.At == 0 || n.Joined != nil || n.Ready != nil {
		t.Errorf("got %+v, want neither join nor cordon", n)
	}
	if n.Terminated == nil || n.Terminated.Line != 15 {
		t.Errorf("terminated %v, want at line 15", n.Terminated)
	}
}

// A tape without a roll has none, and nothing is wrong on it.
func TestATapeWithoutARoll(t *testing.T) {
	a := written("rest", nodeLine("0s", "ADDED", "a", "g", "old", false), nodesListed, `{"at":"3600s","type":"END","events":3}`).analyse(t, true)
	if len(a.Rolls) != 0 || len(a.Findings) != 0 || !a.Tape.Complete {
		t.Errorf("got %+v", a)
	}
	if got := text(t, a); !strings.Contains(got, "nothing was in the way") || !strings.Contains(got, "no roll found") {
		t.Errorf("got %s", got)
	}
}

// A node that was cordoned and uncordoned, an hour before the roll or without one, is no part of a roll.
func TestANodeThatWasLookedAfter(t *testing.T) {
	looked := []string{
		nodeLine("0s", "ADDED", "a", "g", "old", false), nodeLine("0s", "ADDED", "b", "g", "old", false), nodesListed,
		nodeLine("10s", "MODIFIED", "a", "g", "old", true), nodeLine("100s", "MODIFIED", "a", "g", "old", false),
	}
	if a := written("looked", looked...).analyse(t, false); len(a.Rolls) != 0 {
		t.Errorf("alone: got %+v, want no roll", a.Rolls)
	}
	a := written("later", append(looked,
		nodeLine("3600s", "ADDED", "c", "g", "new", false), nodeLine("3610s", "ADDED", "d", "g", "new", false),
		nodeLine("3620s", "MODIFIED", "a", "g", "old", true), nodeLine("3630s", "MODIFIED", "b", "g", "old", true),
		`{"at":"3640s","type":"DELETED","resource":"nodes","name":"a","rv":"9"}`,
		`{"at":"3650s","type":"DELETED","resource":"nodes","name":"b","rv":"9"}`)...).analyse(t, false)
	if len(a.Rolls) != 1 || a.Rolls[0].Start.At.Seconds() != 3600 || a.Rolls[0].Outcome != analysis.Complete || a.Rolls[0].Replaced != 2 {
		t.Errorf("before a roll: got %+v, want one from 3600s, complete, of two nodes", a.Rolls)
	}
}

// Ten groups that roll at once are ten rolls, each with a path of its own.
func TestTenRollsAtOnce(t *testing.T) {
	var lines []string
	for i := range 10 {
		lines = append(lines, nodeLine("0s", "ADDED", fmt.Sprint("a", i), fmt.Sprint("g", i), "old", false))
	}
	lines = append(lines, nodesListed)
	for i := range 10 {
		lines = append(lines, nodeLine(fmt.Sprint(10+i, "s"), "ADDED", fmt.Sprint("b", i), fmt.Sprint("g", i), "new", false))
	}
	for i := range 10 {
		lines = append(lines, fmt.Sprintf(`{"at":"%ds","type":"DELETED","resource":"nodes","name":"a%d","rv":"9"}`, 60+i, i))
	}
	a := written("ten", lines...).analyse(t, false)
	if len(a.Rolls) != 10 {
		t.Fatalf("%d rolls, want 10", len(a.Rolls))
	}
	paths(t, a)
	for i, r := range a.Rolls {
		if r.Group != fmt.Sprint("g", i) || r.Outcome != analysis.Complete || r.Replaced != 1 || r.Left != 0 {
			t.Errorf("roll %d: %+v", i, r)
		}
	}
}

// What is missing in a gap is said to be.
func TestAGap(t *testing.T) {
	a := written("gap", nodeLine("0s", "ADDED", "a", "g", "old", false), nodesListed,
		`{"at":"5s","type":"GAP","resource":"nodes","rv":"3","reason":"410"}`,
		`{"at":"9s","type":"DELETED","resource":"nodes","name":"a"}`, nodeLine("9s", "ADDED", "b", "g", "new", false),
		`{"at":"9s","type":"SYNC","resource":"nodes","rv":"9"}`).analyse(t, false)
	if len(a.Tape.Gaps) != 1 || a.Tape.Gaps[0].At.Seconds() != 5 || a.Tape.Complete {
		t.Errorf("got %+v", a.Tape)
	}
	found := false
	for _, f := range a.Findings {
		found = found || f.Kind == analysis.FindGap
	}
	if !found {
		t.Errorf("no finding of the gap: %+v", a.Findings)
	}
}

// Any beginning of a recording is a tape, and what it shows so far adds up.
func TestTornTapes(t *testing.T) {
	text, err := os.ReadFile("../../examples/stuck-drain-force.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for n := 40; n < len(lines); n += 7 {
		torn := append(bytes.Join(lines[:n], nil), lines[n][:len(lines[n])/2]...)
		r, err := timeline.NewReader(bytes.NewReader(torn))
		if err != nil {
			t.Fatal(err)
		}
		a, err := analysis.Tape(r, options(t, r))
		if unmatched := (*analysis.UnmatchedError)(nil); errors.As(err, &unmatched) {
			continue // no node of the group yet
		}
		if err != nil {
			t.Fatal(n, err)
		}
		paths(t, a)
	}
}

// Names and messages stay text: nothing of them acts on a terminal, and nothing is lost in the JSON.
func TestHostileNamesStayText(t *testing.T) {
	evil := "\x1b]0;owned\x07<script>\u202e"
	quoted, _ := json.Marshal(evil)
	owned := `,"ownerReferences":[{"kind":"StatefulSet","name":"EVIL","controller":true}]`
	lines := []string{
		nodeLine("0s", "ADDED", "EVIL", "EVIL", "old", false), nodesListed, podLine("0s", "ADDED", "EVIL", "EVIL", owned), podsListed,
		`{"at":"1s","type":"MARK","name":"EVIL","reason":"EVIL"}`,
		`{"at":"2s","type":"GAP","resource":"nodes","reason":"EVIL"}`, nodeLine("3s", "ADDED", "b", "EVIL", "new", false),
		`{"at":"4s","type":"SYNC","resource":"nodes","rv":"9"}`, nodeLine("5s", "MODIFIED", "EVIL", "EVIL", "old", true),
		`{"at":"6s","type":"REFUSED","resource":"pods","namespace":"shop","name":"EVIL","budget":"EVIL","reason":"EVIL"}`,
		podLine("60s", "DELETED", "EVIL", "EVIL", owned+leaves),
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "EVIL", strings.Trim(string(quoted), `"`))
	}
	a := written("hostile", lines...).analyse(t, true)
	for _, got := range []string{text(t, a), string(a.AppendJSON(nil))} {
		if strings.ContainsAny(got, "\x1b\x07\u202e") || strings.Count(got, "owned") < 6 {
			t.Errorf("got %q", got)
		}
	}
	var read struct {
		Tape struct {
			Marks []struct{ Name string }
		}
		Rolls     []struct{ Group string }
		Nodes     []struct{ Name, Group string }
		Pods      []struct{ Name string }
		Workloads []struct{ Name string }
		Budgets   []struct{ Name string }
		Findings  []struct{ Object string }
	}
	if err := json.Unmarshal(a.AppendJSON(nil), &read); err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{
		read.Tape.Marks[0].Name, read.Rolls[0].Group, read.Nodes[0].Name, read.Nodes[0].Group, read.Pods[0].Name, read.Workloads[0].Name,
		read.Budgets[0].Name, strings.TrimPrefix(read.Findings[0].Object, "PodDisruptionBudget/shop/"),
	} {
		if got != evil {
			t.Errorf("read back %q, want %q", got, evil)
		}
	}
}

// The JSON is one that encoding/json takes as it is, every field in its place.
func TestJSON(t *testing.T) {
	a := recordings(t)[1].analyse(t, true)
	line := a.AppendJSON(nil)
	if bytes.ContainsRune(line, '\n') || !json.Valid(line) {
		t.Fatalf("got %.200s", line)
	}
	whole, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var one, other any
	if err := json.Unmarshal(line, &one); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(whole, &other); err != nil || fmt.Sprint(one) != fmt.Sprint(other) {
		t.Errorf("AppendJSON and MarshalJSON differ: %v", err)
	}
}

// Any part of a tape is a tape: begun in the middle of a roll or cut off there, what it shows adds up.
func TestPartsOfTapes(t *testing.T) {
	for _, tp := range everyTape(t) {
		t.Run(tp.name, func(t *testing.T) {
			t.Parallel()
			length := tp.analyse(t, false).Tape.Duration
			for part := range 4 {
				fifth := length / 5
				from, to := time.Duration(part)*fifth, time.Duration(part+2)*fifth
				cut := tape{tp.name, func() (*timeline.Reader, error) {
					r, err := tp.open()
					if err != nil {
						return nil, err
					}
					var text bytes.Buffer
					header, events := timeline.Window(from, to)(r.Header(), r.All())
					w, err := timeline.NewWriter(&text, *header)
					if err != nil {
						return nil, err
					}
					for ev, err := range events {
						if err == nil {
							err = w.Write(ev)
						}
						if err != nil {
							return nil, err
						}
					}
					if err := errors.Join(w.Close(), r.Close()); err != nil {
						return nil, err
					}
					return timeline.NewReader(&text)
				}}
				r, err := cut.open()
				if err != nil {
					t.Fatal(err)
				}
				a, err := analysis.Evaluated(r, options(t, r))
				if unmatched := (*analysis.UnmatchedError)(nil); errors.As(err, &unmatched) {
					continue
				}
				if err != nil {
					t.Fatal(part, err)
				}
				paths(t, a)
			}
		})
	}
}
