package nodemanager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/certs"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloudinitfile"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
	"github.com/nodesim/nodesim/scenarios/nodemanager/nodeclient"
	"github.com/nodesim/nodesim/scenarios/nodemanager/registry"
	"github.com/nodesim/nodesim/scenarios/nodemanager/stats"
	"github.com/nodesim/nodesim/scenarios/nodemanager/tasks"
	"github.com/nodesim/nodesim/scenarios/nodemanager/timeoutmap"
)

// NodeController boots, watches, hands out and stops nodes. Fill in its fields, then call Start or Run, once; don't
// change them after that, and don't copy it. NodeRegistry, PodReader, NodeDispenser, NodeScaler, CloudClient and
// NodeClientFactory are needed (StopCreatingNodes and ResumeWaits need the first and the last two alone); all others have a default or may be missing. Zero values (&stats.LoopTimer{},
// &timeoutmap.TimeoutMap{}, &certs.CertificateFactory{}, …) work as missing ones do.
//
// Its other methods may be called from any goroutine, before Start too; what they begin ends with Close.
type NodeController struct {
	Config       NodeControllerConfig
	NodeRegistry *registry.NodeRegistry
	LogRegistry  *registry.LogRegistry
	PodReader    registry.PodLister
	// NodeDispenser is this controller's alone, and ends with it.
	NodeDispenser *NodeDispenser
	// NodeScaler decides. A Planner is asked for a plan, and a BootObserver is told how boots end.
	NodeScaler         ScalingAlgorithm
	CloudClient        cloud.CloudClient
	NodeClientFactory  nodeclient.ItzoClientFactoryer
	Events             *events.EventSystem
	PoolLoopTimer      *stats.LoopTimer
	ImageIdCache       *timeoutmap.TimeoutMap
	CloudInitFile      *cloudinitfile.File
	CertificateFactory *certs.CertificateFactory
	CloudStatus        cloud.StatusKeeper
	// BootImageSpec describes the image to resolve. Empty: Tuning.BootImage is used as it is.
	BootImageSpec cloud.BootImageSpec

	// Clock is the time of all loops, timeouts and pauses; the real one if nil.
	Clock clock.WithTicker
	// Turns, where it isn't nil, are taken by all that the controller does, in place of goroutines: it then belongs to the
	// goroutine of their loop, whose time Clock has to tell. Tasks alone use the dispenser, and what waits in a collaborator
	// waits by Turns. Start is called without a channel to end it, and Close from the loop's goroutine, by no task.
	Turns *tasks.Turns
	// Tuning are the times and limits that Config doesn't hold.
	Tuning Tuning
	// Seed decides which nodes are booted first where MaxBootPerIteration leaves some out.
	Seed uint64
	// Report is told of every failure, from any goroutine; it must not block. Nil: failures are dropped.
	Report func(error)

	once   sync.Once
	tuning Tuning
	tasks  *tasks.Group
	chance *rand.Rand // the pool loop's
	image  string     // the pool loop's: the last one that was resolved
	err    error      // why the controller can't work
	begun  sync.Once

	// bindings carries the newest map to the dispatch loop; it holds one.
	bindings chan map[string]string

	mu      sync.Mutex
	boots   map[string]*boot
	stops   map[string]struct{}
	beats   map[string]time.Time
	probing map[string]struct{}
}

// prepare fills in defaults at the first call of any method.
func (c *NodeController) prepare() error {
	c.once.Do(func() {
		if c.Clock == nil {
			c.Clock = clock.RealClock{}
		}
		if c.PoolLoopTimer == nil {
			c.PoolLoopTimer = &stats.LoopTimer{}
		}
		c.PoolLoopTimer.UseClock(c.Clock)
		if c.ImageIdCache == nil {
			c.ImageIdCache = &timeoutmap.TimeoutMap{}
		}
		c.ImageIdCache.UseClock(c.Clock)
		c.Config = c.Config.withDefaults()
		c.tuning = c.Tuning.withDefaults()
		c.image = c.tuning.BootImage
		if c.tasks = tasks.New(c.Clock); c.Turns != nil {
			c.tasks = tasks.InTurns(c.Turns)
		}
		c.chance = rand.New(rand.NewPCG(c.Seed, 0))
		c.bindings = make(chan map[string]string, 1)
		c.boots, c.stops = map[string]*boot{}, map[string]struct{}{}
		c.beats, c.probing = map[string]time.Time{}, map[string]struct{}{}
		if c.err = c.missing("NodeRegistry", "PodReader", "NodeDispenser", "NodeScaler", "CloudClient", "NodeClientFactory"); c.err == nil && c.Turns != nil {
			c.NodeDispenser.direct = &direct{controller: c}
		}
	})
	return c.err
}

// missing says which of the fields aren't set.
func (c *NodeController) missing(wanted ...string) error {
	var errs []error
	for _, field := range []struct {
		name string
		nil  bool
	}{
		{"NodeRegistry", c.NodeRegistry == nil},
		{"PodReader", c.PodReader == nil},
		{"NodeDispenser", c.NodeDispenser == nil},
		{"NodeScaler", c.NodeScaler == nil},
		{"CloudClient", c.CloudClient == nil},
		{"NodeClientFactory", c.NodeClientFactory == nil},
	} {
		if field.nil && slices.Contains(wanted, field.name) {
			errs = append(errs, fmt.Errorf("node controller: %s is nil: set it before the start", field.name))
		}
	}
	return errors.Join(errs...)
}

// resumes is prepare for what looks after the nodes of an earlier controller: it needs neither pods nor decisions.
func (c *NodeController) resumes() error {
	if c.prepare() == nil {
		return nil
	}
	return c.missing("NodeRegistry", "CloudClient", "NodeClientFactory")
}

// Start begins all loops and returns. They end when quit is closed; wg is done when they have ended, and everything that
// they began with them. Where a field is missing, nothing begins and Report is told.
func (c *NodeController) Start(quit <-chan struct{}, wg *sync.WaitGroup) {
	if err := c.prepare(); err != nil {
		c.report(err)
		return
	}
	c.begun.Do(func() {
		c.tasks.EndWith(quit, wg, c.Close)
		c.begin()
	})
}

// Run is Start for those who have a context: it returns when the context ends and everything with it. The error says
// what is missing.
func (c *NodeController) Run(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	c.begun.Do(c.begin)
	select {
	case <-ctx.Done():
	case <-c.tasks.Context().Done():
	}
	c.Close()
	return nil
}

// Close ends what the controller began and waits for it. Nodes stay as they are in the registry: a controller that
// starts on the same registry resumes them.
func (c *NodeController) Close() {
	_ = c.prepare() // ResumeWaits and StopCreatingNodes begin tasks without a NodeDispenser
	if c.NodeDispenser != nil {
		c.NodeDispenser.end()
	}
	c.tasks.End()
	if c.NodeDispenser != nil {
		c.takeBackRest()
	}
}

// begin starts the loops. The nodes that an earlier controller left are looked after first.
func (c *NodeController) begin() {
	if err := c.Config.Validate(0); err != nil {
		c.report(fmt.Errorf("node controller works with intervals against the rule: %w", err))
	}
	c.StopCreatingNodes()
	c.ResumeWaits()
	c.tasks.Every(c.Config.HeartbeatInterval, c.heartbeat)
	c.tasks.Every(c.Config.ReaperInterval, c.reap)
	c.tasks.Every(c.Config.PoolInterval, c.runPool)
	c.tasks.Every(c.tuning.SweepInterval, func(context.Context) { c.ImageIdCache.Sweep() })
	if c.Turns == nil {
		c.tasks.Run(c.dispatch)
	}
}

// Dump returns the times of the pool loop as indented JSON (see stats.LoopTimes).
func (c *NodeController) Dump() []byte {
	_ = c.prepare() // the timer is there whatever is missing
	text, err := json.MarshalIndent(c.PoolLoopTimer, "", "    ")
	if err != nil {
		c.report(fmt.Errorf("dump the pool loop: %w", err))
	}
	return text
}

func (c *NodeController) report(err error) {
	if c.Report != nil && err != nil {
		c.Report(err)
	}
}

// source is what events of this package call themselves.
const source = "node-controller"

func (c *NodeController) emit(kind string, node *api.Node, message string) {
	c.Events.Emit(events.Event{Type: kind, Source: source, Node: node, Message: message})
}
