package trigger

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
)

// Options say what is many and what is long. Both durations must be more than 0.
type Options struct {
	// Quiet is how long nothing of a roll has to happen until it is over.
	Quiet time.Duration
	// Evictions within a minute, of pods of one group, begin a roll; 0 means DefaultEvictions.
	Evictions int
	// Group, where set, is the group of all nodes: those of a recording with a scope.
	Group string
	// Begins says that the first lines are the beginning of a recording. What is on its way out there is in a roll, which was on before.
	// Else the first lines are the state in the middle of a recording, and begin nothing.
	Begins bool
}

// DefaultEvictions is how many evictions within a minute begin a roll.
const DefaultEvictions = 10

// mostGroups bounds how many groups are told apart: their names are the cluster's.
const mostGroups = 1000

// Others is the group of all nodes whose group is beyond the first 1,000.
const Others = "others"

// Decider takes the lines of a recording. It is for one goroutine.
type Decider struct {
	options Options
	kinds   map[string]func(*Decider, time.Time, *timeline.Event) // by the tape's word
	synced  map[string]bool                                       // the word's initial list is over

	nodes    map[string]*node
	machines map[machineKey]*machine
	pods     map[string]string // of those being evicted or deleted, by UID: the node
	groups   map[string]bool
	recent   map[string][]time.Time // evictions of the last minute, by group
	open     map[string]*Roll
	ended    []Roll
	look     time.Time // when a roll may be over; before that none is

	decoder kubejson.Decoder
	object  corev1.Node
}

// New returns a Decider at the beginning of a recording with this header.
func New(h *timeline.Header, o Options) *Decider {
	o.Evictions = cmp.Or(o.Evictions, DefaultEvictions)
	d := &Decider{
		options: o, kinds: map[string]func(*Decider, time.Time, *timeline.Event){}, synced: map[string]bool{},
		nodes: map[string]*node{}, machines: map[machineKey]*machine{}, pods: map[string]string{},
		groups: map[string]bool{}, recent: map[string][]time.Time{}, open: map[string]*Roll{},
	}
	for _, r := range h.Resources {
		switch r.String() {
		case "nodes":
			d.kinds[h.Key(r)] = (*Decider).node
		case "pods":
			d.kinds[h.Key(r)] = (*Decider).pod
		case "nodeclaims.karpenter.sh":
			d.kinds[h.Key(r)] = (*Decider).nodeClaim
		case "machines.cluster.x-k8s.io":
			d.kinds[h.Key(r)] = (*Decider).machine
		}
	}
	return d
}

// Apply takes the next line, which arrived at a time. Times must not decrease.
func (d *Decider) Apply(at time.Time, ev timeline.Event) {
	d.Advance(at)
	switch {
	case ev.Type == timeline.Mark:
		d.mark(at, ev)
	case ev.Type == timeline.Sync:
		d.synced[ev.Resource] = true
	case ev.Type.Object():
		if take := d.kinds[ev.Resource]; take != nil {
			take(d, at, &ev)
		}
	}
}

// Advance lets time pass: rolls in which nothing has happened for long enough are over.
func (d *Decider) Advance(now time.Time) {
	if len(d.open) == 0 || now.Before(d.look) {
		return
	}
	d.look = now.Add(d.options.Quiet)
	for _, group := range slices.Sorted(maps.Keys(d.open)) {
		r := d.open[group]
		over := r.Last.Add(d.options.Quiet)
		switch {
		case over.After(now):
			if over.Before(d.look) {
				d.look = over
			}
		case d.held(r): // it goes on
		case r.idle: // somebody may have cordoned a node weeks ago, and left it
			delete(d.open, group)
		default:
			d.end(r, over, Complete)
		}
	}
}

// held reports whether something of a roll is under way: a node or machine of the group on which something began with it or
// later. One that was cordoned or broken before holds no roll open.
func (d *Decider) held(r *Roll) bool {
	counts := func(group string, since time.Time) bool {
		return group == r.Group && !since.Before(r.Since)
	}
	for _, n := range d.nodes {
		if n.underWay() && !n.listed && counts(n.group, n.since) {
			return true
		}
	}
	for _, m := range d.machines {
		if m.deleting && !m.listed && counts(m.group, m.since) {
			return true
		}
	}
	return false
}

func (d *Decider) end(r *Roll, at time.Time, how Outcome) {
	delete(d.open, r.Group)
	r.Ended, r.Outcome = at, how
	d.ended = append(d.ended, *r)
}

// Open returns the rolls that are on, by group.
func (d *Decider) Open() (rolls []Roll) {
	for _, group := range slices.Sorted(maps.Keys(d.open)) {
		rolls = append(rolls, *d.open[group])
	}
	return rolls
}

// Ended takes the rolls that have ended since it was last called, in their order.
func (d *Decider) Ended() []Roll {
	ended := d.ended
	d.ended = nil
	return ended
}

// Interrupt ends all rolls: the recorder is about to end, and nobody will go on. One that was found and of which nothing has happened
// would be a tape of nothing, of every recorder that begins while a node is cordoned.
func (d *Decider) Interrupt(now time.Time) {
	for _, group := range slices.Sorted(maps.Keys(d.open)) {
		if r := d.open[group]; r.idle {
			delete(d.open, group)
		} else {
			d.end(r, now, Interrupted)
		}
	}
}

// happened keeps the roll of a group open, where one is.
func (d *Decider) happened(at time.Time, group string) {
	if r := d.open[group]; r != nil {
		r.Last, r.idle = at, false
	}
}

// begin opens a roll of a group, or keeps it open. One that was found, and of which nothing has happened, begins now: another recorder may
// have seen this trigger, and not what was found. before says that the trigger's node was on its way out when the recording began.
func (d *Decider) begin(at time.Time, group string, before bool, t Trigger) {
	r := d.open[group]
	if r != nil && !r.idle {
		d.happened(at, group)
		return
	}
	d.enter(&Roll{Group: group, Trigger: t, Part: 1, Began: at, Since: at, Last: at, Found: before || r != nil})
}

// find opens a roll that was on when the recording began, by an object that is on its way out there.
func (d *Decider) find(at time.Time, group string, ev *timeline.Event, reason string) {
	if !d.options.Begins || d.open[group] != nil {
		return
	}
	t := trigger(ev, Found, time.Time{}, reason+" when the recording began")
	d.enter(&Roll{Group: group, Trigger: t, Part: 1, Began: at, Since: at, Last: at, Found: true, idle: true})
}

func (d *Decider) enter(r *Roll) {
	if over := r.Last.Add(d.options.Quiet); len(d.open) == 0 || over.Before(d.look) {
		d.look = over
	}
	d.open[r.Group] = r
}

// group is the one by which a name goes.
func (d *Decider) group(name string) string {
	switch {
	case d.options.Group != "":
		return d.options.Group
	case d.groups[name]:
		return name
	case len(d.groups) >= mostGroups:
		return Others
	}
	d.groups[name] = true
	return name
}

func trigger(ev *timeline.Event, kind Kind, when time.Time, reason string) Trigger {
	return Trigger{
		Kind: kind, Resource: ev.Resource, Namespace: ev.Namespace, Name: ev.Name, UID: ev.UID, RV: ev.RV, Reason: reason, Time: when,
	}
}
