package fault

import (
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/faultspec"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// injector is the replay.FaultInjector. What it does with an event it decides when
// the tape comes to it, whether watched or not, and leaves notes in the streams'
// history; the taps, one for each stream, do as they find there. So each
// stream's client meets the same faults at the same events, however late it
// reads and from wherever it watches again.
type injector struct {
	header   *timeline.Header
	rules    []*rule
	log      func(Fired)
	keys     map[string]timeline.Resource
	follower *observe.Follower // nil where no rule waits for a state
	back     time.Duration     // how far back a rule looks

	// mu guards what follows, and the rules. It is taken with the Cluster's lock
	// held or without, and nothing that holds it calls the Cluster.
	mu             sync.Mutex
	now            time.Duration
	interruptions  int // how often streams were ended or silenced
	ids            int // of what is held back
	timers         []*timer
	advanced       time.Duration // how far the follower was taken without an event
	trails         map[timeline.Resource][]moment
	reconnectPlans map[client]*reconnectPlan
	replacements   map[objectKey]*replacement
}

func newInjector(h *timeline.Header, specs []Spec, log func(Fired)) (*injector, error) {
	in := &injector{header: h, log: log, keys: map[string]timeline.Resource{}}
	follows := false
	for _, s := range specs {
		r, err := bind(h, s)
		if err != nil {
			return nil, err
		}
		in.rules = append(in.rules, r)
		follows = follows || s.When.Of != "" || s.Kind == "unobserved" || s.Kind == "stale"
		if s.Kind == "stale" || s.Kind == "stale-list" {
			in.back = max(in.back, r.spec.By)
		}
	}
	if follows {
		o, err := observe.OptionsFor(h, "", "", "")
		if err != nil {
			return nil, err
		}
		o.Verbose = true
		// Faults know states of nodes, of a tape as well whose roll is one of pods.
		o.Pods = noderoll.PodScope{}
		in.follower = observe.New(h, o)
	}
	in.begin()
	return in, nil
}

// Rewrites implements replay.Rewriter.
func (in *injector) Rewrites() string {
	for _, r := range in.rules {
		if r.spec.Kind == "recreate" {
			return r.spec.Kind
		}
	}
	return ""
}

// begin is at the beginning of the tape.
func (in *injector) begin() {
	in.now, in.advanced, in.timers = 0, -1, nil
	in.trails, in.reconnectPlans, in.replacements = map[timeline.Resource][]moment{}, map[client]*reconnectPlan{}, map[objectKey]*replacement{}
	if in.follower != nil {
		in.follower.Reset()
	}
	for _, r := range in.rules {
		r.reset()
		if r.spec.Timed {
			in.timers = append(in.timers, &timer{due: r.spec.At, arm: r})
		}
	}
}

// Rewound implements replay.FaultInjector.
func (in *injector) Rewound() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.begin()
}

// plan holds what becomes of one event.
type plan struct {
	before, after []replay.StreamMarker
	verdict       verdict
	events        []timeline.Event
}

// Before implements replay.FaultInjector.
func (in *injector) Before(c replay.Change) replay.Rewrite {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.now = max(in.now, c.Event.At)
	e, known := in.event(c)
	var p plan
	entries := in.follow(c.Event)
	p.before = in.reached(entries)
	if known {
		in.remember(e)
		for _, r := range in.rules {
			if meet := kinds[r.spec.Kind]; meet != nil && e.live && !r.alone {
				meet(in, r, e, &p, entries)
			}
		}
		if e.live && e.Type.Object() {
			in.overtaken(e)
		}
		in.rewrite(e, &p)
	}
	if !p.verdict.nothing() {
		p.before = append(p.before, replay.StreamMarker{Resource: e.resource, Value: &p.verdict})
		p.after = append([]replay.StreamMarker{{Resource: e.resource, Value: (*verdict)(nil)}}, p.after...)
	}
	return replay.Rewrite{Events: p.events, Before: p.before, After: p.after}
}

func (in *injector) event(c replay.Change) (e *event, known bool) {
	e = &event{Event: c.Event, live: c.Live, version: c.Version}
	if c.Event.Resource == "" {
		return e, false
	}
	e.resource, known = in.keys[c.Event.Resource]
	if !known {
		if e.resource, known = in.header.Lookup(c.Event.Resource); known {
			in.keys[c.Event.Resource] = e.resource
		}
	}
	return e, known
}

// hit asks a rule about an event, and logs it.
func (in *injector) hit(r *rule, e *event) bool {
	return r.about(e) && in.strike(r, e)
}

// strike asks the trigger alone.
func (in *injector) strike(r *rule, e *event) bool {
	var which []string // what the random number depends on
	if r.spec.P > 0 {
		which = []string{e.resource.String(), e.Namespace, e.Name, e.UID, e.RV, string(e.Type), timeline.FormatAt(e.At)}
	}
	if !r.fires(in.now, which...) {
		return false
	}
	in.tell(Fired{
		At: in.now, Spec: r.given, Resource: e.resource.String(), Namespace: e.Namespace, Name: e.Name, Type: string(e.Type), Version: e.RV,
	})
	return true
}

func (in *injector) tell(f Fired) {
	if in.log != nil {
		in.log(f)
	}
}

// follow takes an event to the feed. What can't be read has no state.
func (in *injector) follow(ev timeline.Event) []noderoll.Entry {
	if in.follower == nil {
		return nil
	}
	entries, err := in.follower.Apply(ev)
	if err != nil {
		return nil
	}
	return entries
}

// reached arms the rules that wait for a state.
func (in *injector) reached(entries []noderoll.Entry) (signals []replay.StreamMarker) {
	for _, e := range entries {
		for _, r := range in.rules {
			w := r.spec.When
			name := e.Node
			if e.Kind == noderoll.EvtMark {
				name = e.Reason
			}
			if w.Of != "" && w.State == string(e.Kind) && matches(w.Name, name) {
				signals = append(signals, in.arm(r)...)
			}
		}
	}
	return signals
}

// to makes one signal for each resource.
func to(resources []timeline.Resource, value any) (signals []replay.StreamMarker) {
	for _, r := range resources {
		signals = append(signals, replay.StreamMarker{Resource: r, Value: value})
	}
	return signals
}

// hits reports whether a rule is asked about requests.
func (r *rule) hits() bool {
	return r.kind.Hits == faultspec.Request || r.spec.Kind == "intermediate"
}
