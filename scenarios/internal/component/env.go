package component

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Env holds what every actor is given.
type Env struct {
	*loop.Loop
	API   *kube.Store
	Cloud *cloud.Cloud
	Seed  uint64
	// Jitter scales the spread of durations, in percent; 0 means medians alone.
	Jitter int
	// Timings are those of the control plane and of the roll.
	Timings *model.Timings
	Version model.Version
}

// Stream returns the stream of an actor, or of one of its objects.
func (e *Env) Stream(name ...string) model.Stream { return model.NewStream(e.Seed, name...) }

// Draw draws how long something takes.
func (e *Env) Draw(s *model.Stream, d model.Dist) time.Duration { return d.Scaled(e.Jitter).Draw(s) }
