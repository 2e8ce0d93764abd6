package policy

import (
	"fmt"
	"io"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
)

// Text writes the result for people: a line for each rule, and one for each violation.
func (r *Result) Text(w io.Writer) error {
	var b strings.Builder
	holds := "holds"
	if !r.Holds {
		holds = "is violated"
	}
	fmt.Fprintf(&b, "policy %s %s\n", r.Policy, holds)
	for i := range r.Rules {
		rule := &r.Rules[i]
		fmt.Fprintf(&b, "  %s: %s\n", rule.Rule, rule.Summary())
		for j := range rule.Violations {
			fmt.Fprintf(&b, "    %s\n", rule.Violations[j].String())
		}
		if rule.MoreViolations > 0 {
			fmt.Fprintf(&b, "    and %d more\n", rule.MoreViolations)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary says in one line how a rule came out.
func (r *RuleResult) Summary() string {
	n := len(r.Violations) + r.MoreViolations
	switch {
	case r.Objects == 0:
		return fmt.Sprintf("applied to nothing: the tape has no %s", r.Over)
	case r.Applied == 0 && r.Absent > 0:
		return fmt.Sprintf("applied to nothing: of %s %d had no %s", phrase.Count(r.Objects, r.Over.variable()), r.Absent, r.Lacks)
	case r.Applied == 0:
		return fmt.Sprintf("applied to nothing: where chose none of %s", phrase.Count(r.Objects, r.Over.variable()))
	case n == 0:
		return fmt.Sprintf("holds for %s", phrase.Count(r.Applied, r.Over.variable()))
	}
	return fmt.Sprintf("%s: violated by %d of %s", r.Severity, n, phrase.Count(r.Applied, r.Over.variable()))
}

// String is a violation in one line: where, what, what was found, and what was wanted.
func (v *Violation) String() string {
	var b strings.Builder
	if v.Moment != nil {
		fmt.Fprintf(&b, "line %d, %s: ", v.Moment.Line, noderoll.AppendStamp(nil, v.Moment.At))
	}
	b.WriteString(v.Object + ": ")
	if v.Message != "" {
		b.WriteString(v.Message + ": ")
	}
	fmt.Fprintf(&b, "found %s: want %s", v.Found, v.Wanted)
	return b.String()
}
