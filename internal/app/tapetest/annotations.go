package tapetest

import (
	"fmt"
	"io"
	"strings"

	"github.com/nodesim/nodesim/replay/policy"
)

// Annotations writes the report as workflow commands of GitHub Actions, one a line: an error for each tape that fails
// and each object that violates a rule, a warning for violations of rules that only warn, with the line of the tape
// that shows it. A page of GitHub shows ten of each kind for a step.
// Source: docs.github.com, "Workflow commands for GitHub Actions", "Setting an error message".
func (rep Report) Annotations(w io.Writer) error {
	var b strings.Builder
	for _, r := range rep.Results {
		for _, failure := range r.Failures {
			first, _, _ := strings.Cut(failure, "\n")
			annotate(&b, "error", r.Name, 0, "nodesim test", first)
		}
		for _, p := range r.Policies {
			for _, rule := range p.Rules {
				annotateRule(&b, r.Name, p.Policy, rule)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func annotateRule(b *strings.Builder, tape, name string, rule policy.RuleResult) {
	level := "warning"
	if rule.Failed() {
		level = "error"
	}
	title := "policy " + name + ": " + rule.Rule
	for i := range rule.Violations {
		v := &rule.Violations[i]
		line := 0
		if v.Moment != nil {
			line = v.Moment.Line
		}
		annotate(b, level, tape, line, title, v.String())
	}
	if rule.MoreViolations > 0 {
		annotate(b, level, tape, 0, title, fmt.Sprintf("and %d more", rule.MoreViolations))
	}
}

// annotate writes one command. Texts come from tapes and names of files: none may begin another command or property.
func annotate(b *strings.Builder, level, file string, line int, title, text string) {
	fmt.Fprintf(b, "::%s file=%s", level, property.Replace(clean(file)))
	if line > 0 {
		fmt.Fprintf(b, ",line=%d", line)
	}
	fmt.Fprintf(b, ",title=%s::%s\n", property.Replace(clean(title)), data.Replace(clean(text)))
}

// What the runner takes for itself in a command.
// Source: actions/toolkit, packages/core/src/command.ts, escapeData and escapeProperty.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
