package policy

// APIVersion and Kind are those of a policy's file.
const (
	APIVersion = "nodesim.dev/v1"
	Kind       = "Policy"
)

// What a policy may have at most.
const (
	MaxFile       = 256 << 10 // bytes
	MaxRules      = 200
	MaxExpression = 4096 // bytes
	// MaxCost is what one evaluation of an expression may cost, in units of CEL, as Kubernetes has it for one expression
	// (k8s.io/apiserver, pkg/apis/cel: PerCallLimit), and MaxPolicyCost what all of a policy's may.
	MaxCost       = 1_000_000
	MaxPolicyCost = 20_000_000
	// MaxViolations is the number of violations that a result holds of one rule; it counts those left out.
	MaxViolations = 100
)

// Over says of what a rule is evaluated for each.
type Over string

// What rules are evaluated over. The variable of an object has the name of one: node, workload, budget, roll, finding, pod.
const (
	OverTape      Over = "tape" // once for the whole tape
	OverRolls     Over = "rolls"
	OverNodes     Over = "nodes"
	OverWorkloads Over = "workloads"
	OverBudgets   Over = "budgets"
	OverFindings  Over = "findings"
	OverPods      Over = "pods" // the analysis must have been made with Series
)

// Severity says what a violation means.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"   // the policy fails
	SeverityWarning Severity = "warning" // the violation is shown, and the policy holds
)

// Policy is a set of rules. It is never changed after it was loaded, so it may be shared.
type Policy struct {
	Name        string
	Description string
	Rules       []Rule
	series      bool
}

// Rule is one rule of a policy. All its expressions are CEL.
type Rule struct {
	Name string
	Over Over
	// Where chooses the objects that the rule applies to; "" is all of them.
	Where string
	// Expression is true for what is as it should be.
	Expression string
	// Message is said of a violation, or what MessageExpression comes to. Both may be "".
	Message           string
	MessageExpression string
	Severity          Severity

	where, test, message *program
}

// NeedsSeries reports whether a rule names what only an analysis made with Series has: pods, spans, levels.
func (p *Policy) NeedsSeries() bool { return p.series }
