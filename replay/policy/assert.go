package policy

import (
	"slices"
	"strings"

	"github.com/nodesim/nodesim/replay/analysis"
)

// TB is what Assert needs of a testing.TB.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Assert fails a test where an analysis violates a policy: a shipped one by its name, or a file. It says which rules, for which
// objects, what was found and what was wanted, and on which line of the tape. Where no rule of a policy applied to anything the
// test fails, and so it does where the policy needs series (see [Policy.NeedsSeries]) and the analysis has none. Where the policy
// holds, and t has the method Logf of a testing.TB, violated warnings and rules that applied to nothing are logged.
func Assert(t TB, a *analysis.Analysis, policies ...string) {
	t.Helper()
	for _, name := range policies {
		p, err := Find(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if p.NeedsSeries() && a.Pods == nil {
			t.Errorf("policy %s: it names pods, spans or levels, which this analysis was made without: want one made with analysis.Options.Series", p.Name)
			continue
		}
		res := p.Check(a)
		var b strings.Builder
		_ = res.Text(&b) // a Builder takes all
		switch {
		case !res.Holds:
			t.Errorf("%s", b.String())
		case !res.Applied():
			t.Errorf("%swant a rule that applies to something", b.String())
		default:
			if l, can := t.(interface{ Logf(string, ...any) }); can && res.tells() {
				l.Logf("%s", b.String())
			}
		}
	}
}

// tells reports whether a result that holds has something to say.
func (r *Result) tells() bool {
	return slices.ContainsFunc(r.Rules, func(one RuleResult) bool { return one.Applied == 0 || len(one.Violations) > 0 })
}

// Applied reports whether a rule applied to anything: a policy of which none did holds and has shown nothing.
func (r *Result) Applied() bool {
	for i := range r.Rules {
		if r.Rules[i].Applied > 0 {
			return true
		}
	}
	return false
}
