package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// ready is a pod's line with a condition Ready of a status, of a StatefulSet.
func ready(at, typ, name, node, status, meta string) string {
	line := podLine(at, typ, name, node, `,"ownerReferences":[{"kind":"StatefulSet","name":"web","controller":true}]`+meta)
	return strings.Replace(line, `"Ready","status":"True"`, `"Ready","status":"`+status+`"`, 1)
}

// refusal is a REFUSED line: the server refused to evict a pod.
func refusal(at, pod string) string {
	return fmt.Sprintf(`{"at":%q,"type":"REFUSED","resource":"pods","namespace":"shop","name":%q,"budget":"web","by":"kubectl","reason":"The disruption budget web needs 1 healthy pods and has 1 currently"}`, at, pod)
}

func budgetLine(name string) string {
	return fmt.Sprintf(`{"at":"0s","type":"ADDED","resource":"poddisruptionbudgets","namespace":"shop","name":%q,"uid":"u-%[1]s","rv":"1","object":{"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}},"unhealthyPodEvictionPolicy":"AlwaysAllow"},"status":{"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}}}`, name)
}

// start is a node with a pod of app web, and a new node.
func start(budgets ...string) []string {
	lines := []string{nodeLine("0s", "ADDED", "a", "g", "old", false), nodeLine("0s", "ADDED", "b", "g", "new", false), nodesListed}
	for _, b := range budgets {
		lines = append(lines, budgetLine(b))
	}
	return append(lines, ready("0s", "ADDED", "web-0", "a", "True", ""), podsListed)
}

func deletedNode(at, name string) string {
	return fmt.Sprintf(`{"at":%q,"type":"DELETED","resource":"nodes","name":%q,"rv":"9"}`, at, name)
}

// budgetWaits are the waits of the first node for budgets.
func budgetWaits(a *analysis.Analysis) (all []analysis.Wait) {
	for _, w := range a.Nodes[0].Waits {
		if w.Kind == analysis.WaitBudget {
			all = append(all, w)
		}
	}
	return all
}

func found(a *analysis.Analysis, kind analysis.FindingKind) *analysis.Finding {
	for i := range a.Findings {
		if a.Findings[i].Kind == kind {
			return &a.Findings[i]
		}
	}
	return nil
}

// A pod that a budget refused while it was ready has waited for it, also if it may go at last because it isn't ready.
func TestAPodThatBecomesUnreadyHasWaited(t *testing.T) {
	a := written("unready", append(start("web"),
		nodeLine("5s", "MODIFIED", "a", "g", "old", true), refusal("10s", "web-0"),
		ready("300s", "MODIFIED", "web-0", "a", "False", ""), ready("301s", "MODIFIED", "web-0", "a", "False", leaves),
		ready("302s", "DELETED", "web-0", "a", "False", leaves), deletedNode("310s", "a"))...).analyse(t, false)
	if w := budgetWaits(a); len(w) != 1 || w[0].Duration != 290*time.Second || w[0].To.At != 300*time.Second {
		t.Errorf("waits %+v, want one of 290s to 300s", w)
	}
}

// A node that is cordoned again is drained anew: its pods' waits are those of the second drain, their workload has both.
func TestASecondDrainBeginsAnew(t *testing.T) {
	a := written("twice", append(start("web"),
		nodeLine("5s", "MODIFIED", "a", "g", "old", true), refusal("10s", "web-0"), nodeLine("60s", "MODIFIED", "a", "g", "old", false),
		nodeLine("100s", "MODIFIED", "a", "g", "old", true), refusal("110s", "web-0"), ready("120s", "MODIFIED", "web-0", "a", "True", leaves),
		ready("121s", "DELETED", "web-0", "a", "True", leaves), deletedNode("130s", "a"))...).analyse(t, false)
	// The first of them is of the node while it was only cordoned again, which the feed infers.
	if w := budgetWaits(a); len(w) != 2 || w[1].From.At != 110*time.Second || w[1].Duration != 10*time.Second {
		t.Errorf("waits %+v, want the second to be of 10s from 110s", w)
	}
	if got := a.Workloads[0].Refused; got != 60*time.Second {
		t.Errorf("refused for %s, want 60s", got)
	}
}

// That pods had two budgets is told when they are gone as well.
func TestPodsWithTwoBudgets(t *testing.T) {
	a := written("double", append(start("one", "two"),
		nodeLine("5s", "MODIFIED", "a", "g", "old", true), strings.Replace(refusal("10s", "web-0"), `"web"`, `"one"`, 1),
		ready("60s", "MODIFIED", "web-0", "a", "True", leaves),
		ready("61s", "DELETED", "web-0", "a", "True", leaves), deletedNode("70s", "a"))...).analyse(t, false)
	if f := found(a, analysis.FindBudgetHeld); f == nil || !strings.Contains(f.Text, "more than one budget") {
		t.Errorf("got %+v, want a finding of two budgets", f)
	}
}

// Where the tape has refusals and no budgets, the first finding names the budget that the server named, in its words.
func TestRefusalsWithoutABudget(t *testing.T) {
	a := written("refused", append(start(),
		nodeLine("5s", "MODIFIED", "a", "g", "old", true), refusal("10s", "web-0"), refusal("15s", "web-0"),
		ready("60s", "MODIFIED", "web-0", "a", "True", leaves), ready("61s", "DELETED", "web-0", "a", "True", leaves), deletedNode("70s", "a"))...).analyse(t, false)
	first, _, _ := strings.Cut(text(t, a), "\n")
	if want := "PodDisruptionBudget shop/web held shop/web-0 on a for 50s: it allows no disruption: The disruption budget web needs 1"; !strings.HasPrefix(first, want) {
		t.Errorf("begins with %q, want %q", first, want)
	}
	if w := budgetWaits(a); len(w) != 1 || w[0].Duration != 50*time.Second || a.Budgets[0].Refusals != 2 {
		t.Errorf("waits %+v and budgets %+v, want one of 50s and 2 refusals", w, a.Budgets)
	}
}

// A budget that delays several rolls is told of with the one that it delays most.
func TestTheRollThatABudgetDelaysMost(t *testing.T) {
	group := func(group, old, young, pod string, at int) []string {
		s := func(by int) string { return fmt.Sprint(at+by, "s") }
		return []string{
			nodeLine(s(1), "ADDED", young, group, "new", false), nodeLine(s(5), "MODIFIED", old, group, "old", true), refusal(s(10), pod),
			ready(s(20+at), "MODIFIED", pod, old, "True", leaves), ready(s(20+at), "DELETED", pod, old, "True", leaves), deletedNode(s(25+at), old),
		}
	}
	lines := []string{nodeLine("0s", "ADDED", "a", "g", "old", false), nodeLine("0s", "ADDED", "c", "h", "old", false), nodesListed, budgetLine("web"),
		ready("0s", "ADDED", "web-0", "a", "True", ""), ready("0s", "ADDED", "web-1", "c", "True", ""), podsListed}
	a := written("delays", append(append(lines, group("g", "a", "b", "web-0", 0)...), group("h", "c", "d", "web-1", 100)...)...).analyse(t, false)
	if f := found(a, analysis.FindBudgetHeld); f == nil || len(a.Rolls) != 2 || f.From.At != 110*time.Second || !strings.Contains(f.Text, "for 1m50s") {
		t.Errorf("got %+v of %+v, want 110s of the second roll", f, a.Rolls)
	}
}

// A pod's name is once among those that waited, also if two pods had it one after the other.
func TestAPodThatCameAgainIsNamedOnce(t *testing.T) {
	again := strings.NewReplacer("u-web-0", "u-again")
	a := written("again", append(start(),
		nodeLine("5s", "MODIFIED", "a", "g", "old", true), refusal("10s", "web-0"), ready("20s", "MODIFIED", "web-0", "a", "True", leaves),
		ready("25s", "DELETED", "web-0", "a", "True", leaves), again.Replace(ready("26s", "ADDED", "web-0", "a", "True", "")),
		again.Replace(ready("30s", "MODIFIED", "web-0", "a", "True", leaves)), again.Replace(ready("40s", "DELETED", "web-0", "a", "True", leaves)),
		deletedNode("50s", "a"))...).analyse(t, false)
	for _, w := range a.Nodes[0].Waits {
		if len(w.Pods) > 0 && !slices.Equal(w.Pods, []string{"shop/web-0"}) {
			t.Errorf("%s waits for %v, want each pod once", w.Kind, w.Pods)
		}
	}
}

// A workload that was scaled to nothing isn't unavailable from then on; one whose pod is gone for a while is, with the lines that
// prove it.
func TestUnavailable(t *testing.T) {
	gone := []string{ready("10s", "DELETED", "web-0", "a", "True", ""), deletedNode("90s", "a")}
	a := written("scaled", append(start(), gone...)...).analyse(t, false)
	if f := found(a, analysis.FindUnavailable); f != nil {
		t.Errorf("got %+v of a workload that was scaled to nothing", f)
	}
	a = written("restarted", append(start(), gone[0], strings.ReplaceAll(ready("40s", "ADDED", "web-0", "b", "True", ""), "u-web-0", "u-again"), gone[1])...).analyse(t, false)
	f := found(a, analysis.FindUnavailable)
	if f == nil || f.Cost != 30*time.Second || f.From.At != 10*time.Second || f.To.At != 40*time.Second || !slices.Equal(f.Lines, []int{f.From.Line, f.To.Line}) {
		t.Errorf("got %+v, want 30s from 10s", f)
	}
}

// Restarts are proved by the lines that show them.
func TestRestartsHaveTheirLines(t *testing.T) {
	counted := func(at string, n int) string {
		return strings.Replace(ready(at, "MODIFIED", "web-0", "a", "True", ""), `"phase"`, fmt.Sprintf(`"containerStatuses":[{"restartCount":%d}],"phase"`, n), 1)
	}
	a := written("crashing", append(start(), counted("10s", 1), counted("20s", 2), counted("30s", 3), `{"at":"90s","type":"MARK","name":"later"}`)...).analyse(t, false)
	if f := found(a, analysis.FindRestarts); f == nil || f.From.At != 10*time.Second || f.To.At != 30*time.Second || len(f.Lines) != 3 {
		t.Errorf("got %+v, want three lines from 10s to 30s", f)
	}
}

// Each roll of a tape has the nodes left that it was to replace, those of an earlier roll among them.
func TestNodesLeftByTwoRolls(t *testing.T) {
	a := written("two", nodeLine("0s", "ADDED", "a1", "g", "1", false), nodeLine("0s", "ADDED", "a2", "g", "1", false), nodesListed,
		nodeLine("10s", "ADDED", "b1", "g", "2", false), nodeLine("11s", "ADDED", "b2", "g", "2", false), deletedNode("20s", "a1"), deletedNode("30s", "a2"),
		nodeLine("100s", "ADDED", "c1", "g", "3", false), deletedNode("110s", "b1"), `{"at":"120s","type":"MARK","name":"later"}`).analyse(t, false)
	if len(a.Rolls) != 2 || a.Rolls[0].Left != 0 || a.Rolls[0].Outcome != analysis.Complete || a.Rolls[1].Left != 1 {
		t.Errorf("got %+v, want a complete roll and one with one node left", a.Rolls)
	}
}

// The target that was asked for is that of the rolls as well.
func TestTheTargetOfRolls(t *testing.T) {
	tp := written("target", nodeLine("0s", "ADDED", "a", "g", "1", false), nodesListed, nodeLine("10s", "ADDED", "b", "g", "2", false), deletedNode("20s", "a"))
	for target, want := range map[string]analysis.Outcome{"2": analysis.Complete, "9": analysis.Unfinished} {
		r, err := tp.open()
		if err != nil {
			t.Fatal(err)
		}
		o := options(t, r)
		o.Target.Image = target
		a, err := analysis.Tape(r, o)
		if err != nil || len(a.Rolls) != 1 || a.Rolls[0].Outcome != want {
			t.Errorf("target %s: %v, %+v, want %s", target, err, a, want)
		}
	}
}
