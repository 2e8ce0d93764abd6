// Package policy holds rolls against rules: a [Policy] and an [analysis.Analysis] go in, a [Result] comes out, which says for
// each rule to how many objects it applied and which of them violate it, with what was found, what was wanted and the line of
// the tape that shows it.
//
// A rule is an expression in CEL, as Kubernetes uses it in ValidatingAdmissionPolicies, over the types of package analysis:
// fields have their JSON names, durations are durations. Expressions are checked when a policy is loaded, so that a field that
// doesn't exist is an error in the file and not a rule that never fails. docs/policy.md has the fields.
//
// A field that an analysis doesn't have is absent, never zero: a rule that needs it doesn't apply to that object. A rule that
// applied to nothing has shown nothing, and the result says so.
//
// Policies and tapes are hostile: an expression's size, depth and cost are limited, and whatever is shown of a tape is escaped.
//
// Its API may still change (docs/stability.md).
package policy
