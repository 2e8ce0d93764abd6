package policy

import (
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// MaxCost bounds what an evaluation has done, but cel-go adds up a call's cost when it is over: one call of replace may make
// a thousand megabytes of two texts of thirty thousand characters. So what a call is going to do is weighed before it begins.

// limits are the options of a program.
func limits(env *cel.Env, traced bool) []cel.ProgramOption {
	on := cel.EvalOptions(cel.OptTrackCost)
	if traced {
		on = cel.EvalOptions(cel.OptTrackCost, cel.OptTrackState)
	}
	return []cel.ProgramOption{on, cel.CostLimit(MaxCost), cel.CostTracking(weights{}), cel.CustomDecoratorV2(guard(env))}
}

// perCost is the work that costs one unit: characters, or values compared (cel-go, common/cost.go: StringTraversalCostFactor).
const perCost = 10

// weights tells cel-go's cost tracker what a call has cost.
type weights struct{}

// CallCost implements interpreter.ActualCostEstimator.
func (weights) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	w, ok := work(function, args)
	if !ok {
		return nil // cel-go knows
	}
	cost := 1 + w/perCost
	return &cost
}

// guard replaces calls that may do much by ones that weigh their arguments first.
func guard(env *cel.Env) interpreter.InterpretableDecoratorV2 {
	return func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		call, ok := i.(interpreter.InterpretableCall)
		if !ok {
			return i, nil
		}
		if _, heavy := work(call.Function(), nil); !heavy {
			return i, nil
		}
		run := implementation(env, call)
		if run == nil {
			return i, nil
		}
		return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(args ...ref.Val) ref.Val {
			if w, _ := work(call.Function(), args); w > MaxCost*perCost {
				return types.NewErr("%s: one call costs more than %d", call.Function(), MaxCost)
			}
			return run(args...)
		}), nil
	}
}

// implementation is what a call runs.
func implementation(env *cel.Env, call interpreter.InterpretableCall) functions.FunctionOp {
	switch call.Function() {
	case operators.Equals:
		return func(args ...ref.Val) ref.Val { return types.Equal(args[0], args[1]) }
	case operators.NotEquals:
		return func(args ...ref.Val) ref.Val { return !types.Equal(args[0], args[1]).(types.Bool) }
	}
	f := env.Functions()[call.Function()]
	if f == nil {
		return nil
	}
	bound, err := f.Bindings()
	if err != nil {
		return nil
	}
	// The overload has a binding of its own, or shares the function's.
	for _, name := range []string{call.OverloadID(), call.Function()} {
		for _, b := range bound {
			switch {
			case b.Operator != name:
			case b.Function != nil:
				return b.Function
			case b.Binary != nil && len(call.Args()) == 2:
				return func(args ...ref.Val) ref.Val { return b.Binary(args[0], args[1]) }
			case b.Unary != nil && len(call.Args()) == 1:
				return func(args ...ref.Val) ref.Val { return b.Unary(args[0]) }
			}
		}
	}
	return nil
}

// work is what a call has to do, in characters, if it may be more than its result and its arguments' sizes show.
// Without arguments it says whether it may.
func work(function string, args []ref.Val) (uint64, bool) {
	w := func(i int) uint64 {
		if i >= len(args) {
			return 0
		}
		return weigh(args[i], MaxCost*perCost)
	}
	switch function {
	case operators.Equals, operators.NotEquals, operators.In, operators.OldIn:
		return w(0) + w(1), true
	case "matches":
		return w(0) * w(1) / perCost, true
	case "replace", "join":
		return w(0) * max(w(1), w(2)) / perCost, true // for each character, or each text, at most one other
	case "format", "split", "strings.quote", "flatten", "@sortByAssociatedKeys", "sum", "min", "max", "sort":
		return w(0) + w(1), true
	case "distinct", "indexOf", "lastIndexOf":
		return w(0) * max(w(0), w(1)) / perCost, true
	case "sets.contains", "sets.equivalent", "sets.intersects":
		return w(0) * w(1) / perCost, true
	}
	return 0, false
}

// weigh counts the characters in a value, and each number, text and list as perCost of them, up to a bit more than most.
func weigh(v ref.Val, most uint64) uint64 {
	switch v := v.(type) {
	case types.String:
		return perCost + uint64(utf8.RuneCountInString(string(v)))
	case types.Bytes:
		return perCost + uint64(len(v))
	case *object:
		return 100 * perCost
	case traits.Mapper:
		return weighAll(v.Iterator(), most, func(key ref.Val, most uint64) uint64 { return weigh(key, most) + weigh(v.Get(key), most) })
	case traits.Lister:
		return weighAll(v.Iterator(), most, weigh)
	case *types.Optional:
		if v.HasValue() {
			return perCost + weigh(v.GetValue(), most)
		}
	}
	return perCost
}

func weighAll(it traits.Iterator, most uint64, one func(ref.Val, uint64) uint64) uint64 {
	total := uint64(perCost)
	for total <= most && it.HasNext() == types.True {
		total += one(it.Next(), most-total)
	}
	return total
}
