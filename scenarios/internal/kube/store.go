package kube

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// keyframe bounds the number of events of an object on the tape after a whole state of it.
const keyframe = 100

// leaseRenewal is the interval at which a kubelet renews its Lease (pkg/kubelet/apis/config: 0.25 of the 40 seconds
// that it lasts). No tape holds Leases, but their writes take versions.
const leaseRenewal = 10 * time.Second

// Config configures a Store.
type Config struct {
	// Start is the wall time of the tape's beginning.
	Start Instant
	// Now is the moment on the tape.
	Now func() time.Duration
	// UID makes a new UID.
	UID func() string
	// Sink takes the events of the tape. Their bytes are valid only during the
	// call. Object or Patch is set, as on a line of a tape.
	Sink func(timeline.Event) error
	// Fail ends the simulation.
	Fail func(error)
	// Version is the resourceVersion to begin with.
	Version uint64
	// NoEvents keeps Kubernetes Events from the tape.
	NoEvents bool
	// Remote is the API server that the Store mirrors; nil in a simulation.
	Remote Remote
}

// Store keeps the objects. It is for one goroutine.
type Store struct {
	cfg Config

	nodes   table[Node]
	pods    map[key]*Pod
	all     podList
	onNode  map[string]*podList
	ofOwner map[string]*podList
	budgets table[Budget]
	// budgetsIn are the budgets of a namespace, in the order of their creation.
	budgetsIn map[string]*namespaceBudgets
	customs   map[string]*table[Custom]

	inbound  bool // what is being written came from the remote
	silent   bool // what is being written came from a client, and is on the tape
	patches  bool // no change is written as a whole object
	textless bool // no text is made; see Observe
	observe  func(*timeline.Event, *Write) error
	full     func() bool
	rv       uint64
	renewed  time.Duration // up to when renewals of Leases have taken versions
	watching int           // depth of calls of functions that watch
	watchers allWatchers

	recollections map[uint64]*recollection // by the hash of an object's reference
	lastEvent     Instant
	isomorphic    map[uint64]*series
	series        []*series // in the order in which they began
	sweeps        int
	generations   []generation          // of events, the oldest first
	swept         int64                 // the step of time up to which events have expired
	rewritten     map[string]Instant    // events that were written again, by name
	lost          map[[2]string]bool    // those that are gone before their time, by namespace and name
	renewedEvents map[[2]string]Instant // when clients last wrote them, by namespace and name
	scales        map[string]int
	leases        map[string]*lease

	was, is writer
	ev      timeline.Event
	write   Write
	scratch scratch
}

type key struct{ namespace, name string }

// A Change says what was done to an object.
type Change int

// What a write does.
const (
	Added Change = iota
	Modified
	Deleted
)

type allWatchers struct {
	nodes   watchers[Node]
	pods    watchers[Pod]
	budgets []func(Change, *Budget, *Budget)
}

// New returns an empty Store.
func New(cfg Config) *Store {
	return &Store{
		cfg: cfg, rv: cfg.Version, full: func() bool { return false },
		pods: map[key]*Pod{}, onNode: map[string]*podList{}, ofOwner: map[string]*podList{},
		budgetsIn: map[string]*namespaceBudgets{}, customs: map[string]*table[Custom]{},
		recollections: map[uint64]*recollection{}, rewritten: map[string]Instant{}, scales: map[string]int{}, leases: map[string]*lease{}, isomorphic: map[uint64]*series{},
	}
}

// Now returns the wall time.
func (s *Store) Now() Instant { return s.cfg.Start.Add(s.cfg.Now()) }

// Rebase sets Now, which advances from there with the loop. A live run needs it until its scenario begins: the loop's
// time is stopped then, and the wall's isn't.
func (s *Store) Rebase(now Instant) { s.cfg.Start = now.Add(-s.cfg.Now()) }

// Version returns the version of the last write.
func (s *Store) Version() uint64 { return s.rv }

// WatchNodes has f called after every write of a node with its old and its new state; of a node that was added, old
// is nil. old is valid during the call only. So do the others.
func (s *Store) WatchNodes(f func(c Change, old, n *Node)) {
	s.watchers.nodes.add(f)
}

// WatchPods watches pods; see [Store.WatchNodes].
func (s *Store) WatchPods(f func(c Change, old, p *Pod)) {
	s.watchers.pods.add(f)
}

// WatchNodesNamed is WatchNodes of the nodes that the [Watch] follows.
func (s *Store) WatchNodesNamed(f func(c Change, old, n *Node)) Watch {
	return s.watchers.nodes.watch(f)
}

// WatchPodsOn is WatchPods of the pods on the nodes that the [Watch] follows, by their names.
func (s *Store) WatchPodsOn(f func(c Change, old, p *Pod)) Watch { return s.watchers.pods.watch(f) }

// WatchBudgets watches budgets; see [Store.WatchNodes].
func (s *Store) WatchBudgets(f func(c Change, old, b *Budget)) {
	s.watchers.budgets = append(s.watchers.budgets, f)
}

// Bound has no pod be created where there is no room for it.
func (s *Store) Bound(full func() bool) { s.full = full }

// errFull is what a kube-apiserver answers whose etcd is full (etcd, api/v3rpc/rpctypes/error.go).
var errFull = errors.New("etcdserver: mvcc: database space exceeded")

var errReentrant = errors.New("a write from within a watch: put it in the loop instead")

// version takes the next resourceVersion.
func (s *Store) version() uint64 {
	if s.watching > 0 {
		s.cfg.Fail(errReentrant)
	}
	if nodes := len(s.nodes.byName); nodes > 0 {
		each := leaseRenewal / time.Duration(nodes)
		if passed := (s.cfg.Now() - s.renewed).Truncate(each); passed > 0 {
			s.rv += uint64(passed / each)
			s.renewed += passed
		}
	}
	s.rv++
	return s.rv
}

// emit puts a write on the tape. whole is called where the tape needs the whole object, patch is the difference from
// the state before.
func (s *Store) emit(resource string, w *Write, patch []byte, whole func() []byte) {
	if s.silent {
		return
	}
	m := w.Meta
	s.ev = timeline.Event{At: s.cfg.Now(), Resource: resource, Namespace: m.Namespace, Name: m.Name, RV: strconv.FormatUint(m.rv, 10)}
	switch w.Change {
	case Added:
		s.ev.Type, s.ev.UID, s.ev.Object = timeline.Added, m.UID, nil
		if !s.textless {
			s.ev.Object = whole()
		}
		m.writes = 0
	case Modified:
		s.ev.Type = timeline.Modified
		if m.writes++; m.writes >= keyframe && !s.patches && !s.textless {
			m.writes = 0
			s.ev.Object = whole()
		} else {
			s.ev.Patch = patch
		}
	case Deleted:
		s.ev.Type = timeline.Deleted
	}
	if err := s.send(w); err != nil {
		s.cfg.Fail(fmt.Errorf("write %s %s %s: %w", s.ev.Type, resource, m.Name, err))
	}
}

// send gives the event of a write to who takes it.
func (s *Store) send(w *Write) error {
	if s.observe == nil {
		return s.cfg.Sink(s.ev)
	}
	w.store = s
	return s.observe(&s.ev, w)
}

// SetScale says how many replicas a controller wants: its scale subresource,
// which the disruption controller reads.
func (s *Store) SetScale(owner string, replicas int) { s.scales[owner] = replicas }

// Scale returns how many replicas a controller wants, by its UID.
func (s *Store) Scale(owner string) (replicas int, known bool) {
	replicas, known = s.scales[owner]
	return replicas, known
}

// Synced says on the tape that the lines above hold all of a resource up to now.
func (s *Store) Synced(resource string) {
	err := s.cfg.Sink(timeline.Event{At: s.cfg.Now(), Type: timeline.Sync, Resource: resource, RV: strconv.FormatUint(s.rv, 10)})
	if err != nil {
		s.cfg.Fail(err)
	}
}

// Mark writes a named moment.
func (s *Store) Mark(name, reason string) {
	if r := s.outbound(); r != nil {
		r.Marked(name, reason)
	}
	err := s.cfg.Sink(timeline.Event{At: s.cfg.Now(), Type: timeline.Mark, Name: name, Reason: reason})
	if err != nil {
		s.cfg.Fail(err)
	}
}

// stamp gives a new object what the API server fills in.
func (s *Store) stamp(m *Meta) {
	m.UID = s.cfg.UID()
	if m.Created == 0 {
		m.Created = s.Now()
	}
	m.rv = s.version()
}

// differ writes what differs between two objects; nil where nothing does.
func differ[T any](s *Store, write func(*writer, *T, *T), old, now *T) []byte {
	s.was.reset()
	write(&s.was, old, now)
	if s.was.nothing() {
		return nil
	}
	return s.was.done()
}

// whole writes an object as it is.
func whole[T any](s *Store, write func(*writer, *T, *T), now *T) func() []byte {
	return func() []byte {
		var none T
		s.is.reset()
		write(&s.is, &none, now)
		return s.is.done()
	}
}

// JSON returns the object as a tape has it, without its identity.
func (n *Node) JSON() []byte { return alone((*writer).node, n) }

// JSON returns the object as a tape has it, without its identity.
func (p *Pod) JSON() []byte { return alone((*writer).pod, p) }

// JSON returns the object as a tape has it, without its identity.
func (c *Custom) JSON() []byte { return alone((*writer).custom, c) }

func alone[T any](write func(*writer, *T, *T), now *T) []byte {
	var none T
	var w writer
	w.reset()
	write(&w, &none, now)
	return w.done()
}

// Quote writes a JSON string, for the status of a [Custom].
func Quote(s string) string { return string(rawjson.AppendString(nil, s)) }
