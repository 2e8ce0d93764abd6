package tapetest_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/app/tapetest"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

// tape writes the demo to a file, without its END if it is to be cut off.
func tape(t *testing.T, path string, whole bool) {
	t.Helper()
	s, err := scenarios.Find("demo")
	if err != nil {
		t.Fatal(err)
	}
	header, events := scenarios.Demo()
	w, err := timeline.Create(path, header)
	if err != nil {
		t.Fatal(err)
	}
	if whole {
		err = s.Write(w)
	} else {
		for _, ev := range events {
			if err := w.Write(ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, update bool, paths ...string) tapetest.Report {
	t.Helper()
	rep, err := tapetest.Run(t.Context(), tapetest.Options{Paths: paths, Update: update, Command: "nodesim test --update"})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func printed(rep tapetest.Report, dir string) string {
	var b strings.Builder
	for _, r := range rep.Results {
		r.Print(&b, true)
	}
	return strings.ReplaceAll(b.String(), dir, "DIR")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUpdateThenPass(t *testing.T) {
	dir := t.TempDir()
	tape(t, filepath.Join(dir, "roll.yaml"), true)
	if rep := run(t, false, dir); rep.Failed != 1 || !strings.Contains(printed(rep, dir), "nodesim test --update DIR/roll.yaml") {
		t.Errorf("without goldens: %s\n%s", rep.Summary(), printed(rep, dir))
	}
	if rep := run(t, true, dir); rep.Failed != 0 || len(rep.Results[0].Updated) != 2 {
		t.Errorf("update: %s\n%s", rep.Summary(), printed(rep, dir))
	}
	if rep := run(t, true, dir); len(rep.Results[0].Updated) != 0 {
		t.Errorf("a second update wrote %v", rep.Results[0].Updated)
	}
	if rep := run(t, false, dir); rep.Summary() != "1 passed, 0 failed" {
		t.Errorf("afterwards: %s\n%s", rep.Summary(), printed(rep, dir))
	}
	golden.Assert(t, "demo.feed", read(t, filepath.Join(dir, "roll.feed.golden")))
	golden.Assert(t, "demo.panel", read(t, filepath.Join(dir, "roll.panel.golden")))
}

func TestDifferenceShowsTheLine(t *testing.T) {
	dir := t.TempDir()
	tape(t, filepath.Join(dir, "roll.yaml.zst"), true)
	run(t, true, dir)
	feed := filepath.Join(dir, "roll.feed.golden")
	changed := strings.Replace(read(t, feed), "T+4.000s     draining", "T+3.000s     draining", 1)
	if err := os.WriteFile(feed, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(feed, 0o600); err != nil {
		t.Fatal(err)
	}
	rep := run(t, false, dir)
	if rep.Failed != 1 {
		t.Fatalf("%s", rep.Summary())
	}
	golden.Assert(t, "difference", printed(rep, dir))
	var x bytes.Buffer
	if err := rep.JUnit(&x); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "junit", strings.ReplaceAll(x.String(), dir, "DIR"))
	if err := xml.Unmarshal(x.Bytes(), new(struct{})); err != nil {
		t.Error(err)
	}
	run(t, true, dir)
	info, err := os.Stat(feed)
	if err != nil || info.Mode().Perm() != 0o600 || read(t, feed) == changed {
		t.Errorf("update of a changed golden: %v, mode %v", err, info.Mode())
	}
}

func TestIncompleteTapeFailsUnlessItsGoldenSaysSo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "roll.yaml")
	tape(t, path, true)
	run(t, true, dir)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	tape(t, path, false)
	rep := run(t, false, dir)
	if rep.Failed != 1 || !strings.Contains(printed(rep, dir), "# not complete: it ends without END") {
		t.Errorf("%s\n%s", rep.Summary(), printed(rep, dir))
	}
	run(t, true, dir)
	if rep := run(t, false, dir); rep.Failed != 0 {
		t.Errorf("accepted: %s\n%s", rep.Summary(), printed(rep, dir))
	}
}

// A tape that is cut off may hold what a policy wants up to there.
func TestIncompleteTapeFailsThoughItsPolicyHolds(t *testing.T) {
	p, err := policy.Load("any", []byte("apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: any}\nrules:\n- {name: any, expression: 'true'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "roll.yaml")
		tape(t, path, whole)
		rep, err := tapetest.Run(t.Context(), tapetest.Options{Paths: []string{path}, Policies: []*policy.Policy{p}})
		if err != nil {
			t.Fatal(err)
		}
		if (rep.Failed == 0) != whole || !whole && !strings.Contains(printed(rep, path), "not complete: it ends without END") {
			t.Errorf("whole %t: %s\n%s", whole, rep.Summary(), printed(rep, path))
		}
	}
}

// A folder may be named by a link.
func TestLinkToAFolder(t *testing.T) {
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	tape(t, filepath.Join(dir, "roll.yaml"), true)
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if rep := run(t, true, link); len(rep.Results) != 1 || !strings.HasPrefix(rep.Results[0].Name, link+string(filepath.Separator)) {
		t.Errorf("found %+v, want the tape by the link's name", rep.Results)
	}
}

func TestOrphansAndBadTapesFail(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"gone.feed.golden":   "T+1s\n",
		"values.yaml":        "replicas: 3\n",
		"old.yaml":           "apiVersion: nodesim.dev/v9\nkind: Timeline\n---\n",
		".hidden/x.yaml":     "apiVersion: nodesim.dev/v1\n",
		"empty.yaml":         "",
		"empty.panel.golden": "\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden.Assert(t, "orphans", printed(run(t, false, dir), dir))
}

func TestWrongPaths(t *testing.T) {
	empty := t.TempDir()
	twice := t.TempDir()
	tape(t, filepath.Join(twice, "roll.yaml"), true)
	tape(t, filepath.Join(twice, "roll.yaml.gz"), true)
	text := filepath.Join(empty, "x.txt")
	for _, c := range []struct{ path, want string }{
		{empty, "found no tape"},
		{filepath.Join(empty, "missing"), "no such file"},
		{twice, "both are held against"},
		{text, "want a name that ends in .yaml"},
	} {
		if c.path == text {
			if err := os.WriteFile(text, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := tapetest.Run(t.Context(), tapetest.Options{Paths: []string{c.path}})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", c.path, err, c.want)
		}
	}
}

func TestHostileGoldenStaysText(t *testing.T) {
	dir := t.TempDir()
	tape(t, filepath.Join(dir, "roll.yaml"), true)
	run(t, true, dir)
	if err := os.WriteFile(filepath.Join(dir, "roll.feed.golden"), []byte("\x1b[2J\u202egone\x07\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := printed(run(t, false, dir), dir)
	if strings.ContainsAny(got, "\x1b\x07\u202e") {
		t.Errorf("%q", got)
	}
}

func TestPolicies(t *testing.T) {
	dir := t.TempDir()
	tape(t, filepath.Join(dir, "roll|<b>.yaml"), true)
	for name, text := range map[string]string{
		"roll|<b>.policy.yaml": "- {name: holds, expression: size(rolls) == 1}\n- {name: nothing, over: findings, where: finding.cost < duration('0s'), expression: 'false'}\n",
		"lonely.policy.yaml":   "- {name: holds, expression: 'true'}\n",
	} {
		text = "apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: mine}\nrules:\n" + text
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	strict, err := policy.Load("strict", []byte("apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: strict}\nrules:\n- {name: no-rolls, expression: size(rolls) == 0, message: a <i>roll</i>}\n"))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := tapetest.Run(t.Context(), tapetest.Options{Paths: []string{dir}, Policies: []*policy.Policy{strict}})
	if err != nil {
		t.Fatal(err)
	}
	var junit, markdown bytes.Buffer
	if err := errors.Join(rep.JUnit(&junit), rep.Markdown(&markdown)); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "policies", printed(rep, dir))
	golden.Assert(t, "policies.junit", strings.ReplaceAll(junit.String(), dir, "DIR"))
	// The folder's name is there as references.
	text := markdown.String()
	for _, want := range []string{"### nodesim test: 0 passed, 2 failed\n", "strict/no-rolls | **failed**: ", "mine/holds | holds for 1 tape |", "&#60;i&#62;roll"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary is\n%s\nwant %q in it", text, want)
		}
	}
	if strings.Contains(text, "<b>") || strings.Contains(text, "<i>") {
		t.Errorf("the summary has markup of the tape's:\n%s", text)
	}
}

// A policy may end in .yml. Where there is one in .yaml as well, that one counts, and the other is left over.
func TestPolicyEndings(t *testing.T) {
	dir := t.TempDir()
	tape(t, filepath.Join(dir, "roll.yaml"), true)
	write := func(name, expression string) {
		t.Helper()
		text := "apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: mine}\nrules:\n- {name: rolls, expression: " + expression + "}\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(summary, said string, paths ...string) {
		t.Helper()
		if rep := run(t, false, paths...); rep.Summary() != summary || !strings.Contains(printed(rep, dir), said) {
			t.Errorf("%s\n%s\nwant %s, and %q", rep.Summary(), printed(rep, dir), summary, said)
		}
	}
	write("roll.policy.yml", "size(rolls) == 0")
	expect("0 passed, 1 failed", "policy mine is violated", dir)
	expect("0 passed, 1 failed", "policy mine is violated", filepath.Join(dir, "roll.yaml"))
	write("roll.policy.yaml", "size(rolls) == 1")
	expect("1 passed, 1 failed", "DIR/roll.policy.yml: DIR/roll.policy.yaml is there as well: want one of them", dir)
	write("lonely.policy.yml", "size(rolls) == 1")
	expect("1 passed, 2 failed", "DIR/lonely.policy.yml: no tape beside it", dir)
}

// TestAnnotations has names that would begin commands and properties of their own.
func TestAnnotations(t *testing.T) {
	violated := func(severity policy.Severity, line int) policy.RuleResult {
		return policy.RuleResult{
			Rule: "quick", Severity: severity, MoreViolations: line,
			Violations: []policy.Violation{{Object: "Node/a\n::error::b", Found: "100%", Wanted: "0%", Moment: &analysis.Moment{Line: line}}},
		}
	}
	rep := tapetest.Report{Results: []tapetest.Result{
		{Name: "fine.yaml"},
		{Name: "a,line=1::b.yaml", Failures: []string{"50% differ\n- a\n+ b"}},
		{Name: "roll.yaml", Policies: []policy.Result{{Policy: "p:q", Rules: []policy.RuleResult{violated(policy.SeverityError, 7), violated(policy.SeverityWarning, 0)}}}},
	}}
	var got strings.Builder
	if err := rep.Annotations(&got); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "annotations", got.String())
}

// TestWarningsAreShown has a tape that passes, with a policy that warns, one of which no rule applies to anything, and one that
// has nothing to say.
func TestWarningsAreShown(t *testing.T) {
	dir := t.TempDir()
	tape(t, filepath.Join(dir, "roll.yaml"), true)
	var policies []*policy.Policy
	for name, rules := range map[string]string{
		"warns": "- {name: no-rolls, expression: size(rolls) == 0, severity: warning}\n",
		"idle":  "- {name: slow-pods, over: pods, where: pod.name == 'none', expression: 'false'}\n",
		"quiet": "- {name: rolls, expression: size(rolls) > 0}\n- {name: none, over: nodes, where: 'false', expression: 'false'}\n",
	} {
		p, err := policy.Load(name, []byte("apiVersion: nodesim.dev/v1\nkind: Policy\nmetadata: {name: "+name+"}\nrules:\n"+rules))
		if err != nil {
			t.Fatal(err)
		}
		policies = append(policies, p)
	}
	rep, err := tapetest.Run(t.Context(), tapetest.Options{Paths: []string{dir}, Policies: policies})
	if err != nil {
		t.Fatal(err)
	}
	var text, junit, markdown bytes.Buffer
	rep.Results[0].Print(&text, false)
	if err := errors.Join(rep.JUnit(&junit), rep.Markdown(&markdown)); err != nil {
		t.Fatal(err)
	}
	const found = "found size(rolls) is 1: want size(rolls) == 0"
	for _, c := range []struct {
		in   *bytes.Buffer
		want []string
	}{
		{&text, []string{"--- PASS: ", "    policy warns holds\n", found, "    policy idle holds\n      slow-pods: applied to nothing: "}},
		{&junit, []string{
			`failures="0" errors="0" skipped="2"`, `<skipped message="applied to nothing: where chose none of `,
			`<system-out>warning: violated by 1 of 1 tape&#xA;Tape/demo: ` + found + `</system-out>`,
		}},
		{&markdown, []string{"warns/no-rolls | warning&#58; violated by 1 of 1 tape<br>Tape/demo&#58; found size(rolls) is 1"}},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.in.String(), want) {
				t.Errorf("found\n%s\nwant %q in it", c.in, want)
			}
		}
	}
	if strings.Contains(text.String(), "quiet") {
		t.Errorf("found\n%s\nwant nothing of the policy quiet", &text)
	}
}
