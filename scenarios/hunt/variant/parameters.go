package variant

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/nodesim/nodesim/scenarios/spec"
)

const (
	// sets is the number of sets of values that are drawn for a file's parameters: the cases share them, since
	// resolving a file takes about as long as simulating a small one.
	sets = 64
	// attempts bounds how often values are drawn that contradict each other.
	attempts = 8
)

// parameterSets are the file with drawn values of its parameters. Each is made when a case first needs it, and is a function
// of the seed and its number.
func parameterSets(c Config) []func() *spec.File {
	if len(c.Parameters) == 0 {
		return nil
	}
	all := make([]func() *spec.File, sets)
	for i := range all {
		all[i] = sync.OnceValue(func() *spec.File {
			r := rand.New(rand.NewPCG(c.Seed, ^uint64(i)))
			for range attempts {
				if f, err := c.Resolve(values(c.Parameters, r)); err == nil {
					bare(f)
					return f
				}
			}
			f := clone(c.File)
			bare(f)
			return f
		})
	}
	return all
}

// values draws values for some parameters, within their bounds and near their defaults: it is the combinations that find
// things, and large clusters take long.
func values(parameters []spec.Parameter, r *rand.Rand) (set []spec.Setting) {
	for i := range parameters {
		p := &parameters[i]
		if r.IntN(3) == 0 {
			continue
		}
		if value := value(p, r); value != "" {
			set = append(set, spec.Setting{Name: p.Name, Value: value})
		}
	}
	return set
}

// value draws one value; "" where the type has no values to choose from.
func value(p *spec.Parameter, r *rand.Rand) string {
	switch p.Type {
	case spec.TypeBool:
		return strconv.FormatBool(r.IntN(2) == 0)
	case spec.TypeEnum:
		return pick(r, p.Values)
	case spec.TypeInt:
		least, usual, most := number(p.Min, 0), number(p.Default, 0), number(p.Max, 1<<31-1)
		return strconv.FormatInt(least+r.Int64N(min(most, max(2*usual-least, least+1))-least+1), 10)
	case spec.TypeDuration:
		least, usual, most := lasting(p.Min, 0), lasting(p.Default, 0), lasting(p.Max, spec.MaxDuration)
		upTo := min(most, max(2*usual-least, least+10*time.Minute))
		return max(least, (least + time.Duration(r.Int64N(int64(upTo-least)+1))).Truncate(time.Second)).String()
	case spec.TypePercent:
		least, most := percent(p.Min, 0), percent(p.Max, 100)
		return strconv.Itoa(least+r.IntN(most-least+1)) + "%"
	}
	return ""
}

// number, lasting and percent read a bound that the file's declaration was checked for.
func number(text spec.Scalar, fallback int64) int64 {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n
	}
	return fallback
}

func lasting(text spec.Scalar, fallback time.Duration) time.Duration {
	if d, err := time.ParseDuration(string(text)); err == nil {
		return d
	}
	return fallback
}

func percent(text spec.Scalar, fallback int) int {
	if len(text) == 0 {
		return fallback
	}
	n, err := strconv.Atoi(string(text[:len(text)-1]))
	if err != nil {
		return fallback
	}
	return n
}
