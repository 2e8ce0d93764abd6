package hunt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/version"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// StoreCases is how many cases are tried of each tape of a store unless it is said.
const StoreCases = 100

// StoreConfig is what was asked for of the tapes of a store.
type StoreConfig struct {
	tapes.Work
	// Search is the search through each of them; its Scenario is the cluster that the tape begins with. It has Cases, and no Budget, which
	// would end it at another case each time.
	Search Config
	// Done is told of each tape as it comes, in the order of the names; it may be nil.
	Done func(*StoreTape)
}

// Check refuses what no tape could be searched with. An error of type *[SettingError] is about the roll.
func (c *StoreConfig) Check() error {
	_, err := c.input()
	return err
}

// input is a hash of which tapes are asked for, and of all that the searches depend on but the seed and the number of cases.
func (c *StoreConfig) input() (string, error) {
	for _, s := range c.Search.Roll.Settings {
		if keys := spec.RollKeys(); !slices.Contains(keys, s.Name) {
			remedy := "want " + strings.Join(keys, ", ")
			if near := phrase.Closest(s.Name, keys); near != "" {
				remedy = "did you mean " + near + "?"
			}
			return "", &SettingError{fmt.Errorf("roll: %.80q: no such key of a roll: %s", s.Name, remedy)}
		}
	}
	more := c.Search.Roll.args()
	if c.Search.Timings != "" {
		times, err := simulate.Timings(c.Search.Timings)
		if err != nil {
			return "", err
		}
		times.Name = "" // shards read copies
		text, err := json.Marshal(times)
		if err != nil {
			return "", err
		}
		more = append(more, string(text))
	}
	return tapes.Input(&c.Query, c.Search.Policies, more...), nil
}

// RunStore searches through the tapes of a shard. Of a tape that no cluster can be made of, the result says why. Where the store can't be
// read, a search fails or ctx ends, there is no result: an error says why.
func RunStore(ctx context.Context, c StoreConfig, status *simulate.Status) (*StoreResult, error) {
	input, err := c.input()
	if err != nil {
		return nil, err
	}
	res := &StoreResult{
		Kind: StoreResultKind, Program: version.Get().Version, Store: c.Store.Address, Input: input, Seed: c.Search.Seed, Cases: c.Search.Cases,
		Shard: c.Shard.Index, Shards: max(1, c.Shard.Of), Tapes: []StoreTape{},
	}
	err = c.Each(ctx, func(s *tapes.Subject) error {
		is, err := c.search(ctx, s, status)
		if err != nil {
			return err
		}
		res.Tapes = append(res.Tapes, is)
		if c.Done != nil {
			c.Done(&is)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.count()
	return res, nil
}

// search is the search through one tape.
func (c *StoreConfig) search(ctx context.Context, s *tapes.Subject, status *simulate.Status) (is StoreTape, err error) {
	is = StoreTape{Name: s.Name, SHA256: s.Tape.SHA256, LeftOut: s.Bad}
	if s.Bad != "" {
		return is, nil
	}
	one := c.Search
	if one.Scenario, err = clusterOf(ctx, s, one.Roll); err != nil {
		is.LeftOut = tapes.Line(err, s.File)
		return is, context.Cause(ctx)
	}
	res, err := Run(ctx, one, status)
	var option *plan.OptionError
	var setting *SettingError
	switch {
	case ctx.Err() != nil: // what has come is what time there was for
		return is, context.Cause(ctx)
	case errors.As(err, &option), errors.As(err, &setting):
		is.LeftOut = tapes.Line(err, s.File)
		return is, nil
	case err != nil:
		return is, fmt.Errorf("tape %s: %w", s.Name, err)
	}
	is.Tried, is.Found = res.Tried, res.Found
	return is, nil
}

// clusterOf makes a scenario of the cluster that a tape begins with, as of one that is named on the command line.
func clusterOf(ctx context.Context, s *tapes.Subject, r Roll) (scenarios.Scenario, error) {
	f, err := snapshot.Read(ctx, snapshot.Source{File: s.File, InScope: len(r.Groups) == 0, Now: s.Tape.Ended})
	if err != nil {
		return scenarios.Scenario{}, err
	}
	return Cluster(&scenarios.File{File: *f}, r)
}
