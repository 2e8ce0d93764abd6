package calibrate

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/timeline"
)

// A Calibration gathers samples. The zero value is ready; it is for one goroutine.
type Calibration struct {
	tapes    []Tape
	provider string
	// namedBy is the tape that named the provider.
	namedBy   string
	estimates model.Timings
	samples   map[string]*samples
}

// A Tape is one that was read.
type Tape struct {
	Name     string
	Events   int
	Duration time.Duration
	Gaps     int
	// Whole says that its times are whole seconds: they were derived from those inside the objects.
	Whole bool
	// Complete says that the tape ends with END.
	Complete bool
}

// Read reads a tape to its end. name is its name in errors and reports. A tape of another provider than that of an
// earlier one is refused: their machines have little in common. So is one whose header names a scope that no node is in.
func (c *Calibration) Read(name string, tape *timeline.Reader) error {
	h := tape.Header()
	if provider := h.Scope.Provider; c.provider == "" {
		c.provider, c.namedBy = provider, name
	} else if provider != "" && provider != c.provider {
		return fmt.Errorf("tape %s: found the provider %q, and %q in %s: want tapes of one provider; calibrate each provider by itself",
			phrase.Escaped(name), phrase.Escaped(provider), phrase.Escaped(c.provider), phrase.Escaped(c.namedBy))
	}
	if c.samples == nil {
		c.samples = map[string]*samples{}
	}
	c.estimates = usualOf(c.provider)
	within, err := observe.ScopeOf(h)
	if err != nil {
		return fmt.Errorf("tape %s: %w", phrase.Escaped(name), err)
	}
	r := newReading(h, c, len(c.tapes))
	about := Tape{Name: name, Whole: r.coarse}
	for {
		ev, err := tape.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if ev.Type == timeline.Gap {
			about.Gaps++
		}
		about.Events++
		if err := within.Apply(ev); err != nil {
			return fmt.Errorf("tape %s: %w", phrase.Escaped(name), err)
		}
		r.event(&ev)
	}
	if err := within.Unmatched(); err != nil {
		return fmt.Errorf("tape %s: %w", phrase.Escaped(name), err)
	}
	r.close()
	about.Duration, about.Complete = r.now, tape.Complete()
	c.tapes = append(c.tapes, about)
	return nil
}

// usualOf are the estimates for a provider's machines.
func usualOf(provider string) model.Timings {
	p := model.Provider(provider)
	var os model.OS
	if all := model.OSes(p); len(all) > 0 {
		os = all[0]
	}
	return model.DefaultTimings(p, os)
}

// quantilesOf are the two figures of a timing.
func quantilesOf(t *model.Timings, name string) Quantiles {
	d, _ := t.Get(name)
	return Quantiles{Median: d.Median(), P95: d.P95()}
}
