package fault

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// streamEnd ends the streams that were open when it was the seq-th time that streams
// were cut or silenced. A stream that was opened later comes by it only on its
// way from an older version.
type streamEnd struct {
	seq int
	how how
	// version holds what the state is to be as of, for a client that lists then.
	version string
}

type how int

const (
	closed  how = iota // the stream ends
	expired            // ERROR with 410
	refused            // the stream ends, and watching from where it was is 410
)

// mute silences the streams that were open, until id is let go.
type mute struct {
	seq, id int
	// lose says that what comes meanwhile is lost: the stream then ends with 410.
	lose bool
}

// end does what close, gone and stall do before an event.
func end(in *injector, r *rule, e *event, p *plan) {
	p.before = append(p.before, in.endStreams(r, []timeline.Resource{e.resource})...)
	if r.spec.Lose != "" || r.spec.Kind == "gone" {
		p.verdict.lost = true
		// No client is thrown back after what can't be watched from there: a client
		// that lists an old state forever would meet the same 410 forever.
		delete(in.trails, e.resource)
	}
}

// endStreams makes the signals that end, or silence, the open streams of resources.
func (in *injector) endStreams(r *rule, resources []timeline.Resource) (signals []replay.StreamMarker) {
	in.interruptions++
	c := streamEnd{seq: in.interruptions}
	switch r.spec.Kind {
	case "stall", "intermediate":
		_, signals = in.silence(r, resources, false)
		return signals
	case "unobserved":
		_, signals = in.silence(r, resources, true)
		return signals
	case "stale":
		c.how = expired
		for _, resource := range resources {
			c.version = in.asOf(resource, in.now-r.spec.By)
			signals = append(signals, replay.StreamMarker{Resource: resource, Value: c})
		}
		return signals
	case "gone":
		c.how = expired
		if r.spec.In == "open" {
			c.how = refused
		}
	case "close":
		if r.spec.Lose != "" {
			c.how = refused
		}
	}
	return to(resources, c)
}

// unseen is the time streams are silent that no event wakes.
const unseen = 10 * time.Second

// silence makes the signals that silence streams, and the timer that ends
// it.
func (in *injector) silence(r *rule, resources []timeline.Resource, lose bool) (*timer, []replay.StreamMarker) {
	in.interruptions++
	in.ids++
	d := r.spec.For
	if d == 0 && lose && r.alone {
		d = unseen
	}
	a := in.later(d, to(resources, release{in.ids})...)
	return a, to(resources, mute{in.interruptions, in.ids, lose})
}

// client represents a watcher, as far as requests tell.
type client struct {
	resource                 timeline.Resource
	namespace, label, fields string
}

func clientOf(r timeline.Resource, q replay.Request) client {
	return client{r, q.Namespace, q.Options.LabelSelector, q.Options.FieldSelector}
}

// reconnectPlan holds what clients whose streams were cut are to meet next.
type reconnectPlan struct {
	refuse int      // how many that watch again from where they were get 410
	stale  []string // the versions as of which those who list get the state
}

// planReconnect notes what a client is to meet whose stream a cut has ended.
func (in *injector) planReconnect(who client, c streamEnd) {
	in.mu.Lock()
	defer in.mu.Unlock()
	w := in.reconnectPlans[who]
	if w == nil {
		w = &reconnectPlan{}
		in.reconnectPlans[who] = w
	}
	if c.how == refused {
		w.refuse++
	}
	if c.version != "" {
		w.stale = append(w.stale, c.version)
	}
}

// resourceOf finds what a request is about.
func (in *injector) resourceOf(q replay.Request) (timeline.Resource, bool) {
	i := slices.IndexFunc(in.header.Resources, func(r timeline.Resource) bool {
		return r.Resource == q.Resource.Resource && r.Group == q.Resource.Group
	})
	if i < 0 {
		return timeline.Resource{}, false
	}
	return in.header.Resources[i], true
}
