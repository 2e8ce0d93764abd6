package hunt

import (
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Config is what was asked for.
type Config struct {
	Scenario scenarios.Scenario
	Settings []string // name=value, which all cases have
	Timings  string   // a file of times that were measured, or ""
	Roll     Roll
	Policies []*policy.Policy
	Seed     uint64
	Cases    uint64
	Budget   time.Duration // of the search; 0: Cases end it
	Shard    shards.Shard
	Parallel int
}

// SettingError is the error of a setting that the scenario refuses.
type SettingError struct{ err error }

func (e *SettingError) Error() string { return e.err.Error() }

// prepare makes the options of a search.
func prepare(c *Config) (hunt.Options, error) {
	if c.Scenario.Document == nil {
		return hunt.Options{}, fmt.Errorf("scenario %s: it is always the same: want another one, such as surge", c.Scenario.Name)
	}
	src, err := simulate.Resolve(c.Scenario, c.Settings, nil)
	if err != nil {
		return hunt.Options{}, &SettingError{err}
	}
	given, free, err := parameters(c)
	if err != nil {
		return hunt.Options{}, &SettingError{err}
	}
	measured := func(f *scenarios.File) *scenarios.File { return f }
	if c.Timings != "" {
		times, err := simulate.Timings(c.Timings)
		if err != nil {
			return hunt.Options{}, err
		}
		measured = func(f *scenarios.File) *scenarios.File { return f.Calibrated(times) }
	}
	file, err := c.Roll.of(measured(src.File))
	if err != nil {
		return hunt.Options{}, err
	}
	space := variant.NewSpace(variant.Config{
		File: &file.File, Parameters: free, Seed: c.Seed, Roll: c.Roll.Settings,
		Resolve: func(set []spec.Setting) (*spec.File, error) {
			f, err := c.Scenario.Document.Resolve(slices.Concat(set, given), nil)
			if err == nil {
				f, err = c.Roll.of(measured(f))
			}
			if err != nil {
				return nil, err
			}
			return &f.File, nil
		},
	})
	input, err := hunt.Input(&file.File, free, space, c.Policies)
	return hunt.Options{
		Space: space, Judge: hunt.Simulated(c.Policies), Input: input, Seed: c.Seed, Cases: c.Cases, Budget: c.Budget, Shard: c.Shard.Index,
		Shards: c.Shard.Of, Parallel: c.Parallel,
	}, err
}

// parameters are those that were given, and those that cases may draw.
func parameters(c *Config) (given []spec.Setting, free []spec.Parameter, err error) {
	for _, text := range c.Settings {
		one, err := scenarios.ParseSetting(text)
		if err != nil {
			return nil, nil, err
		}
		given = append(given, one)
	}
	for _, p := range c.Scenario.Document.Parameters {
		if !slices.ContainsFunc(given, func(s spec.Setting) bool { return s.Name == p.Name }) {
			free = append(free, p)
		}
	}
	return given, free, nil
}
