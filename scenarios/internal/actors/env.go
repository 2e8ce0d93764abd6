package actors

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/model"
)

// Env is what every actor is given.
type Env struct {
	*loop.Loop
	API   *api.Store
	Cloud *cloud.Cloud
	Seed  uint64
	// Jitter is how much of the spread of durations there is, in percent; 0 is
	// medians alone.
	Jitter int
	// Timings are those of the control plane and of who rolls.
	Timings *model.Timings
	Version model.Version
}

// Stream returns the stream of an actor, or of one of its objects.
func (e *Env) Stream(name ...string) model.Stream { return model.NewStream(e.Seed, name...) }

// Draw draws how long something takes.
func (e *Env) Draw(s *model.Stream, d model.Dist) time.Duration { return d.Scaled(e.Jitter).Draw(s) }
