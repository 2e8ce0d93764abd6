package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/internal/option"
	"github.com/nodesim/nodesim/replay/internal/shift"
	"github.com/nodesim/nodesim/timeline"
)

// Applier writes the tape of one Player into one cluster. Its methods are for
// one goroutine, but for Report, which may be called at any time.
type Applier struct {
	player    *replay.Player
	label     string
	host      string
	known     bool // the cluster is known to have nodes of its own
	dry       bool
	heartbeat time.Duration
	workers   int
	clock     clock.Clock
	tell      func(Step)
	warn      func(error)

	conn          *live // nil without a server
	retry         *retrier
	server        server
	catalog       *catalog
	shift         *shift.Shifter
	may           map[string]bool // what the user was found to be allowed
	prerequisites prerequisites
	liveness      liveness
	opened        bool
	follow        *follower
	mappings      map[timeline.Resource]resourceMapping

	asking sync.Mutex // the catalog and may

	mu      sync.Mutex
	builder *reportBuilder
	live    map[key]*tracked
	uids    map[string]string // tape's UID → the cluster's
}

// key names an object of the tape.
type key struct {
	resource        timeline.Resource
	namespace, name string
}

// resourceMapping describes how the cluster takes a resource of the tape.
type resourceMapping struct {
	found
	reason string // why it is left out; "" where it is not
}

// Option sets an Applier up.
type Option = replay.Option

// DryRun has nothing written: the steps are told as if they were. It reads the
// cluster; with no configuration at all it takes one that is empty and serves
// everything that is on the tape. The Player's pace is kept: give it [replay.Max].
func DryRun() Option { return option.New("apply.DryRun", func(a *Applier) { a.dry = true }) }

// KnownCluster allows a cluster with nodes that no replay has made. Without it
// Open refuses one, with a [*ForeignNodesError].
func KnownCluster() Option {
	return option.New("apply.KnownCluster", func(a *Applier) { a.known = true })
}

// OnStep calls tell before every write, in order; while the initial state is
// written, several at a time, one call after the other. It must be quick.
func OnStep(tell func(Step)) Option {
	return option.New("apply.OnStep", func(a *Applier) { a.tell = tell })
}

// OnRetry calls warn before a request is sent again, with the reason. It may be
// called by several goroutines at a time.
func OnRetry(warn func(error)) Option {
	return option.New("apply.OnRetry", func(a *Applier) { a.warn = warn })
}

// Heartbeat sets how often the leases of the nodes are renewed, in wall time;
// 0 is never. The default, 10 s, is a kubelet's. Where they aren't renewed, a
// controller manager takes a node for dead after less than a minute
// (--node-monitor-grace-period).
func Heartbeat(every time.Duration) Option {
	return option.New("apply.Heartbeat", func(a *Applier) { a.heartbeat = every })
}

// WithClock sets the clock of retries, heartbeats and of what "now" is in the
// times that are written. The Player has its own.
func WithClock(c clock.Clock) Option {
	return option.New("apply.WithClock", func(a *Applier) { a.clock = c })
}

// Step is one write.
type Step struct {
	At       time.Duration // position on the tape
	Verb     Verb
	Resource string // with the subresource: "nodes/status"
	// Namespace and Name are the object's.
	Namespace, Name string
}

// String is the step as one line without its time: "patch nodes/status ip-10-0-1-10".
func (s Step) String() string {
	if s.Namespace == "" {
		return fmt.Sprintf("%s %s %s", s.Verb, s.Resource, s.Name)
	}
	return fmt.Sprintf("%s %s %s/%s", s.Verb, s.Resource, s.Namespace, s.Name)
}

// New returns an Applier. It asks the cluster nothing yet. The Player must not
// be run or moved by anybody else, but may be paused, resumed and sped up. A nil
// config is allowed with DryRun alone. Close the Applier when done; the Player
// stays the caller's.
func New(config *rest.Config, player *replay.Player, opts ...Option) (*Applier, error) {
	a := &Applier{
		player: player, label: LabelValue(player.Header().Metadata.Name), clock: clock.RealClock{},
		heartbeat: 10 * time.Second, workers: 8, tell: func(Step) {}, warn: func(error) {},
		catalog: &catalog{served: map[string][]metav1.APIResource{}}, may: map[string]bool{},
		mappings: map[timeline.Resource]resourceMapping{}, builder: newReportBuilder(), live: map[key]*tracked{}, uids: map[string]string{},
	}
	if err := option.Refuse("apply.New", option.Apply(a, opts), "those of package apply"); err != nil {
		return nil, err
	}
	a.shift = shift.New(player.Header().Metadata.Start.Time, func(at time.Duration) time.Time {
		return player.TimeMap().Wall(at)
	}, a.clock.Now)
	var below server = emptyCluster{}
	switch {
	case config != nil:
		var err error
		if a.conn, err = newLive(config); err != nil {
			return nil, err
		}
		below, a.catalog.ask, a.host = a.conn, a.conn, a.conn.host()
	case !a.dry:
		return nil, errors.New("apply a tape: found no cluster: want a rest.Config, or DryRun")
	}
	if a.dry {
		below = &dryRunServer{server: below}
		a.heartbeat = 0
	}
	a.retry = &retrier{server: below, clock: a.clock, warn: func(err error) { a.warn(err) }}
	a.server = &stepReporter{server: a.retry, at: a.position, tell: a.tell}
	return a, nil
}

// Close ends what is left of the connections to the cluster.
func (a *Applier) Close() error {
	a.unfollow()
	if a.conn == nil {
		return nil
	}
	return a.conn.Close()
}

// Report says how far the Applier has come.
func (a *Applier) Report() Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.builder.report()
	r.Requests, r.Retries = int(a.retry.made.Load()), int(a.retry.tries.Load())
	return r
}

func (a *Applier) position() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.builder.Position
}

// count changes the report.
func (a *Applier) count(do func(*reportBuilder)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do(a.builder)
}

func (a *Applier) uidOf(tape string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	uid, ok := a.uids[tape]
	return uid, ok && tape != ""
}

// connect asks the server who it is: the first request, which isn't repeated,
// so that a cluster that can't be reached is an error at once.
func (a *Applier) connect(ctx context.Context) error {
	if a.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := a.conn.get(ctx, "/version"); err != nil {
		return fmt.Errorf("cluster %s: %w", a.host, err)
	}
	return nil
}
