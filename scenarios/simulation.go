package scenarios

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
	"github.com/nodesim/nodesim/scenarios/internal/standby"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// bookmarkEvery is the interval at which a recorder writes a SYNC for a quiet resource.
const bookmarkEvery = time.Minute

// readStep is the time by which a simulation advances at once while its tape is read.
const readStep = time.Second

// TimeLimitMark is the name of the MARK on a tape whose roll isn't over at the time limit.
const TimeLimitMark = "time limit"

// expireEvery is the interval between searches for events that are an hour old.
const expireEvery = 10 * time.Second

// A Simulation is a cluster in which a scenario happens. It makes a tape, step by
// step: nothing is computed before it is asked for, and nothing is kept of what
// was handed out but the objects that are alive.
//
// A Simulation is for one goroutine.
type Simulation struct {
	file   *File
	env    *component.Env
	header timeline.Header
	sink   func(timeline.Event) error

	kubelet    kubelet.Config
	kubelets   *kubelet.Kubelets
	workloads  *controllers.Workloads
	scheduler  *scheduler.Scheduler
	disruption *controllers.Disruption
	karpenter  *roll.Karpenter
	machines   *roll.Machines
	// nodeManager is nil where the file has another autoscaler, or none.
	nodeManager *standby.Manager
	traits      map[types.NamespacedName]*component.PodTraits // by workload
	waiting     []func()                                      // rolls that have not begun
	running     int                                           // rolls that have not ended
	outcomes    []roll.Outcome

	live *LiveSimulation // nil in a simulation

	acting      *Acting                          // nil in a simulation that ends with its scenario
	byNamespace map[string][]*spec.Workload      // see workloadOfPod
	claims      map[string]*spec.Workload        // by namespace/claim
	members     map[*cloud.Instance]*spec.Member // of nodes that the file names
	shapes      map[*cloud.Group][]knownShape    // of the other nodes
	// Of machines that aren't the simulation's own.
	places      map[*cloud.Instance]model.Place
	providerIDs map[*cloud.Instance]string

	objects *convert.Observed // nil where nobody looks at them

	limit      time.Duration
	ends       time.Duration // when the tape is to end, once that is known
	ended      bool
	failed     error
	last       time.Duration // of the last event
	victimRand model.Stream  // picks the victims of faults
	pending    int           // faults that have not begun, and may still
}

// Simulate prepares a simulation. Its events go to sink, in order, as a
// timeline.Writer's WriteLine takes them; their bytes are valid during the call.
// The header must be written before.
func (f *File) Simulate(sink func(timeline.Event) error) (*Simulation, error) {
	whole, err := f.Split()
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", f.Metadata.Name, err)
	}
	s, err := whole.newSimulation(sink, nil, f.Start)
	if err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// Observe is [File.Simulate] for who looks at the objects rather than at their text: see takes the events, and with one of
// an object the object as it is then; of a deletion, as it was last. It is a *corev1.Node, *corev1.Pod,
// *policyv1.PodDisruptionBudget or *corev1.Event with what an observer of a roll looks at, of another resource the metadata,
// and is valid during the call only. Where text isn't asked for, none is made: events have neither Object nor Patch, and
// are the same otherwise.
//
// A Simulation that is observed must be closed.
func (f *File) Observe(text bool, see func(timeline.Event, metav1.Object) error) (*Simulation, error) {
	whole, err := f.Split()
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", f.Metadata.Name, err)
	}
	s, err := whole.newSimulation(func(ev timeline.Event) error { return see(ev, nil) }, nil, f.Start)
	if err != nil {
		return nil, err
	}
	s.objects = convert.NewObserved()
	s.env.API.Observe(text, func(ev *timeline.Event, w *kube.Write) error {
		s.last = ev.At
		return see(*ev, s.objects.Take(ev, w))
	})
	if err := s.start(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// start makes the cluster, and has the scenario begin.
func (s *Simulation) start() error {
	if err := s.build(); err != nil {
		return fmt.Errorf("scenario %s: %w", s.file.Metadata.Name, err)
	}
	if err := s.begin(); err != nil {
		return fmt.Errorf("scenario %s: %w", s.file.Metadata.Name, err)
	}
	return nil
}

// newSimulation returns a simulation with nothing in it yet, whose API begins at a time.
func (f *File) newSimulation(sink func(timeline.Event) error, remote kube.Remote, start time.Time) (*Simulation, error) {
	s := &Simulation{file: f, sink: sink, limit: f.TimeLimit, traits: map[types.NamespacedName]*component.PodTraits{}, shapes: map[*cloud.Group][]knownShape{}}
	s.header = f.Header()
	version, err := model.ParseVersion(f.Cluster.KubernetesVersion)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", f.Metadata.Name, err)
	}
	timings, err := f.MachineTimings("", version)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", f.Metadata.Name, err)
	}
	l := &loop.Loop{}
	s.env = &component.Env{Loop: l, Seed: f.Seed, Jitter: f.Cluster.Jitter, Timings: timings, Version: version}
	uids := s.env.Stream("uid")
	rv := s.env.Stream("resourceVersion")
	s.victimRand = s.env.Stream("fault")
	s.env.API = kube.New(kube.Config{
		Start: kube.InstantOf(start), Now: l.Now, UID: uids.UUID, Sink: s.emit, Fail: l.Fail, Remote: remote,
		Version: 1_000_000 + rv.N(9_000_000), NoEvents: !f.Cluster.Events,
	})
	return s, nil
}

// Header is the header of the tape.
func (s *Simulation) Header() timeline.Header { return s.header }

func (s *Simulation) emit(ev timeline.Event) error {
	s.last = ev.At
	return s.sink(ev)
}

// Step lets the simulation go on for a while of the tape, at most to its end. It
// reports whether the tape has ended, END included.
func (s *Simulation) Step(d time.Duration) (ended bool, err error) {
	if s.failed != nil || s.ended {
		return s.ended, s.failed
	}
	until := min(s.env.Now()+max(d, time.Nanosecond), s.end())
	if err := s.env.Run(until); err != nil {
		s.failed = fmt.Errorf("simulate %s: %w", s.file.Metadata.Name, err)
		s.Close()
		return false, s.failed
	}
	if s.env.Now() < s.end() && !s.env.Stopped() {
		return false, nil
	}
	if s.running > 0 || len(s.waiting) > 0 {
		s.env.API.Mark(TimeLimitMark, s.unfinished())
	}
	s.ended = true
	s.Close()
	s.failed = s.sink(timeline.Event{At: s.env.Now(), Type: timeline.End})
	return s.failed == nil, s.failed
}

// Close releases what the simulation holds. One that is stepped to its end needs none; a second one does nothing.
func (s *Simulation) Close() {
	if s.nodeManager != nil {
		s.nodeManager.Close()
		s.nodeManager = nil
	}
	if s.objects != nil {
		s.objects.Release()
		s.objects = nil
	}
}

// Run lets the simulation go on to its end.
func (s *Simulation) Run() error {
	for {
		if ended, err := s.Step(bookmarkEvery); ended || err != nil {
			return err
		}
	}
}

func (s *Simulation) end() time.Duration {
	if s.ends > 0 {
		return min(s.ends, s.limit)
	}
	return s.limit
}

// unfinished says what isn't done when the time limit has come.
func (s *Simulation) unfinished() string {
	if w := s.file.RolledInPlace(); w != nil {
		return fmt.Sprintf("the update of %s isn't done after %s", w.Name, s.limit)
	}
	return fmt.Sprintf("the roll isn't done after %s: %d of %d groups are still to be rolled", s.limit, s.running+len(s.waiting), len(s.file.Groups))
}

// settle ends the tape some time from now, where nothing is to come any more.
func (s *Simulation) settle() {
	if s.acting != nil {
		return
	}
	if s.running == 0 && len(s.waiting) == 0 && s.pending == 0 {
		ends := s.env.Now() + s.file.Settle
		s.ends = ends
		s.env.At(ends, func() {
			if s.ends == ends {
				s.env.Stop()
			}
		})
	} else {
		s.ends = 0
	}
}

// synced writes a SYNC as a recorder does: after its lists, and once a minute then.
func (s *Simulation) synced() {
	for _, r := range s.header.Resources {
		s.env.API.Synced(s.header.Key(r))
	}
	s.env.After(bookmarkEvery, s.synced)
}

// every has do called again and again.
func (s *Simulation) every(period time.Duration, do func()) {
	var again func()
	again = func() {
		do()
		s.env.After(period, again)
	}
	s.env.After(period, again)
}

// Outcomes say how the rolls ended that have, in that order: empty for a roll
// that was completed, else its error.
func (s *Simulation) Outcomes() []string {
	var all []string
	for _, o := range s.outcomes {
		text := ""
		if o.Failed {
			text = o.Code + ": " + o.Reason
		}
		all = append(all, text)
	}
	return all
}

// build makes the cluster as it is at 0s, and starts who lives in it.
func (s *Simulation) build() error {
	s.prepare()
	for i := range s.file.Groups {
		s.addGroup(&s.file.Groups[i])
	}
	if err := s.startActors(); err != nil {
		return err
	}
	if s.acting != nil {
		s.acting.seedNamespaces(nil)
		s.workloads.Elsewhere(s.acting.keep)
	}
	for i := range s.file.Groups {
		s.seedGroup(&s.file.Groups[i])
	}
	s.seedProvider()
	if err := s.seedWorkloads(); err != nil {
		return err
	}
	if err := s.seedBudgets(); err != nil {
		return err
	}
	if s.acting != nil {
		s.acting.seedVolumes()
	}
	s.keepTape()
	return nil
}

// keepTape does regularly what a recorder and a store of Events do.
func (s *Simulation) keepTape() {
	s.synced()
	s.every(expireEvery, s.env.API.ExpireEvents)
	s.every(kube.SeriesPeriod, s.env.API.SweepSeries)
}

// begin has the scenario's roll and faults happen.
func (s *Simulation) begin() error {
	if err := s.planRolls(); err != nil {
		return err
	}
	s.planFaults()
	s.settle()
	return nil
}
