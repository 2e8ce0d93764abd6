package tapediff

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// A story is all that a tape says that is compared.
type story struct {
	end     time.Duration // of the tape
	nodes   []*history    // in the order in which the tape shows them
	pods    []*history
	budgets []*history
	others  []*history // known by their Events alone
	order   *history   // the transitions of all nodes, by role

	before int // Events of the initial list
	aside  int // Events about pods and nodes that the tape doesn't show
}

// reading is a tape on its way to a story.
type reading struct {
	*story
	from     time.Duration // where the story begins, until it has begun
	skew     time.Duration // of Events
	excluded *exclusionCounter
	follower *observe.Follower

	listed map[string]bool          // resources whose initial list is over
	first  map[string]time.Duration // where a resource's first event stands
	byUID  map[string]*history
	named  map[string][]*history // nodes by name, in their order
	byPath map[string]*history   // pods by namespace/name, the latest of that name
	other  map[string]*history   // by kind and path
	hashes map[string]bool       // pod-template-hash of the pods
	events []occurrence

	cordoned map[string]bool   // names of nodes
	blocking map[*history]bool // budgets
}

// read takes a tape to its end. A tape with a gap can't be compared: what is missing there isn't known.
func read(r *timeline.Reader, from, skew time.Duration, l *exclusionCounter) (*story, error) {
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		return nil, err
	}
	in := &reading{
		story: &story{order: newHistory("roll", "", "", "", 0)}, from: from, skew: skew, excluded: l, follower: observe.New(r.Header(), o),
		listed: map[string]bool{}, first: map[string]time.Duration{}, byUID: map[string]*history{},
		named: map[string][]*history{}, byPath: map[string]*history{}, other: map[string]*history{},
		hashes: map[string]bool{}, cordoned: map[string]bool{}, blocking: map[*history]bool{},
	}
	lines, err := Lines(r)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		if err := in.take(r.Header(), l.Event); err != nil {
			return nil, fmt.Errorf("line %d, at %s: %w", l.Number, l.At, err)
		}
	}
	in.tellEvents()
	return in.story, nil
}

func (in *reading) take(h *timeline.Header, ev timeline.Event) error {
	in.end = ev.At
	if in.from > 0 && ev.At >= in.from {
		in.forget(in.from)
	}
	entries, err := in.follower.Apply(ev)
	if err != nil {
		return err
	}
	if err := in.object(h, ev); err != nil {
		return err
	}
	for _, e := range entries {
		in.tell(e)
	}
	return nil
}

func (in *reading) object(h *timeline.Header, ev timeline.Event) error {
	switch {
	case ev.Type == timeline.Gap:
		return fmt.Errorf("found a GAP of %s, want a tape without", ev.Resource)
	case ev.Type == timeline.Sync:
		in.listed[ev.Resource] = true
		return nil
	case !ev.Type.Object():
		return nil
	}
	res, _ := h.Lookup(ev.Resource)
	switch {
	case res.Group == "" && res.Resource == noderoll.Nodes:
		return in.node(ev)
	case res.Group == "" && res.Resource == noderoll.Pods:
		return in.podEvent(ev)
	case res.Group == "" && res.Resource == noderoll.Events:
		return in.event(ev)
	case res.Group == "policy" && res.Resource == noderoll.Budgets:
		return in.budget(ev)
	}
	return nil
}

// there reports whether an event is in the initial list of its resource. A tape without SYNC lists at the position
// of the resource's first event.
func (in *reading) there(ev timeline.Event) bool {
	if _, ok := in.first[ev.Resource]; !ok {
		in.first[ev.Resource] = ev.At
	}
	return !in.listed[ev.Resource] && ev.Type == timeline.Added && ev.At == in.first[ev.Resource]
}

// of returns the history of the object of an event, a new one where there is none. Identity is the UID where there is one.
func (in *reading) of(kind string, ev timeline.Event, list *[]*history) *history {
	id := kind + " " + ev.Namespace + "/" + ev.Name + " " + ev.UID
	if ev.UID != "" {
		id = kind + " " + ev.UID
	}
	there := in.there(ev)
	h := in.byUID[id]
	if h == nil {
		h = newHistory(kind, ev.Namespace, ev.Name, ev.UID, ev.At)
		h.there = there
		in.byUID[id] = h
		*list = append(*list, h)
		switch kind {
		case "Node":
			in.named[ev.Name] = append(in.named[ev.Name], h)
		case "Pod":
			in.byPath[h.path()] = h
		}
	}
	if ev.Type == timeline.Deleted && ev.UID == "" {
		delete(in.byUID, id)
	}
	return h
}

// tell puts an entry of the feed on the track of its node, and a transition on that of the roll.
func (in *reading) tell(e noderoll.Entry) {
	list := in.named[e.Node]
	if len(list) == 0 || !e.Kind.Default() || in.excluded.excludes("Node", string(e.Kind), Feed) {
		return
	}
	// When a drain shows itself depends on which pods are on the node, and the scheduler may put them anywhere. What
	// happened to the pods is compared by itself.
	if e.Kind == noderoll.EvtDraining {
		return
	}
	h := list[len(list)-1]
	h.say("", "feed", e.At, string(e.Kind))
	if e.Kind != noderoll.EvtBlocked { // which depends on how fast pods start
		in.order.say("", "feed", e.At, string(e.Kind)+" "+h.role())
	}
}

// decode reads an object of a tape.
func decode(ev timeline.Event, into any) error {
	if err := json.Unmarshal(ev.Object, into); err != nil {
		return fmt.Errorf("%s %s: %w", ev.Resource, ev.Name, err)
	}
	return nil
}
