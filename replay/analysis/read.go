package analysis

import (
	"errors"
	"io"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis/rolls"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// Options choose what is analysed.
type Options struct {
	// Options choose the nodes, as for a feed, and the pods whose rolls in place are looked for: observe.OptionsFor reads them
	// from a tape's header.
	observe.Options
	// Series asks for what a picture of the roll needs: lives of pods, spans of nodes, and every change of what is available
	// and of what budgets allow. Its memory grows with these changes; without it, memory grows with the number of objects.
	Series bool
}

// UnmatchedError says that nothing on a tape is in the scope that was asked for. It doesn't name the tape.
type UnmatchedError struct{ err error }

func (e *UnmatchedError) Error() string { return e.err.Error() }

// Unwrap returns the error of observe.Follower.Unmatched.
func (e *UnmatchedError) Unwrap() error { return e.err }

// Tape reads a tape to its end, from a Reader that has read nothing, and analyses it. The error is the Reader's, which
// names the tape, or an UnmatchedError.
func Tape(r *timeline.Reader, o Options) (*Analysis, error) {
	s, err := read(r, o)
	if err != nil {
		return nil, err
	}
	return s.finish(), nil
}

func read(r *timeline.Reader, o Options) (*reading, error) {
	s := newReading(r.Header(), o)
	s.follower.ReadPatches(r)
	var ev timeline.Event // on the heap once
	for {
		var err error
		ev, err = r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = s.event(&ev, r.Line())
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.unmatched(); err != nil {
		return nil, err
	}
	s.a.Tape.Complete = r.Complete()
	return s, nil
}

// unmatched is the error of a scope that no node, or no pod, on the tape is in.
func (s *reading) unmatched() error {
	err := s.follower.Unmatched()
	if err == nil && s.header.Scope.Pods != "" {
		err = s.finder.Unmatched()
	}
	if err != nil {
		return &UnmatchedError{err}
	}
	return nil
}

// reading is a tape that is being read: the state of its objects at a line, and what is known of each by then.
type reading struct {
	o        Options
	header   *timeline.Header
	follower *observe.Follower
	finder   *rolls.Finder
	decoders decoders
	a        *Analysis
	now      Moment
	kinds    map[string]*resource // by the word for a resource

	nodes     map[string]*node // that are there, by name
	allNodes  []*node
	pods      map[objectName]*pod // that are there
	allPods   []*pod
	spaces    map[string]*space // by namespace
	budgets   []*budget
	workloads map[string]*workload
	owners    map[string]owner // by Kind/namespace/name
	machines  map[string]*machine
	allClaims []*machine
	places    map[string]*place // by the node's name
	groups    map[string][]*node
	named     map[string]*machine         // by the node's name
	saves     map[gatherKey]time.Duration // of all rolls
	delays    map[gatherKey]delay
	podKind   *resource
	nodeKind  *resource
	// The first lists of nodes and of pods are over.
	nodesListed, podsListed bool
	told                    time.Duration // up to where the feed knows the time
}

type objectName struct{ namespace, name string }

// resource says what a word for a resource means, and whether what comes of it is still the list with which the tape began.
type resource struct {
	handle  func(*reading, *timeline.Event, bool) error
	started bool
	listed  bool
	began   time.Duration
	gap     bool // between a GAP and its SYNC
}

func (k *resource) inGap() bool { return k != nil && k.gap }

// inGap reports whether nodes or pods are listed again: which of them went first isn't known.
func (s *reading) inGap() bool { return s.nodeKind.inGap() || s.podKind.inGap() }

func newReading(h *timeline.Header, o Options) *reading {
	o.Verbose = false
	finder := rolls.New(h, o.Options)
	o.Pods = noderoll.PodScope{}
	a := &Analysis{Tape: About{
		Name: h.Metadata.Name, Start: h.Metadata.Start.Time, Source: string(h.Source.Kind), Provider: h.Scope.Provider,
		Gaps: []Note{}, Marks: []Note{},
	}}
	return &reading{
		o: o, header: h, finder: finder, follower: observe.New(h, o.Options), a: a, kinds: map[string]*resource{},
		nodes: map[string]*node{}, pods: map[objectName]*pod{}, spaces: map[string]*space{}, workloads: map[string]*workload{},
		owners:   map[string]owner{},
		machines: map[string]*machine{}, places: map[string]*place{}, groups: map[string][]*node{}, named: map[string]*machine{},
		saves: map[gatherKey]time.Duration{}, delays: map[gatherKey]delay{},
	}
}

// resource finds what the events call by key.
func (s *reading) resource(key string) *resource {
	if k := s.kinds[key]; k != nil {
		return k
	}
	k := &resource{}
	if res, ok := s.header.Lookup(key); ok {
		switch res.Group + "/" + res.Resource {
		case "/nodes":
			k.handle, s.nodeKind = (*reading).node, k
		case "/pods":
			k.handle, s.podKind = (*reading).pod, k
		case "policy/poddisruptionbudgets":
			k.handle = (*reading).budget
		case "/events", "events.k8s.io/events":
			k.handle = (*reading).eventOf
		case "apps/deployments", "apps/replicasets", "apps/statefulsets":
			k.handle = ownerOf(res.Kind)
		case "cluster.x-k8s.io/machines":
			k.handle = (*reading).machine
		case "karpenter.sh/nodeclaims":
			k.handle = (*reading).nodeClaim
		}
	}
	s.kinds[key] = k
	return k
}

// event takes the tape's next event.
func (s *reading) event(ev *timeline.Event, line int) error {
	s.now = Moment{ev.At, line}
	t := &s.a.Tape
	t.Events++
	t.Duration = ev.At
	if err := s.finder.Apply(*ev, line); err != nil {
		return err
	}
	switch ev.Type {
	case timeline.Gap:
		t.Gaps = append(t.Gaps, Note{s.now, ev.Resource, ev.Reason})
		k := s.resource(ev.Resource)
		k.gap = true
		s.synced(k)
	case timeline.Mark:
		t.Marks = append(t.Marks, Note{s.now, ev.Name, ev.Reason})
	case timeline.Refused:
		s.refused(ev)
	}
	for _, k := range [...]*resource{s.nodeKind, s.podKind} {
		if k != nil && k.started && !k.listed && ev.At > k.began { // a tape written by hand may do without SYNC
			s.synced(k)
		}
	}
	if s.nodesListed && ev.At > s.told { // what came due before the line is about what was there before it
		s.told = ev.At
		for _, e := range s.follower.Advance(ev.At - 1) {
			s.entry(e)
		}
	}
	if err := s.object(ev); err != nil {
		return err
	}
	// The feed comes last: it tells of nodes that the line has brought.
	var entries []noderoll.Entry
	if s.nodesListed && ev.Object == nil && s.finder.Quiet() {
		entries = s.follower.Advance(ev.At)
	} else {
		var err error
		if entries, err = s.follower.Apply(*ev); err != nil {
			return err
		}
	}
	for _, e := range entries {
		s.entry(e)
	}
	if ev.Type == timeline.Sync {
		k := s.resource(ev.Resource)
		k.gap = false
		s.synced(k)
	}
	return nil
}

// object hands an object's event on.
func (s *reading) object(ev *timeline.Event) error {
	if !ev.Type.Object() {
		return nil
	}
	k := s.resource(ev.Resource)
	if !k.started {
		k.started, k.began = true, ev.At
	}
	if !k.listed && (ev.Type != timeline.Added || ev.At > k.began) {
		s.synced(k)
	}
	if k.handle == nil {
		return nil
	}
	return k.handle(s, ev, !k.listed)
}

// synced ends the list with which the tape began.
func (s *reading) synced(k *resource) {
	if k.listed {
		return
	}
	k.listed = true
	switch k {
	case s.podKind:
		s.podsListed = true
		for _, w := range s.workloads {
			w.listed(s, s.now)
		}
	case s.nodeKind:
		s.nodesListed = true
	default:
		return
	}
	s.takeStock()
}
