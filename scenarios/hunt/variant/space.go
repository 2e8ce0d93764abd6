package variant

import (
	"math/rand/v2"
	"slices"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// Space is what the cases of a search are drawn from. It is made by [NewSpace], and may be used by several goroutines.
type Space struct {
	// File is case 0.
	File *spec.File
	// Strategies and Faults are those that cases may have: for a report of what was tried.
	Strategies []spec.Strategy
	Faults     []string
	// Roll has the settings of the roll that all cases have.
	Roll []spec.Setting

	drawn []func() *spec.File // files with other values of the parameters; nil where there are none
	more  int                 // the most faults that a case has besides the file's own
}

// Config says what a Space may vary.
type Config struct {
	// File is case 0, which stays as it is.
	File *spec.File
	// Resolve makes the file with other values of its parameters; nil where they stay. Parameters are those that it takes.
	Resolve    func([]spec.Setting) (*spec.File, error)
	Parameters []spec.Parameter
	// Roll has settings of the roll, by their keys in a scenario file, that all cases have: the File's, which aren't drawn.
	Roll []spec.Setting
	// Seed of all cases.
	Seed uint64
	// Faults are the actions of faults that may be added, as a scenario file has them; nil: all that apply to the file.
	Faults []string
	// MostFaults bounds the faults that are added to a case; negative: none are.
	MostFaults int
}

// usualFaults bounds the faults of a case: most of what goes wrong takes one or two.
const usualFaults = 3

// NewSpace returns the cases of a file.
func NewSpace(c Config) *Space {
	s := &Space{File: clone(c.File), Strategies: strategiesOf(c.File), Faults: c.Faults, Roll: c.Roll, more: c.MostFaults}
	if slices.ContainsFunc(c.Roll, func(one spec.Setting) bool { return one.Name == "strategy" }) {
		s.Strategies = []spec.Strategy{c.File.Roll.Strategy}
	}
	if s.more == 0 {
		s.more = usualFaults
	}
	if s.Faults == nil && s.more > 0 {
		s.Faults = Applicable(c.File)
	}
	bare(s.File)
	if c.Resolve != nil {
		s.drawn = parameterSets(c)
	}
	return s
}

// bare drops what says where values come from, which are in their places, and the faults for clients of a replay.
func bare(f *spec.File) {
	f.Parameters, f.Settings, f.Measured, f.Stream = nil, nil, nil, nil
	f.Faults = slices.DeleteFunc(f.Faults, func(one spec.Fault) bool { return one.If != nil && !*one.If })
	for i := range f.Faults {
		f.Faults[i].If = nil
	}
}

// Case returns the case of a number under a seed. The file is shared where it is case 0's: nobody may change it.
func (s *Space) Case(seed, number uint64) *spec.File {
	if number == 0 {
		return s.File
	}
	d := drawer{Rand: rand.New(rand.NewPCG(seed, number)), space: s}
	d.f = clone(s.File)
	if len(s.drawn) > 0 && d.once(2) {
		d.f = clone(s.drawn[d.IntN(len(s.drawn))]())
	}
	d.f.Seed = 1 + d.Uint64N(1<<31)
	d.sizes()
	d.rolled()
	if d.once(2) {
		d.f.Cluster.Jitter = pick(d.Rand, []int{0, 50, 100, 200, 400})
	}
	d.faults()
	return d.f
}

// drawer draws one case.
type drawer struct {
	*rand.Rand
	space *Space
	f     *spec.File
}

// once is true once in n times.
func (d *drawer) once(n int) bool { return d.IntN(n) == 0 }

// pick draws one of some.
func pick[T any](r *rand.Rand, some []T) T { return some[r.IntN(len(some))] }

// clone copies a file as far as variants differ: what is below a pointer of a copy is replaced, never changed.
func clone(f *spec.File) *spec.File {
	c := *f
	c.Groups, c.Workloads = slices.Clone(f.Groups), slices.Clone(f.Workloads)
	c.Budgets, c.Faults = slices.Clone(f.Budgets), slices.Clone(f.Faults)
	if f.Roll != nil {
		r := *f.Roll
		c.Roll = &r
	}
	return &c
}
