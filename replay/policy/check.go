package policy

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/replay/analysis"
)

// Check holds an analysis against the policy. A rule that can't be evaluated for an object (it costs too much, or divides by
// zero) is violated by it, as Kubernetes' validations fail closed.
func (p *Policy) Check(a *analysis.Analysis) Result {
	c := checker{analysis: a, left: MaxPolicyCost, vars: map[string]any{}}
	whole := reflect.ValueOf(a).Elem()
	for i := range whole.NumField() {
		f := whole.Field(i)
		if f.Kind() == reflect.Struct {
			f = f.Addr()
		}
		c.vars[jsonName(whole.Type().Field(i))] = f.Interface()
	}
	res := Result{Policy: p.Name, Holds: true, Rules: []RuleResult{}}
	for i := range p.Rules {
		rule := c.rule(&p.Rules[i])
		res.Holds = res.Holds && !rule.Failed()
		res.Rules = append(res.Rules, rule)
	}
	return res
}

// checker holds one analysis against the rules of one policy.
type checker struct {
	analysis *analysis.Analysis
	vars     map[string]any
	left     uint64 // of MaxPolicyCost
}

func (c *checker) rule(r *Rule) RuleResult {
	res := RuleResult{Rule: r.Name, Severity: r.Severity, Over: r.Over, Violations: []Violation{}}
	if r.Over == OverTape {
		c.object(r, &res, reflect.ValueOf(&c.analysis.Tape).Elem())
		return res
	}
	all := reflect.ValueOf(c.vars[string(r.Over)])
	for i := range all.Len() {
		c.vars[r.Over.variable()] = all.Index(i).Addr().Interface()
		c.object(r, &res, all.Index(i))
	}
	delete(c.vars, r.Over.variable())
	return res
}

// object evaluates a rule for one object.
func (c *checker) object(r *Rule, res *RuleResult, obj reflect.Value) {
	res.Objects++
	absent := func(err error) bool {
		var lacks *absentError
		if errors.As(err, &lacks) {
			res.Absent++
			if res.Lacks == "" {
				res.Lacks = lacks.field
			}
			return true
		}
		return false
	}
	if r.where != nil {
		switch chosen, err := c.eval(r.where); {
		case absent(err):
			return
		case err != nil:
			res.Applied++
			c.violated(r, res, obj, r.where, err)
			return
		case chosen != types.True:
			return
		}
	}
	holds, err := c.eval(r.test)
	if absent(err) {
		return
	}
	res.Applied++
	if err != nil || holds != types.True {
		c.violated(r, res, obj, r.test, err)
	}
}

// violated notes that an expression of a rule isn't true for an object, or couldn't be evaluated.
func (c *checker) violated(r *Rule, res *RuleResult, obj reflect.Value, p *program, err error) {
	if len(res.Violations) >= MaxViolations {
		res.MoreViolations++
		return
	}
	v := Violation{Object: phrase.Escaped(nameOf(obj)), Message: phrase.Escaped(c.message(r))}
	fields := p.fields()
	if err != nil {
		v.Found, v.Wanted = phrase.Escaped("it can't be evaluated: "+reason(err)), phrase.Escaped(r.Expression)
	} else {
		v.Found, v.Wanted, fields = c.explain(p)
	}
	v.Moment = momentOf(c.analysis, obj, fields)
	res.Violations = append(res.Violations, v)
}

func (c *checker) message(r *Rule) string {
	if r.message == nil {
		return r.Message
	}
	text, err := c.eval(r.message)
	if s, ok := text.(types.String); ok && err == nil {
		return string(s)
	}
	return ""
}

var errSpent = fmt.Errorf("the policy's expressions together cost more than %d", MaxPolicyCost)

func (c *checker) eval(p *program) (ref.Val, error) {
	if c.left == 0 {
		return nil, errSpent
	}
	v, details, err := p.plain.Eval(c.vars)
	spent := uint64(MaxCost) // of an evaluation that was cancelled
	if cost := details.ActualCost(); cost != nil {
		spent = *cost
	}
	c.left -= min(c.left, spent)
	return v, err
}

// reason is why an expression can't be evaluated.
func reason(err error) string {
	var e *types.Err
	if errors.As(err, &e) {
		return e.Unwrap().Error()
	}
	return err.Error()
}
