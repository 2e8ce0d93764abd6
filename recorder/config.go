package recorder

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nodesim/nodesim/timeline"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// syncTick is the interval at which what was written is brought to the disk: lines are
// there within a second, a slow fsync included.
const syncTick = 750 * time.Millisecond

// Config says what to record. REST is required, and either Open or Out with
// Resume.
type Config struct {
	REST *rest.Config
	// Open makes the tape, once everything about the cluster is known and
	// every watch is open: until then nothing is left behind by a recording
	// that can't be made. The Recorder closes the Writer.
	Open func(timeline.Header) (*timeline.Writer, error)
	// Out and Resume, from [timeline.Append], continue with a tape, in place of
	// Open. Run closes Out. Resources, scope and redaction are the tape's; what is said of
	// them here must not contradict it.
	Out    *timeline.Writer
	Resume *timeline.Resume

	// Same refuses to go on with a tape, with an *OtherResourcesError, where Resources is empty and what would be recorded by default isn't
	// what the tape has: a definition is there or gone meanwhile, or a right.
	Same bool

	// Name of the tape.
	Name string
	// Resources by the names that kubectl takes: "nodes", "pdb",
	// "machines.cluster.x-k8s.io". Empty means DefaultResources, and those of MachineResources that there are.
	Resources []string
	Scope     Scope
	// Wait begins the recording when the scope has its first node, instead of failing where it has none.
	Wait bool
	// Waiting is told once that Wait waits, and what was found instead of a node of the scope.
	Waiting func(found string)
	// Full keeps whole objects, but for managedFields. Secrets stay refused, and
	// credentials of known shapes masked.
	Full bool
	// Identified fails where the server doesn't tell the UID of the namespace kube-system, by which clusters are told apart, instead of
	// recording without it.
	Identified bool

	// GapAtEnd writes a GAP for each resource whose watch is down when the recording ends: what has happened since may be
	// missing. [timeline.Append] takes it off again: a recording that continues the tape asks the server what it remembers.
	GapAtEnd bool

	// Duration ends the recording; 0 means no limit.
	Duration time.Duration
	// Stop sees every line that is written, in order, from one goroutine at a
	// time, and ends the recording after the one for which it returns true.
	// It must not call the Recorder.
	Stop func(timeline.Event) bool
	// Line, where set, sees every line that is written as Stop does, with the wall time of 0s on its tape, which
	// Rotate changes. It must not call the Recorder.
	Line func(start time.Time, ev timeline.Event)

	// Warn is told in one line of what doesn't end the recording.
	Warn func(string)
	// Clock and Jitter (in [0, 1)) are for tests; the defaults are real.
	Clock  clock.WithTicker
	Jitter func() float64
}

// Why a recording ended.
const (
	EndInterrupted = "interrupted" // the context ended
	EndDuration    = "duration"    // Config.Duration is over
	EndComplete    = "complete"    // Config.Stop said so
	EndFailed      = "failed"      // the tape can't be written; it has no END
)

// OtherClusterError says that a tape can't be continued, since it is of another cluster. Both are
// known by the UID of the namespace kube-system.
type OtherClusterError struct{ Tape, Found string }

func (e *OtherClusterError) Error() string {
	return fmt.Sprintf("append: the tape is of the cluster %s, and this is %s (UIDs of the namespace kube-system); choose the other cluster, or another file", e.Tape, e.Found)
}

// OtherResourcesError says that a tape can't be continued, since others would be recorded by default than it has.
type OtherResourcesError struct{ Tape, Found []string }

func (e *OtherResourcesError) Error() string {
	return fmt.Sprintf("append: the tape has %s, and by default %s would be recorded now; want another file", strings.Join(e.Tape, ", "), strings.Join(e.Found, ", "))
}

// noClusterError says that the cluster can't be told from others.
type noClusterError struct{ why error }

func (e *noClusterError) Error() string {
	text := "cluster: found no UID of the namespace kube-system, want it on the tape: allow the verb get of namespaces with the name kube-system"
	if e.why != nil {
		text += " (" + e.why.Error() + ")"
	}
	return text
}

func (e *noClusterError) Unwrap() error { return e.why }

// New checks the config.
func New(cfg Config) (*Recorder, error) {
	switch {
	case cfg.REST == nil:
		return nil, errors.New("record: found no REST config, want one")
	case (cfg.Out == nil) != (cfg.Resume == nil) || (cfg.Out == nil) == (cfg.Open == nil):
		return nil, errors.New("record: want either Open, or Out with its Resume")
	case cfg.Wait && cfg.Resume == nil && cfg.Scope.Nodegroup == "" && cfg.Scope.Selector == "":
		return nil, errors.New("record: found no scope to wait for, want a node group or a selector")
	case cfg.Duration < 0:
		return nil, fmt.Errorf("record: duration %s, want more than 0", cfg.Duration)
	}
	if cfg.Warn == nil {
		cfg.Warn = func(string) {}
	}
	if cfg.Waiting == nil {
		cfg.Waiting = func(string) {}
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	if cfg.Jitter == nil {
		cfg.Jitter = rand.Float64
	}
	machines := len(cfg.Resources) == 0 && (cfg.Resume == nil || cfg.Same)
	if cfg.Resume != nil {
		if err := resumeConfig(&cfg); err != nil {
			return nil, err
		}
	}
	if machines {
		cfg.Resources = DefaultResources()
	}
	if _, err := newScope(cfg.Scope); err != nil {
		return nil, err
	}
	return &Recorder{cfg: cfg, clock: cfg.Clock, machines: machines}, nil
}
