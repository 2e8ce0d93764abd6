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

// That pods had two budgets, and which, is told when they are gone as well.
func TestPodsWithTwoBudgets(t *testing.T) {
	a := written("double", append(start("one", "two"),
		nodeLine("5s", "MODIFIED", "a", "g", "old", true), strings.Replace(refusal("10s", "web-0"), `"web"`, `"one"`, 1),
		ready("60s", "MODIFIED", "web-0", "a", "True", leaves),
		ready("61s", "DELETED", "web-0", "a", "True", leaves), deletedNode("70s", "a"))...).analyse(t, false)
	if f := found(a, analysis.FindBudgetHeld); f == nil || !strings.Contains(f.Text, "more than one budget (one and two)") || !strings.Contains(f.Remedy, "only one of one and two") {
		t.Errorf("got %+v, want a finding of the budgets one and two", f)
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
	f := found(a, analysis.FindBudgetHeld)
	if f == nil || len(a.Rolls) != 2 || f.From.At != 110*time.Second || f.Node != "c" || !slices.Equal(f.Pods, []string{"shop/web-1"}) ||
		!strings.Contains(f.Text, "held shop/web-1 on c for 1m50s") || f.Lines[0] <= a.Rolls[0].End.Line {
		t.Errorf("got %+v of %+v, want 110s of the second roll, and nothing of the first", f, a.Rolls)
	}
}

// budgetAt is a later line of the budget web, with other figures.
func budgetAt(at string, allowed, healthy, desired int) string {
	return strings.NewReplacer(
		`"at":"0s","type":"ADDED"`, fmt.Sprintf(`"at":%q,"type":"MODIFIED"`, at),
		`"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1`, fmt.Sprintf(`"disruptionsAllowed":%d,"currentHealthy":%d,"desiredHealthy":%d`, allowed, healthy, desired),
	).Replace(budgetLine("web"))
}

// What a budget wanted and had is told of the longest time in which it held something up.
func TestTheFiguresOfTheLongestHold(t *testing.T) {
	a := written("figures", append(start("web"),
		ready("1s", "ADDED", "web-1", "a", "True", ""), budgetAt("1s", 0, 3, 2), nodeLine("5s", "MODIFIED", "a", "g", "old", true), refusal("10s", "web-0"),
		budgetAt("12s", 1, 3, 2), ready("13s", "MODIFIED", "web-0", "a", "True", leaves), ready("14s", "DELETED", "web-0", "a", "True", leaves),
		budgetAt("20s", 0, 0, 2), budgetAt("320s", 1, 3, 2), ready("321s", "MODIFIED", "web-1", "a", "True", leaves),
		ready("322s", "DELETED", "web-1", "a", "True", leaves), deletedNode("330s", "a"))...).analyse(t, false)
	if f := found(a, analysis.FindBudgetHeld); f == nil || !strings.Contains(f.Text, "(needs 2 healthy pods and has 0)") || !strings.Contains(f.Remedy, "aren't Ready") {
		t.Errorf("got %+v, want what it had in the 300s", f)
	}
}

// A budget that let go before the first eviction made the roll longer: the drainer asks again only after a while.
func TestABudgetThatLetsGoBeforeTheDrain(t *testing.T) {
	a := written("before", nodeLine("0s", "ADDED", "a", "g", "old", false), nodesListed, budgetLine("web"), ready("0s", "ADDED", "web-0", "a", "True", ""), podsListed,
		nodeLine("1s", "ADDED", "b", "g", "new", false), nodeLine("5s", "MODIFIED", "a", "g", "old", true), budgetAt("305s", 1, 1, 1),
		ready("308s", "MODIFIED", "web-0", "a", "True", leaves), ready("310s", "DELETED", "web-0", "a", "True", leaves), deletedNode("320s", "a")).analyse(t, false)
	paths(t, a)
	if len(a.Rolls) != 1 || !slices.ContainsFunc(a.Rolls[0].Path, func(s analysis.Step) bool {
		return s.Wait == analysis.WaitBudget && s.Duration == 300*time.Second
	}) {
		t.Errorf("got %+v, want a step of 300s for the budget", a.Rolls)
	}
	if len(a.Findings) == 0 || a.Findings[0].Kind != analysis.FindBudgetHeld || !a.Findings[0].Delays || a.Findings[0].Cost != 300*time.Second {
		t.Errorf("got %+v, want the budget's 300s first", a.Findings)
	}
}

// While the lists are read again after a gap, a node that is found gone before its pods are has left none, and lost none.
func TestNodesAndPodsThatWentInAGap(t *testing.T) {
	a := written("gaps", append(start(),
		`{"at":"5s","type":"GAP","resource":"nodes","rv":"3","reason":"410"}`, `{"at":"5s","type":"GAP","resource":"pods","rv":"3","reason":"410"}`,
		`{"at":"9s","type":"DELETED","resource":"nodes","name":"a"}`, `{"at":"9s","type":"SYNC","resource":"nodes","rv":"9"}`,
		`{"at":"9s","type":"DELETED","resource":"pods","namespace":"shop","name":"web-0"}`, `{"at":"9s","type":"SYNC","resource":"pods","rv":"9"}`)...).analyse(t, false)
	gaps := 0
	for _, f := range a.Findings {
		if f.Kind == analysis.FindGap {
			gaps++
		}
	}
	if w := a.Workloads[0]; found(a, analysis.FindNodeVanished) != nil || w.Lost != 0 || w.Deleted != 1 || gaps != 2 {
		t.Errorf("got %+v of %+v, want a deleted pod and two gaps", a.Findings, w)
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

// A pod that has done its work isn't missing, and isn't lost with its node.
func TestPodsThatHaveDoneTheirWork(t *testing.T) {
	pod := func(at, typ, name, kind, phase, status string) string {
		line := podLine(at, typ, name, "a", `,"ownerReferences":[{"kind":"`+kind+`","name":"etl","controller":true}]`)
		return strings.NewReplacer(`"phase":"Running"`, `"phase":"`+phase+`"`, `"Ready","status":"True"`, `"Ready","status":"`+status+`"`).Replace(line)
	}
	nodes := []string{nodeLine("0s", "ADDED", "a", "g", "old", false), nodeLine("0s", "ADDED", "b", "g", "old", false), nodesListed}
	steps := append(slices.Clone(nodes), pod("0s", "ADDED", "etl-0", "Workflow", "Running", "True"), podsListed, pod("60s", "MODIFIED", "etl-0", "Workflow", "Succeeded", "False"))
	end := `{"at":"3600s","type":"MARK","name":"later"}`
	if f := found(written("done", append(slices.Clone(steps), end)...).analyse(t, false), analysis.FindUnavailable); f != nil {
		t.Errorf("got %+v of a workflow that is over", f)
	}
	a := written("next", append(slices.Clone(steps),
		pod("100s", "ADDED", "etl-1", "Workflow", "Running", "False"), pod("130s", "MODIFIED", "etl-1", "Workflow", "Running", "True"),
		pod("160s", "MODIFIED", "etl-1", "Workflow", "Succeeded", "False"), end)...).analyse(t, false)
	if f := found(a, analysis.FindUnavailable); f == nil || f.Cost != 30*time.Second || f.From.At != 100*time.Second || f.To.At != 130*time.Second {
		t.Errorf("got %+v of its next pod, want 30s from 100s", f)
	}
	a = written("collected", append(slices.Clone(nodes), pod("0s", "ADDED", "etl-0", "Job", "Succeeded", "False"), podsListed, deletedNode("60s", "a"),
		`{"at":"100s","type":"DELETED","resource":"pods","namespace":"shop","name":"etl-0","rv":"9"}`)...).analyse(t, false)
	if w := a.Workloads[0]; w.Lost != 0 || w.Deleted != 1 {
		t.Errorf("got %+v, want a deleted pod and no lost one", w)
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

// A roll of a group that was resized meanwhile ends with its last transition, though only rest shows that it has ended.
func TestARollOfAGroupThatWasResized(t *testing.T) {
	for name, later := range map[string]string{
		"a line of nodes": `{"at":"400s","type":"SYNC","resource":"nodes","rv":"99"}`,
		"a line of pods":  podLine("400s", "ADDED", "web-0", "b1", ""),
	} {
		a := written("resized", nodeLine("0s", "ADDED", "a1", "g", "1", false), nodeLine("0s", "ADDED", "a2", "g", "1", false), nodesListed,
			nodeLine("10s", "ADDED", "b1", "g", "2", false), nodeLine("11s", "ADDED", "b2", "g", "2", false), nodeLine("12s", "ADDED", "b3", "g", "2", false),
			deletedNode("20s", "a1"), deletedNode("30s", "a2"), later).analyse(t, false)
		paths(t, a)
		if len(a.Rolls) != 1 || a.Rolls[0].Outcome != analysis.Complete || a.Rolls[0].End.At != 30*time.Second {
			t.Errorf("%s: got %+v, want a complete roll up to 30s", name, a.Rolls)
		}
		if f := found(a, analysis.FindControllerIdle); f != nil && f.Cost > 20*time.Second {
			t.Errorf("%s: got %+v, want at most the roll's 20s", name, f)
		}
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
