package policy

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
)

// libraries are those of Kubernetes 1.36 (k8s.io/apiserver, pkg/cel/environment/base.go) that need nothing of an API server,
// of its own list functions sum, min and max; and math, for rounding.
func libraries() []cel.EnvOption {
	return append([]cel.EnvOption{
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(),
			cel.ValidateHomogeneousAggregateLiterals(),
		),
		cel.ParserExpressionSizeLimit(MaxExpression),
		cel.ParserRecursionLimit(50),
		cel.EnableMacroCallTracking(), // so that a condition can be shown as it was written
		ext.Strings(ext.StringsVersion(2), ext.StringsMaxPrecision(20)),
		ext.Sets(),
		ext.Lists(ext.ListsVersion(3), ext.ListsMaxRangeSize(1000)), // cel-go's cost tracker takes the square of a list's length
		ext.TwoVarComprehensions(),
		ext.Math(),
	}, reductions()...)
}

// summed are the types that sum takes, with what an empty list sums up to; min and max take them as well, and text and time,
// as in k8s.io/apiserver, pkg/cel/library/lists.go.
var summed = []struct {
	name string
	cel  *cel.Type
	zero ref.Val
}{
	{"int", cel.IntType, types.IntZero},
	{"double", cel.DoubleType, types.Double(0)},
	{"duration", cel.DurationType, types.Duration{}},
}

func reductions() []cel.EnvOption {
	var sums, least, most []cel.FunctionOpt
	for _, s := range summed {
		sums = append(sums, cel.MemberOverload("list_"+s.name+"_sum", []*cel.Type{cel.ListType(s.cel)}, s.cel,
			cel.UnaryBinding(func(list ref.Val) ref.Val {
				return fold(list, s.zero, func(sum, v ref.Val) ref.Val { return sum.(traits.Adder).Add(v) })
			})))
		least = append(least, extreme("min", s.name, s.cel, types.IntNegOne))
		most = append(most, extreme("max", s.name, s.cel, types.IntOne))
	}
	for name, t := range map[string]*cel.Type{"string": cel.StringType, "timestamp": cel.TimestampType} {
		least = append(least, extreme("min", name, t, types.IntNegOne))
		most = append(most, extreme("max", name, t, types.IntOne))
	}
	return []cel.EnvOption{cel.Function("sum", sums...), cel.Function("min", least...), cel.Function("max", most...)}
}

// extreme is min or max of a list: the value whose comparison with the others comes to order.
func extreme(function, name string, t *cel.Type, order types.Int) cel.FunctionOpt {
	return cel.MemberOverload("list_"+name+"_"+function, []*cel.Type{cel.ListType(t)}, t, cel.UnaryBinding(func(list ref.Val) ref.Val {
		found := fold(list, nil, func(best, v ref.Val) ref.Val {
			if best == nil || v.(traits.Comparer).Compare(best) == order {
				return v
			}
			return best
		})
		if found == nil {
			return types.NewErr("%s called on empty list", function)
		}
		return found
	}))
}

func fold(list, from ref.Val, step func(got, v ref.Val) ref.Val) ref.Val {
	got := from
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		v := it.Next()
		if types.IsUnknownOrError(v) {
			return v
		}
		if got = step(got, v); types.IsUnknownOrError(got) {
			return got
		}
	}
	return got
}
