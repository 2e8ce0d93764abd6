package app

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/nodesim/nodesim/scenarios/snapshot"
)

// docs/plan.md and the README show what plan prints; "…" stands for further lines.
func TestTheManualOfPlanShowsWhatIsPrinted(t *testing.T) {
	for file, commands := range map[string]int{"../../../docs/plan.md": 3, "../../../README.md": 1} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for _, block := range strings.Split(string(text), "```console\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
			args, is := strings.CutPrefix(lines[0], "$ nodesim plan ")
			if !is || len(lines) < 2 || strings.HasPrefix(lines[1], "$") {
				continue
			}
			shown++
			var out bytes.Buffer
			root := newRoot()
			root.SetOut(&out)
			root.SetErr(&bytes.Buffer{})
			args, _, _ = strings.Cut(args, "  #")
			run(t.Context(), root, append([]string{"plan"}, strings.Fields(args)...))
			got, anywhere := strings.Split(strings.TrimSpace(out.String()), "\n"), false
			for _, line := range lines[1:] {
				if strings.TrimSpace(line) == "…" {
					anywhere = true
					continue
				}
				at := slices.Index(got, line)
				if at < 0 || at > 0 && !anywhere {
					t.Fatalf("%s: plan %s: it shows %q; the program prints it %d lines further on (-1: never)", file, args, line, at)
				}
				got, anywhere = got[at+1:], false
			}
			if len(got) > 0 && !anywhere {
				t.Errorf("%s: plan %s: the program continues with %q", file, args, got[0])
			}
		}
		if shown != commands {
			t.Errorf("%s shows the output of %d plans, want %d", file, shown, commands)
		}
	}
}

// The role of docs/plan.md has the right to list what plan reads, and no other.
func TestTheManualOfPlanHasTheRights(t *testing.T) {
	text, err := os.ReadFile("../../../docs/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	var role struct {
		Kind  string
		Rules []struct {
			APIGroups        []string `yaml:"apiGroups"`
			Resources, Verbs []string
		}
	}
	if err := yaml.Unmarshal([]byte(block), &role); err != nil || role.Kind != "ClusterRole" {
		t.Fatalf("%v: found the kind %q, want a ClusterRole", err, role.Kind)
	}
	var got, want []string
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			got = append(got, strings.TrimPrefix(strings.Join(append(slices.Clone(rule.APIGroups), resource), "/"), "/")+" "+strings.Join(rule.Verbs, ","))
		}
	}
	for _, r := range snapshot.Resources() {
		want = append(want, strings.TrimPrefix(r.Group+"/"+r.Resource, "/")+" list")
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" || len(want) != 12 || strings.Count(string(text), "the twelve") == 0 {
		t.Errorf("the role (-want +got):\n%s\nof %d kinds; the page says twelve", d, len(want))
	}
}

// The commands of docs/plan.md, and their flags, are those of the program.
func TestTheManualOfPlanHasCommandsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../../docs/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(text)) {
		args, is := strings.CutPrefix(line, "$ nodesim ")
		if !is {
			continue
		}
		seen++
		args, _, _ = strings.Cut(args, "  #")
		cmd, rest, err := newRoot().Find(strings.Fields(strings.ReplaceAll(args, "'", "")))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil || !cmd.HasParent() {
			t.Errorf("%s: %v", strings.TrimSpace(line), err)
		}
	}
	if seen < 8 {
		t.Errorf("found %d commands, want those of the page", seen)
	}
}
