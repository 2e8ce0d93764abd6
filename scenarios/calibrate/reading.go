package calibrate

import (
	"time"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
)

// A reading is a tape that is being read: the state of its objects, as far as samples begin or end with their changes.
type reading struct {
	*Calibration
	tape    int
	header  *timeline.Header
	start   time.Time // wall time of 0s
	coarse  bool
	labels  []string // that name the group of a node
	streams map[string]*stream
	now     time.Duration

	nodes    map[string]*node
	starts   map[string]mark // kubelets whose Node isn't there, by its name
	groups   map[string]*group
	pods     map[objectName]*pod
	pulls    map[pull]*container
	sizes    map[string]time.Duration // what its size adds to the pull of an image
	machines map[machineName]*machine
	named    map[string]*machine // by the node's name
	refusals map[objectName]mark
	owners   map[string]*owner // by UID
	stages   stages

	decoder kubejson.Decoder
	aNode   corev1.Node // reused
	aPod    corev1.Pod
}

type objectName struct{ namespace, name string }

// A stream is what the tape has of one resource.
type stream struct {
	take func(r *reading, ev *timeline.Event, live bool)
	// live says that what comes happens now: the list with which the tape began, or with which a GAP ends, is over.
	live, began, gap bool
	first            time.Duration
}

func newReading(h *timeline.Header, c *Calibration, tape int) *reading {
	r := &reading{
		Calibration: c, tape: tape, header: h, start: h.Metadata.Start.Time, coarse: h.Source.Times == timeline.TimesDerived,
		streams: map[string]*stream{}, sizes: map[string]time.Duration{},
	}
	if p, err := noderoll.ProviderByName(h.Scope.Provider); err == nil {
		r.labels = p.PoolLabels
	}
	r.forget()
	return r
}

// usual is the estimate of a timing.
func (r *reading) usual(timing string) Quantiles { return quantilesOf(&r.estimates, timing) }

// forget forgets all objects: no sample goes across this moment.
func (r *reading) forget() {
	r.nodes, r.starts, r.groups = map[string]*node{}, map[string]mark{}, map[string]*group{}
	r.pods, r.pulls = map[objectName]*pod{}, map[pull]*container{}
	r.machines, r.named = map[machineName]*machine{}, map[string]*machine{}
	r.refusals, r.owners = map[objectName]mark{}, map[string]*owner{}
}

// stream finds what the events call by key.
func (r *reading) stream(key string) *stream {
	if s := r.streams[key]; s != nil {
		return s
	}
	s := &stream{}
	if res, ok := r.header.Lookup(key); ok {
		switch res.Group + "/" + res.Resource {
		case "/nodes":
			s.take = (*reading).node
		case "/pods":
			s.take = (*reading).pod
		case "/events", "events.k8s.io/events":
			s.take = (*reading).told
		case "karpenter.sh/nodeclaims":
			s.take = (*reading).nodeClaim
		case "cluster.x-k8s.io/machines":
			s.take = (*reading).capiMachine
		}
	}
	r.streams[key] = s
	return s
}

// event takes the tape's next event.
func (r *reading) event(ev *timeline.Event) {
	r.now = ev.At
	switch {
	case ev.Type == timeline.Gap:
		s := r.stream(ev.Resource)
		s.live, s.gap = false, true
		r.forget()
	case ev.Type == timeline.Sync:
		s := r.stream(ev.Resource)
		s.live, s.gap = true, false
	case ev.Type == timeline.Refused:
		r.refused(ev)
	case ev.Type.Object():
		s := r.stream(ev.Resource)
		if s.take == nil {
			return
		}
		if !s.began {
			s.began, s.first = true, ev.At
		}
		if !s.live && !s.gap && (ev.Type != timeline.Added || ev.At > s.first) {
			s.live = true // a tape written by hand may do without SYNC
		}
		s.take(r, ev, s.live)
	}
}

// close takes what had not ended when the tape did.
func (r *reading) close() {
	for _, n := range r.nodes {
		n.close(r)
	}
	for _, g := range r.groups {
		g.steps(r)
	}
	r.stages.settle(r)
	for _, m := range r.machines {
		m.close(r)
	}
	for _, p := range r.pods {
		p.close(r)
	}
}

// retryPause is the longest time between two tries of one drain: drainers wait for seconds, some back off to a minute.
const retryPause = 2 * time.Minute

// refused takes an eviction that the server refused: the time since the one before is that of the drainer's next try.
func (r *reading) refused(ev *timeline.Event) {
	pod := objectName{ev.Namespace, ev.Name}
	if last := r.refusals[pod]; last.is && r.now-last.at <= retryPause {
		r.add("evictionRetry", last, r.here())
	}
	r.refusals[pod] = r.here()
}
