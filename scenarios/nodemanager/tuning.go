package nodemanager

import (
	"errors"
	"fmt"
	"time"
)

// NodeControllerConfig are the intervals of the loops, and what the agents on nodes are. Intervals that aren't above
// zero are DefaultNodeControllerConfig's. The pool interval should be longer than that of heartbeats, and that longer
// than the timeout of a heartbeat's client (see Validate).
type NodeControllerConfig struct {
	PoolInterval      time.Duration
	HeartbeatInterval time.Duration
	ReaperInterval    time.Duration
	ItzoVersion       string
	ItzoURL           string
}

// DefaultNodeControllerConfig keeps the rule of the intervals.
func DefaultNodeControllerConfig() NodeControllerConfig {
	return NodeControllerConfig{
		PoolInterval: 15 * time.Second, HeartbeatInterval: 10 * time.Second, ReaperInterval: 10 * time.Second,
	}
}

// Validate says where the rule of the intervals is broken; clientTimeout is that of the heartbeats' client, zero if it
// isn't known. A controller works with such intervals too: it only learns of silent nodes later than it plans.
func (c NodeControllerConfig) Validate(clientTimeout time.Duration) error {
	var errs []error
	if c.PoolInterval <= c.HeartbeatInterval {
		errs = append(errs, fmt.Errorf("pool interval %s: want it longer than the heartbeat interval %s",
			c.PoolInterval, c.HeartbeatInterval))
	}
	if c.HeartbeatInterval <= clientTimeout {
		errs = append(errs, fmt.Errorf("heartbeat interval %s: want it longer than the client's timeout %s",
			c.HeartbeatInterval, clientTimeout))
	}
	if c.ReaperInterval <= 0 {
		errs = append(errs, fmt.Errorf("reaper interval %s: want it above zero", c.ReaperInterval))
	}
	return errors.Join(errs...)
}

// withDefaults fills in the intervals that can't be.
func (c NodeControllerConfig) withDefaults() NodeControllerConfig {
	byDefault := DefaultNodeControllerConfig()
	orElse(&c.PoolInterval, byDefault.PoolInterval)
	orElse(&c.HeartbeatInterval, byDefault.HeartbeatInterval)
	orElse(&c.ReaperInterval, byDefault.ReaperInterval)
	return c
}

// Tuning are the other times and limits of one controller. A field that isn't above zero has its default: that of the
// package variable of its name, as it is when the controller starts, or the one given here.
type Tuning struct {
	BootTimeout         time.Duration
	HealthyTimeout      time.Duration
	HealthcheckPause    time.Duration
	MaxBootPerIteration int
	// BootImage is what nodes boot from as long as no image was resolved.
	BootImage string
	// ImageTTL is how long a resolved image is used before it is resolved again; 5 minutes.
	ImageTTL time.Duration
	// SweepInterval lies between two sweeps of the image cache; 30 seconds.
	SweepInterval time.Duration
	// StopRetry is the pause after a StopInstance that failed; 5 seconds, doubling up to 5 minutes.
	StopRetry Backoff
	// LogBytes is how much is kept of an agent's log; 4096.
	LogBytes int
	// LogPath is where agents log; DefaultLogPath.
	LogPath string
}

// DefaultLogPath is where the agent on a node writes its log.
const DefaultLogPath = "/var/log/itzo/itzo.log"

// withDefaults fills in what isn't given.
func (t Tuning) withDefaults() Tuning {
	orElse(&t.BootTimeout, BootTimeout)
	orElse(&t.HealthyTimeout, HealthyTimeout)
	orElse(&t.HealthcheckPause, HealthcheckPause)
	orElse(&t.MaxBootPerIteration, MaxBootPerIteration)
	orElse(&t.ImageTTL, 5*time.Minute)
	orElse(&t.SweepInterval, 30*time.Second)
	orElse(&t.StopRetry.First, 5*time.Second)
	orElse(&t.StopRetry.Max, 5*time.Minute)
	orElse(&t.LogBytes, 4096)
	if t.BootImage == "" {
		t.BootImage = BootImage
	}
	if t.LogPath == "" {
		t.LogPath = DefaultLogPath
	}
	return t
}

func orElse[T time.Duration | int](value *T, byDefault T) {
	if *value <= 0 {
		*value = byDefault
	}
}
