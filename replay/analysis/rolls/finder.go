package rolls

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// mostGroups bounds how many groups are told of each mark; the nodes of
// further ones are taken as one group.
const (
	mostGroups = 1000
	others     = "(others)"
)

// Finder finds the rolls of every group on a tape. Each group has a Follower of
// its own, which is told of its nodes alone.
type Finder struct {
	header  *timeline.Header
	options observe.Options
	nodes   map[string]*node
	groups  map[string]*group
	order   []*group
	claims  claims
	kinds   map[string]string // noderoll.Nodes, noderoll.NodeClaims or "", by resource key
	pods    *podRolls         // nil where the scope names none
	scope   observe.Options   // as the header has it
	matched bool              // a node of that scope was there
	synced  bool              // the initial list of nodes is over
	listing *timeline.Event   // the GAP of a list that continues
	at      time.Duration     // of the present event
	line    int               // of the present event
	quiet   bool              // it is a heartbeat
	current timeline.Event    // of an object: on the heap once
	words   rawjson.Words     // of all nodes
	check   patchCheck        // see CheckPatches
}

// New returns a Finder at the beginning of the tape that h heads. The options are those of a feed: of their nodegroup and
// selector only Unmatched makes use.
func New(h *timeline.Header, o observe.Options) *Finder {
	// Nodes are sorted into groups here; what the header says of the scope was
	// done by the recorder.
	pods, scope := newPodRolls(h, o), o
	o.Pool, o.Selector, o.Pods = "", nil, noderoll.PodScope{}
	return &Finder{
		pods: pods, scope: scope,
		header: h, options: o,
		nodes: map[string]*node{}, groups: map[string]*group{},
		claims: claims{map[string]string{}, map[string]bool{}}, kinds: map[string]string{},
	}
}

// CheckPatches has the Finder refuse the patches that a Reader of whole objects refuses: for one that hands out lines.
func (r *Finder) CheckPatches() {
	r.check = func() int { return r.line }
	if r.pods != nil {
		r.pods.check = r.check
	}
}

// Unmatched is the error of a scope that nothing on the tape is in.
func (r *Finder) Unmatched() error {
	switch {
	case r.pods != nil:
		return r.pods.follower.Unmatched()
	case r.matched:
		return nil
	}
	return r.scope.NoNode(slices.Sorted(maps.Keys(r.groups)))
}

// Quiet reports whether the event that was taken last is of a node and changes only what a heartbeat does, the condition
// Ready's reason and message among it.
func (r *Finder) Quiet() bool { return r.quiet }

// Group is the name of the group that a node is of, while it is there.
func (r *Finder) Group(node string) string {
	if n := r.nodes[node]; n != nil && n.group != nil {
		return n.group.name
	}
	return ""
}

// kind says whether a resource key of the tape means nodes, NodeClaims or neither.
func (r *Finder) kind(key string) string {
	kind, known := r.kinds[key]
	if !known {
		switch res, ok := r.header.Lookup(key); {
		case !ok:
		case res.Group == "" && res.Resource == noderoll.Nodes:
			kind = noderoll.Nodes
		case res.Resource+"."+res.Group == noderoll.NodeClaims:
			kind = noderoll.NodeClaims
		}
		r.kinds[key] = kind
	}
	return kind
}

// Apply takes the tape's next event, from this line: with its whole object, with a patch, or with what its line has.
func (r *Finder) Apply(ev timeline.Event, line int) error {
	r.at, r.line, r.quiet = ev.At, line, false
	if r.pods != nil {
		if err := r.pods.apply(ev, line); err != nil {
			return err
		}
	}
	if ev.Type == timeline.Mark {
		return r.tell(ev)
	}
	switch kind := r.kind(ev.Resource); {
	case kind == noderoll.NodeClaims && ev.Type.Object():
		r.claim(&ev)
	case kind != noderoll.Nodes:
	case ev.Type.Object():
		r.current = ev
		return r.object(&r.current)
	case ev.Type == timeline.Sync:
		r.synced, r.listing = true, nil
		return r.tell(ev)
	case ev.Type == timeline.Gap:
		listing := ev
		r.listing = &listing
		return r.tell(ev)
	}
	return nil
}

// tell hands an event that is no node's to every group.
func (r *Finder) tell(ev timeline.Event) error {
	for _, g := range r.order {
		if err := g.apply(ev, r.line); err != nil {
			return err
		}
	}
	return nil
}

func (r *Finder) object(ev *timeline.Event) error {
	n := r.nodes[ev.Name]
	if n == nil {
		n = &node{uid: ev.UID}
		r.nodes[ev.Name] = n
	}
	if r.quiet = n.quiet(ev); r.quiet {
		return nil
	}
	labelled, err := n.put(ev, r.check)
	if err != nil {
		return err
	}
	ev.UID = n.uid
	if labelled || r.listing != nil { // else the patch is all that the group's Follower looks at
		ev.Object = n.whole()
	}
	if labelled {
		if err := r.sort(n, ev); err != nil {
			return err
		}
	}
	n.group.scaleDown(ev.Name, n.tainted, r.claims.surplus[ev.Name])
	if ev.Type == timeline.Deleted {
		delete(r.nodes, ev.Name)
		delete(r.claims.surplus, ev.Name)
	}
	return n.group.apply(*ev, r.line)
}

// sort puts a node into its group, and takes it out of a former one.
func (r *Finder) sort(n *node, ev *timeline.Event) error {
	of, provider := identify(n.whole(), &r.words), r.options.Provider
	if provider.IsAuto() {
		provider = noderoll.Detect(of)
	}
	name := provider.Pool(of)
	r.matched = r.matched || (r.scope.Pool == "" || r.scope.Pool == name) &&
		(r.scope.Selector == nil || r.scope.Selector.Matches(labels.Set(of.Labels)))
	if r.groups[name] == nil && len(r.groups) >= mostGroups {
		name = others
	}
	g := r.groups[name]
	if g == n.group && g != nil {
		return nil
	}
	if was := n.group; was != nil {
		if err := was.apply(timeline.Event{At: ev.At, Type: timeline.Deleted, Resource: ev.Resource, Name: ev.Name, UID: n.uid}, r.line); err != nil {
			return err
		}
		if ev.Type == timeline.Modified {
			ev.Type = timeline.Added
		}
	}
	if g == nil {
		g = &group{name: name, follower: observe.New(r.header, r.options), coming: map[string]bool{}, scaledDown: map[string]bool{}}
		g.follower.TrustPatches()
		r.groups[name] = g
		r.order = append(r.order, g)
		if err := r.catchUp(g, ev); err != nil {
			return err
		}
	}
	n.group = g
	return nil
}

// catchUp tells a group that appears late what has been told before: that the
// list of nodes, without any of it, is over.
func (r *Finder) catchUp(g *group, ev *timeline.Event) error {
	if !r.synced {
		return nil
	}
	if err := g.apply(timeline.Event{At: ev.At, Type: timeline.Sync, Resource: ev.Resource, RV: ev.RV}, r.line); err != nil {
		return err
	}
	if r.listing != nil {
		return g.apply(*r.listing, r.line)
	}
	return nil
}

// Found returns the rolls of all groups by start, then by group.
func (r *Finder) Found() []Roll {
	var all []Roll
	for _, g := range r.order {
		g.finish(r.at, r.line)
		all = append(all, g.rolls...)
	}
	if r.pods != nil {
		all = append(all, r.pods.found()...)
	}
	slices.SortStableFunc(all, func(a, b Roll) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Nodegroup, b.Nodegroup))
	})
	return all
}
