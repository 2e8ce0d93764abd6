package calibrate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// A Result is what the tapes say.
type Result struct {
	Provider string
	Tapes    []Tape
	// Measured are the timings of which there are samples, Estimates those that tapes can tell of and these don't, both in
	// the order of docs/scenarios.md.
	Measured  []Measured
	Estimates []Estimate
	// Others is how many further timings there are.
	Others int
}

// Measured is a timing that was measured.
type Measured struct {
	Name string
	// From and Until are where a sample begins and ends.
	From, Until string
	// Samples is how many there are, Unfinished how many more had not ended when their tape did, or when the node or machine was removed, and
	// count as longer than that.
	Samples, Unfinished int
	// Beyond says that less than 95 % had ended: Found.P95 is the longest time that is known.
	Beyond bool
	// Apart are the times that were too long to count.
	Apart []time.Duration
	// Found are the figures of the samples, Takes those for a simulation, Estimate those without samples.
	Found, Takes, Estimate Quantiles
	// Tapes are those with samples.
	Tapes []string

	extrapolated bool // Takes.P95
}

// An Estimate is a timing that stays one.
type Estimate struct {
	Name, Why string
	Takes     model.Dist
}

// Result sums up what was read.
func (c *Calibration) Result() *Result {
	res := &Result{Provider: c.provider, Tapes: slices.Clone(c.tapes), Others: len(model.TimingNames()) - len(traces)}
	for _, t := range traces {
		s := c.samples[t.timing].once()
		if s == nil || len(s.seen) == 0 {
			takes, _ := c.estimates.Get(t.timing)
			res.Estimates = append(res.Estimates, Estimate{t.timing, t.unseen(s), takes})
			continue
		}
		usual := quantilesOf(&c.estimates, t.timing)
		f := s.fitted(usual, spec.Shortest(t.timing))
		m := Measured{
			Name: t.timing, From: t.from, Until: t.until, Samples: len(f.used), Unfinished: len(f.left),
			Beyond: f.beyond, Found: f.found, Takes: f.takes, Estimate: usual, extrapolated: f.extrapolated,
		}
		for _, one := range f.apart {
			m.Apart = append(m.Apart, one.took)
		}
		slices.SortFunc(m.Apart, cmp.Compare[time.Duration])
		for i := range c.tapes {
			if slices.ContainsFunc(f.used, func(one sample) bool { return one.tape == i }) {
				m.Tapes = append(m.Tapes, c.tapes[i].Name)
			}
		}
		res.Measured = append(res.Measured, m)
	}
	return res
}

// unseen is why there is no sample.
func (t *trace) unseen(s *samples) string {
	switch {
	case s != nil && len(s.open) > 0:
		return fmt.Sprintf("%s had not ended when the tape did, or when the node or machine was removed: want longer tapes", phrase.Count(len(s.open), "sample"))
	case s != nil && s.rough > 0:
		return fmt.Sprintf("%s known to the second only: want tapes that were recorded", phrase.Count(s.rough, "sample"))
	}
	return "no sample: wants " + t.wants
}

// Rule says in a few words what was made of the samples.
func (m *Measured) Rule() string {
	switch {
	case m.Samples < few:
		return "few samples: the estimate counts as one more"
	case m.Samples < many:
		return "less than 20 samples: at least as wide as the estimate"
	}
	return ""
}
