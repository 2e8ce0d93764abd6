package policy

import "github.com/nodesim/nodesim/replay/analysis"

// Result is what a policy says of one analysis: each of its rules, in their order.
type Result struct {
	Policy string       `json:"policy"`
	Holds  bool         `json:"holds"` // no rule of severity error is violated
	Rules  []RuleResult `json:"rules"`
}

// RuleResult is what one rule says.
type RuleResult struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Over     Over     `json:"over"`
	// Objects are those that the rule is over, and Applied those of them that it applied to: which Where chooses, and which
	// have what the rule names. Absent counts those that hadn't, and Lacks is the first field that was absent.
	Objects int    `json:"objects"`
	Applied int    `json:"applied"`
	Absent  int    `json:"absent"`
	Lacks   string `json:"lacks,omitempty"`
	// Violations are in the order of the analysis, at most MaxViolations; MoreViolations counts further ones.
	Violations     []Violation `json:"violations"`
	MoreViolations int         `json:"moreViolations,omitempty"`
}

// Violation is an object that isn't as a rule wants it, or that the rule couldn't be evaluated for.
type Violation struct {
	Object string `json:"object"` // Kind/namespace/name or Kind/name
	// Message is the rule's, "" where it has none.
	Message string `json:"message,omitempty"`
	Found   string `json:"found"`
	Wanted  string `json:"wanted"`
	// Moment is the position on the tape that shows it, nil where the analysis names none.
	Moment *analysis.Moment `json:"moment,omitempty"`
}

// Failed reports whether the rule is violated and an error.
func (r *RuleResult) Failed() bool { return len(r.Violations) > 0 && r.Severity == SeverityError }
