package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/policy"
)

func TestMain(m *testing.M) { golden.Main(m) }

func at(d time.Duration, line int) *analysis.Moment { return &analysis.Moment{At: d, Line: line} }

// stuck is a roll that a budget held up.
func stuck() *analysis.Analysis {
	drain, short := 12*time.Minute+3*time.Second, 40*time.Second
	return &analysis.Analysis{
		Tape: analysis.About{Name: "stuck", Duration: 20 * time.Minute, Events: 300, Complete: true},
		Rolls: []analysis.Roll{{
			Group: "shop", Start: *at(time.Second, 12), End: *at(20*time.Minute, 301), Duration: 20 * time.Minute,
			Outcome: analysis.Unfinished, Replaced: 1, Joined: 2, Left: 1,
		}},
		Nodes: []analysis.Node{
			{
				Name: "old-1", Role: analysis.RoleOld, DrainBegan: at(2*time.Minute, 20), Drained: at(160*time.Second, 60), Drain: &short,
			},
			{
				Name: "old-2", Role: analysis.RoleOld, DrainBegan: at(3*time.Minute, 70), Drained: at(15*time.Minute, 120), Drain: &drain,
				Waits: []analysis.Wait{
					{Kind: analysis.WaitGrace, Duration: time.Second, Object: "Pod/shop/web-1", From: *at(0, 1)},
					{Kind: analysis.WaitBudget, Duration: 9 * time.Minute, Object: "PodDisruptionBudget/shop/web", From: *at(4*time.Minute, 77)},
				},
			},
			{Name: "new-1", Role: analysis.RoleNew},
		},
		Workloads: []analysis.Workload{
			{Kind: "Deployment", Namespace: "shop", Name: "web", Replicas: 3, LeastAvailable: 1, LeastAt: at(5*time.Minute, 80), Wanted: 2, BelowWanted: time.Minute},
			{Kind: "Deployment", Namespace: "shop", Name: "one", Replicas: 1, LeastAvailable: 1},
		},
		Budgets: []analysis.Budget{{Namespace: "shop", Name: "web", Held: 9 * time.Minute, HeldNodes: []string{"old-2"}}},
		Findings: []analysis.Finding{{
			Kind: analysis.FindBudgetHeld, Cost: 9 * time.Minute, Delays: true, Object: "PodDisruptionBudget/shop/web",
			From: *at(4*time.Minute, 77), To: *at(13*time.Minute, 110), Text: "held \x1b[31m", Lines: []int{77},
		}},
	}
}

func load(t *testing.T, rules string) *policy.Policy {
	t.Helper()
	p, err := policy.Load("test.yaml", []byte("apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: test}\nrules:\n"+rules))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestShippedPoliciesOnAStuckRoll(t *testing.T) {
	var b strings.Builder
	for _, name := range policy.Shipped() {
		p, err := policy.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name || p.Description == "" {
			t.Errorf("policy %s: found the name %q and the description %q: want both", name, p.Name, p.Description)
		}
		res := p.Check(stuck())
		if err := res.Text(&b); err != nil {
			t.Fatal(err)
		}
	}
	golden.Assert(t, "stuck", b.String())
}

// TestShippedPoliciesOnAHealthyRoll has workloads whose pods end as they should: a Job's, static pods, and a Deployment that is
// scaled to nothing.
func TestShippedPoliciesOnAHealthyRoll(t *testing.T) {
	a := &analysis.Analysis{Workloads: []analysis.Workload{
		{Kind: "Job", Namespace: "shop", Name: "report", Replicas: 3, LeastAt: at(time.Minute, 9)},
		{Kind: "Pod", Namespace: "kube-system", Name: "kube-proxy-node-1", Replicas: 1, Lost: 1, LeastAt: at(time.Minute, 9)},
		{Kind: "DaemonSet", Namespace: "kube-system", Name: "cni", Replicas: 1, Lost: 1, LeastAt: at(time.Minute, 9)},
		{Kind: "Deployment", Namespace: "shop", Name: "none", LeastAt: at(0, 2)},
	}}
	for _, name := range []string{"available", "budgets-kept"} {
		p, err := policy.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range p.Check(a).Rules {
			for _, v := range rule.Violations {
				t.Errorf("%s: found %s: want none", rule.Rule, v.String())
			}
		}
	}
	a.Workloads = []analysis.Workload{{Kind: "StatefulSet", Namespace: "shop", Name: "db", Replicas: 1, Lost: 1, LeastAt: at(time.Minute, 9)}}
	for name, rule := range map[string]string{"available": "never-without-pods", "budgets-kept": "nothing-lost"} {
		p, err := policy.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Check(a).Rules {
			if r.Rule == rule && len(r.Violations) != 1 {
				t.Errorf("%s of a StatefulSet without pods: found %+v: want a violation", rule, r.Violations)
			}
		}
	}
}

// TestExpressions evaluates one expression over each node of stuck.
func TestExpressions(t *testing.T) {
	for _, c := range []struct{ over, expression, want string }{
		{"nodes", "node.drain <= duration('10m')", "error: violated by 1 of 2 nodes; found node.drain is 12m3s: want node.drain <= duration(\"10m\")"},
		{"nodes", "node.join <= duration('10m')", "applied to nothing: of 3 nodes 3 had no join"},
		{"nodes", "node.role == 'old' || node.drain < duration('1s')", "holds for 2 nodes"},
		{"nodes", "has(node.drain) == (node.role == 'old')", "holds for 3 nodes"},
		{"nodes", "node.?drain.orValue(duration('0s')) < duration('1h')", "holds for 3 nodes"},
		{"nodes", "!node.waits.exists(w, w.kind == 'budget' && w.duration > duration('5m'))", "error: violated by 1 of 3 nodes; found node.waits is [grace Pod/shop/web-1 1s, budget PodDisruptionBudget/shop/web 9m0s]"},
		{"nodes", "node.waits.map(w, w.duration).sum() < duration('9m')", "error: violated by 1 of 3 nodes; found node.waits.map(w, w.duration).sum() is 9m1s"},
		{"nodes", "node.waits.map(w, w.duration).max() < duration('9m')", "error: violated by 3 of 3 nodes; found it can't be evaluated: max called on empty list"},
		{"workloads", "workload.leastAvailable >= workload.replicas - 1", "found workload.leastAvailable is 1, workload.replicas - 1 is 2: want"},
		{"workloads", "workload.leastAt.at > duration('1m') && workload.leastAt.line < 10", "error: violated by 1 of 1 workload; found workload.leastAt.line is 80: want workload.leastAt.line < 10"},
		{"workloads", "workload.kind.lowerAscii() == 'deployment'", "holds for 2 workloads"},
		{"rolls", "roll.end.at <= tape.duration", "holds for 1 roll"},
		{"tape", "tape.start < timestamp('2026-01-01T00:00:00Z') && size(nodes) == 3", "holds for 1 tape"},
		{"tape", "nodes.filter(n, has(n.drain)).map(n, n.drain).max() < duration('1m')", "is 12m3s"},
		{"findings", "math.greatest(1, 2) == 2 && sets.contains(finding.lines, [77])", "holds for 1 finding"},
		{"tape", "1 / (size(nodes) - 3) == 0", "found it can't be evaluated: division by zero"},
		{"pods", "has(pod.node)", "applied to nothing: the tape has no pods"},
	} {
		res := load(t, "- {name: r, over: "+c.over+", expression: \""+c.expression+"\"}").Check(stuck())
		got := res.Rules[0].Summary()
		for _, v := range res.Rules[0].Violations {
			got += "; found " + v.Found + ": want " + v.Wanted
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: found %s: want %s", c.expression, got, c.want)
		}
	}
}

func TestBadPoliciesAreRefused(t *testing.T) {
	rule := func(s string) string {
		return "apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: test}\nrules:\n- name: r\n" + s
	}
	var b strings.Builder
	for _, text := range []string{
		"", "a: [", "[]", "apiVersion: v1\n", "apiVersion: nodesim.dev/v1\nkind: Scenario\n",
		"apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: test}\nrule: []\n",
		"apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: Test}\nrules: []\n",
		"apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: test}\nrules: []\n",
		rule("") + "---\n{}\n",
		rule(""), rule("  over: node\n"), rule("  over: nodes\n"), rule("  over: nodes\n  over: nodes\n"), rule("  exression: 'true'\n"),
		rule("  expression: true\n"), rule("  expression: &a 'true'\n"), rule("  expression: !!str 'true'\n"),
		rule("  over: nodes\n  expression: node.dran <= duration('10m')\n"),
		rule("  over: nodes\n  expression: |\n    node.role == 'old' &&\n    node.xyzzy\n"),
		rule("  expression: node.drain <= duration('10m')\n"),
		rule("  over: nodes\n  expression: node.drain\n"),
		rule("  over: nodes\n  expression: node.drain <= 10\n"),
		rule("  over: nodes\n  expression: node.drain <= duration('10x')\n"),
		rule("  expression: 'true'\n  messageExpression: '1'\n"),
		rule("  expression: 'true'\n  message: a\n  messageExpression: \"'a'\"\n"),
		rule("  expression: 'true'\n- name: r\n  expression: 'true'\n"),
		rule("  expression: 'true'\n  severity: warn\n"),
		rule("  expression: Node{}.name == ''\n"),
		rule("  expression: " + strings.Repeat("(", 60) + "true" + strings.Repeat(")", 60) + "\n"),
		rule("  expression: " + strings.Repeat("!", 5000) + "true\n"),
		rule("  expression: tape.name.matches('(')\n"),
		rule("  expression: '\"%.999999999f\".format([1.0]) == \"\"'\n"),
	} {
		if _, err := policy.Load("test.yaml", []byte(text)); err != nil {
			b.WriteString(err.Error() + "\n")
		} else {
			b.WriteString("no error: " + text + "\n")
		}
	}
	golden.Assert(t, "bad", b.String())
}

// TestHostileExpressionsEnd has expressions that would take hours, or gigabytes, if nothing bounded them.
func TestHostileExpressionsEnd(t *testing.T) {
	thousand := "lists.range(1000)"
	million := "[" + thousand + "].map(x, " + thousand + ".map(y, x))[0]"
	eight := ".map(x, [x, x, x, x, x, x, x, x])"
	text := func(c string) string { return "'" + strings.Repeat(c, 900) + "'" }
	for _, expression := range []string{
		"lists.range(1000000000).size() > 0",
		thousand + ".map(a, " + thousand + ".map(b, a + b)).size() > 0",
		text("x") + ".replace('x', " + text("y") + ").replace('y', " + text("z") + ").replace('z', " + text("a") + ") == ''",
		"['a']" + strings.Repeat(".map(x, x + x)", 40) + ".size() == 2",
		"[" + thousand + "]" + strings.Repeat(eight, 4) + ".map(x, x == x).size() == 0",
		"[" + thousand + "]" + strings.Repeat(eight, 4) + ".distinct().size() == 1",
		"sets.contains(" + million + ", " + million + ")",
		thousand + ".map(x, " + text("x") + ").join('').matches('(" + strings.Repeat("x+", 300) + ")+y')",
		"'%s'.format([" + million + "].map(x, [x, x, x, x])) == ''",
	} {
		res := load(t, "- {name: r, expression: \""+expression+"\"}").Check(stuck())
		if v := res.Rules[0].Violations; len(v) != 1 || !strings.Contains(v[0].Found, "can't be evaluated") {
			t.Errorf("%.60s: found %+v: want one violation that says what it costs", expression, res.Rules[0])
		}
	}
}

func TestAPolicyMayCostSoMuch(t *testing.T) {
	a := &analysis.Analysis{Nodes: make([]analysis.Node, 40)}
	costly := "lists.range(30).all(i, !'" + strings.Repeat("x", 2500) + "'.contains('" + strings.Repeat("y", 900) + "'))"
	res := load(t, "- {name: r, over: nodes, expression: \""+costly+"\"}").Check(a)
	if last := res.Rules[0].Violations; len(last) == 0 || !strings.Contains(last[len(last)-1].Found, "together cost more than") {
		t.Errorf("found %d violations: want the last to say what the policy costs", len(last))
	}
}

func TestARollOfPodsHasTheNameOfItsScope(t *testing.T) {
	a := stuck()
	a.Rolls[0].Group, a.Rolls[0].Pods = "", "app=web"
	if v := load(t, "- {name: r, over: rolls, expression: 'false'}").Check(a).Rules[0].Violations; len(v) != 1 || v[0].Object != "Roll/app=web" {
		t.Errorf("found %+v: want one of Roll/app=web", v)
	}
}

// TestLinesOfViolations has rules whose failing part names a field that shows in a line of its own.
func TestLinesOfViolations(t *testing.T) {
	a := stuck()
	a.Tape.Gaps = []analysis.Note{{Moment: *at(6*time.Minute, 90), Name: "pods"}, {Moment: *at(7*time.Minute, 95), Name: "nodes"}}
	for _, c := range []struct {
		over, expression string
		line             int
	}{
		{"nodes", "node.drained.line > 0 && node.drainBegan.at < duration('3m')", 70},
		{"nodes", "node.drainBegan.line > 0 && node.drained.at < duration('3m')", 120},
		{"nodes", "node.drainBegan.line > 0 && node.drain < duration('3m')", 120},
		{"rolls", "roll.start.line > 0 && roll.outcome == 'complete'", 301},
		{"tape", "size(tape.gaps) == 0", 90},
		{"tape", "tape.complete && tape.events > 0 && tape.?gaps.orValue([]).size() == 0", 90},
	} {
		v := load(t, "- {name: r, over: "+c.over+", expression: \""+c.expression+"\"}").Check(a).Rules[0].Violations
		if len(v) != 1 || v[0].Moment == nil || v[0].Moment.Line != c.line {
			t.Errorf("%s: found %+v: want one violation on line %d", c.expression, v, c.line)
		}
	}
}

func TestHostileNamesStayText(t *testing.T) {
	a := &analysis.Analysis{Nodes: []analysis.Node{{Name: "a\x1b[31m\n\u202eb"}}}
	res := load(t, "- {name: r, over: nodes, expression: 'false', messageExpression: node.name}").Check(a)
	if got := res.Rules[0].Violations[0].String(); strings.ContainsAny(got, "\x1b\n\u202e") {
		t.Errorf("%q", got)
	}
}

func TestNeedsSeries(t *testing.T) {
	for rules, want := range map[string]bool{
		"- {name: r, over: pods, expression: 'true'}":                                true,
		"- {name: r, expression: size(pods) == 0}":                                   true,
		"- {name: r, over: budgets, expression: 'size(budget.allowed) == 0'}":        true,
		"- {name: r, over: budgets, expression: 'size(budget.pods) == 0'}":           false,
		"- {name: r, expression: 'budgets.all(b, b.healthy.all(l, l.value > 1))'}":   true,
		"- {name: r, expression: 'workloads.all(w, w.leastAvailable > 0)'}":          false,
		"- {name: r, over: findings, expression: 'finding.lines.exists(l, l == 3)'}": false,

		"- {name: r, over: nodes, expression: 'node.?spans.hasValue()'}":                           true,
		"- {name: r, over: nodes, expression: 'node.?drain.hasValue()'}":                           false,
		"- {name: r, over: nodes, expression: 'nodes[?0].?spans.hasValue()'}":                      true,
		"- {name: r, over: nodes, expression: 'nodes[?0].spans.hasValue()'}":                       true,
		"- {name: r, over: nodes, expression: 'nodes[0].name == \"\"'}":                            false,
		"- {name: r, over: nodes, expression: 'dyn(node).spans == []'}":                            true,
		"- {name: r, over: nodes, expression: 'dyn(node).?spans.hasValue()'}":                      true,
		"- {name: r, over: nodes, expression: 'dyn(node)[\"spans\"] == []'}":                       true,
		"- {name: r, over: nodes, expression: 'dyn(node)[?(node.name)].hasValue()'}":               true,
		"- {name: r, over: nodes, expression: 'dyn(node).role == \"old\"'}":                        false,
		"- {name: r, expression: 'dyn(nodes).exists(n, n.spans.size() == 0)'}":                     true,
		"- {name: r, over: nodes, expression: 'optional.of(node).optMap(n, n.?spans).hasValue()'}": true,
	} {
		if got := load(t, rules).NeedsSeries(); got != want {
			t.Errorf("%s: found %v", rules, got)
		}
	}
}

// recorder is a test that keeps what it is told.
type recorder struct{ text string }

func (*recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.text += fmt.Sprintf(format, args...)
}

func TestAssert(t *testing.T) {
	for _, c := range []struct {
		policy string
		a      *analysis.Analysis
		want   string
	}{
		{"whole-tape", stuck(), ""},
		{"available", stuck(), "policy available is violated"},
		{"available", &analysis.Analysis{}, "want a rule that applies to something"},
		{"availabel", stuck(), "did you mean available?"},
		{"none.yaml", stuck(), "no such file"},
	} {
		var got recorder
		policy.Assert(&got, c.a, c.policy)
		if !strings.Contains(got.text, c.want) || c.want == "" && got.text != "" {
			t.Errorf("%s: found %s: want %q", c.policy, got.text, c.want)
		}
	}
}

// Without Series an analysis has no pods, and a rule about them applies to nothing.
func TestAssertWantsSeries(t *testing.T) {
	file := t.TempDir() + "/p.yaml"
	text := `apiVersion: nodesim.dev/v1
kind: Policy
metadata: {name: two}
rules:
- {name: rolls, expression: size(rolls) > 0}
- {name: pods, over: pods, expression: "false"}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		pods []analysis.Pod
		want string
	}{
		{"without series", nil, "policy two: it names pods, spans or levels, which this analysis was made without: want one made with analysis.Options.Series"},
		{"with no pods", []analysis.Pod{}, ""},
		{"with a pod", []analysis.Pod{{Namespace: "shop", Name: "web-1"}}, "policy two is violated"},
	} {
		a := stuck()
		a.Pods = c.pods
		var got recorder
		policy.Assert(&got, a, file)
		if !strings.Contains(got.text, c.want) || c.want == "" && got.text != "" {
			t.Errorf("%s: found %s: want %q", c.name, got.text, c.want)
		}
	}
}

func TestJSON(t *testing.T) {
	p, err := policy.Find("bounded-drains")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(p.Check(stuck()), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "json", text)
	var read policy.Result
	if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, p.Check(stuck())) {
		t.Errorf("read again: %+v, %v, want what was written", read, err)
	}
	if err := json.Unmarshal([]byte(`{"at":"soon"}`), new(policy.Violation)); err == nil || !strings.HasPrefix(err.Error(), `at "soon": want decimal seconds`) {
		t.Errorf("a damaged position: %v", err)
	}
}

func ExamplePolicy_Check() {
	p, err := policy.Load("mine.yaml", []byte(`
apiVersion: nodesim.dev/v1
kind: Policy
metadata: {name: mine}
rules:
- name: quick-drains
  over: nodes
  where: node.role == 'old'
  expression: node.drain <= duration('10m')
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	drain := 12 * time.Minute
	res := p.Check(&analysis.Analysis{Nodes: []analysis.Node{
		{Name: "node-1", Role: analysis.RoleOld, Drain: &drain, Drained: &analysis.Moment{At: 15 * time.Minute, Line: 120}},
		{Name: "node-2", Role: analysis.RoleNew},
	}})
	fmt.Println(res.Holds, res.Rules[0].Summary())
	fmt.Println(res.Rules[0].Violations[0].String())
	// Output:
	// false error: violated by 1 of 1 node
	// line 120, T+15m00.000s: Node/node-1: found node.drain is 12m0s: want node.drain <= duration("10m")
}

// FuzzLoad loads anything, and holds a stuck roll against what can be loaded: neither panics, and an error is one line.
func FuzzLoad(f *testing.F) {
	for _, name := range policy.Shipped() {
		text, err := policy.Text(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := policy.Load("fuzz.yaml", text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("the error isn't one line: %q", err)
			}
			return
		}
		res := p.Check(stuck())
		var b strings.Builder
		if err := res.Text(&b); err != nil || strings.Contains(b.String(), "\x1b") {
			t.Errorf("%v: %q", err, b.String())
		}
	})
}

// noting is a test that logs too.
type noting struct{ recorder }

func (n *noting) Logf(format string, args ...any) { n.text += "log: " + fmt.Sprintf(format, args...) }

// Where a policy holds, what its rules didn't see is logged.
func TestAssertLogsWhatWasntSeen(t *testing.T) {
	file := t.TempDir() + "/p.yaml"
	text := `apiVersion: nodesim.dev/v1
kind: Policy
metadata: {name: two}
rules:
- {name: some, over: nodes, expression: "true"}
- {name: none, over: nodes, where: "false", expression: "false"}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got noting
	policy.Assert(&got, stuck(), file)
	if !strings.HasPrefix(got.text, "log: ") || !strings.Contains(got.text, "none") {
		t.Errorf("found %q, want the rule that applied to nothing", got.text)
	}
}
