package analysis

import (
	"cmp"
	"slices"
	"time"
)

// graph holds the moments of one roll, and what each had to wait for. The time of a moment is that of the latest of those it
// follows on, and its own lag. A moment that begins something on a node, which whatever rolls the group decides, follows on a
// number of completions as well: that many new nodes were Ready, or old ones drained or terminated, when it came. So a graph
// can be evaluated with other lags: what follows moves.
//
// Nothing follows on what the tape shows after it, so that a graph has no circles.
type graph struct {
	moments []vertex
	done    [completions][]int32 // by kind, in the tape's order
	group   string
	ready   map[*pod]int32 // readiness of pods that let others go
	granted map[*pod]int32
	up      map[*node]int32 // readiness of nodes that joined
	from    Moment
	to      Moment
}

// completion is a kind of what a beginning can follow on.
type completion uint8

const (
	none completion = iota
	nodeReady
	nodeDrained
	nodeTerminated

	completions
)

// vertex is a moment.
type vertex struct {
	at    Moment
	after []int32       // what it follows on
	cross int32         // that of them which counts only while its own wait does; 0 is none
	lag   time.Duration // from the latest of them
	key   gatherKey     // what the lag was spent on
	phase Phase
	node  *node
	pod   *pod
	what  event
	wait  *Wait // of a pod that starts
	// A beginning also follows on the count-th completion of a kind.
	kind  completion
	count int
	ends  completion // what it completes
}

// event is what happens at a moment.
type event uint8

const (
	atStart event = iota
	atRequest
	atJoin
	atReady
	atCordon
	atDrain
	atGrant
	atOver
	atLeft
	atDrained
	atDetached
	atTerminated
	atCreated
	atPart
	atEnd
)

// root is the roll's beginning.
const root int32 = 0

// afterRoot follows on nothing else. It is shared: nobody writes to it.
var afterRoot = []int32{root}

// add adds a moment that follows on others. One that was before the roll, or of which the tape shows something earlier than
// what it follows on, is the roll's beginning.
func (g *graph) add(v vertex) int32 {
	if v.at.before(g.from) {
		return root
	}
	v.after = slices.DeleteFunc(v.after, func(p int32) bool { return v.at.before(g.moments[p].at) })
	if len(v.after) == 0 {
		v.after = afterRoot
	}
	g.moments = append(g.moments, v)
	i := int32(len(g.moments) - 1)
	if v.ends != none {
		g.done[v.ends] = append(g.done[v.ends], i)
	}
	return i
}

// has reports whether a moment is on the tape and no later than the roll.
func (g *graph) has(m *Moment) bool { return m != nil && !g.to.before(*m) }

// graph builds the graph of a roll.
func (s *reading) graph(r *Roll) *graph {
	size := 1 // about what a node and its pods have
	for _, n := range s.groups[r.Group] {
		size += 6 + 3*len(n.drained)
	}
	g := &graph{
		group: r.Group, from: r.Start, to: r.End,
		moments: append(make([]vertex, 0, size), vertex{at: r.Start}), ready: map[*pod]int32{}, granted: map[*pod]int32{}, up: map[*node]int32{},
	}
	unfinished := r.Outcome != Complete
	var last []int32 // what the end follows on
	var drains []*node
	for _, n := range s.groups[r.Group] {
		if !g.has(&n.appeared) || n.Terminated != nil && n.Terminated.before(g.from) {
			continue
		}
		last = append(last, g.joins(n, unfinished)...)
		drains = append(drains, n)
	}
	ends := map[*node][]int32{}
	begun := map[*node]int32{}
	for _, n := range drains {
		begun[n] = g.cordon(n)
	}
	for _, n := range drains {
		ends[n] = s.evictions(g, n, begun[n])
	}
	s.replacements(g)
	for _, n := range drains {
		last = append(last, g.goes(n, begun[n], ends[n], unfinished)...)
	}
	g.moments = append(g.moments, vertex{at: r.End, after: append(last, root), what: atEnd, phase: PhaseBetween, key: gatherKey{kind: WaitController}})
	g.link()
	return g
}

// joins adds the moments in which a new node came: what the end of the roll follows on.
func (g *graph) joins(n *node, unfinished bool) []int32 {
	if n.Joined == nil || !g.has(n.Joined) {
		return nil
	}
	var at int32
	if n.Requested != nil && g.has(n.Requested) && !n.Joined.before(*n.Requested) {
		at = g.add(vertex{at: *n.Requested, what: atRequest, node: n, phase: PhaseBetween, key: gatherKey{kind: WaitController}, kind: nodeReady})
		at = g.add(vertex{at: *n.Joined, after: []int32{at}, what: atJoin, node: n, phase: PhaseBooting, key: gatherKey{kind: WaitMachine}})
	} else {
		at = g.add(vertex{at: *n.Joined, what: atJoin, node: n, phase: PhaseBetween, key: gatherKey{kind: WaitController}, kind: nodeReady})
	}
	v := vertex{after: []int32{at}, what: atReady, node: n, phase: PhaseJoining, key: gatherKey{kind: WaitNodeReady}, ends: nodeReady}
	switch {
	case g.has(n.Node.Ready):
		v.at = *n.Node.Ready
		g.up[n] = g.add(v)
		return []int32{g.up[n]}
	case unfinished && !n.wasReady && n.Terminated == nil:
		v.at, v.ends = g.to, none
		return []int32{g.add(v)}
	}
	return nil
}

// cordon adds the moments in which a node was cordoned and in which its drain began, and returns the latest.
func (g *graph) cordon(n *node) int32 {
	at := root
	if g.has(n.Cordoned) {
		at = g.add(vertex{at: *n.Cordoned, what: atCordon, node: n, phase: PhaseBetween, key: gatherKey{kind: WaitController}, kind: nodeReady})
	}
	switch {
	case g.has(n.DrainBegan):
		v := vertex{at: *n.DrainBegan, after: []int32{at}, what: atDrain, node: n, phase: PhaseCordoned, key: gatherKey{kind: WaitController}, kind: nodeReady}
		for _, k := range n.ended {
			switch {
			case !k.to.before(*n.DrainBegan):
				v.key = gatherKey{WaitBudget, k.budget.path()}
				v.after = []int32{g.blocked(n, k, at)}
			case n.Cordoned == nil || !k.from.before(*n.Cordoned): // of this cordon: it let go, and the drainer asked again later
				at = g.add(vertex{at: k.to, after: []int32{g.blocked(n, k, at)}, what: atDrain, node: n, phase: PhaseCordoned, key: gatherKey{WaitBudget, k.budget.path()}})
				v.after = []int32{at}
			}
		}
		at = g.add(v)
	case g.has(n.Terminated): // while a budget held its pods, as a surplus node of EKS when the time of its drain is over
		for _, k := range n.ended {
			if n.Cordoned == nil || k.from.before(*n.Cordoned) {
				continue
			}
			v := vertex{at: k.to, after: []int32{g.blocked(n, k, at)}, what: atDrain, node: n, phase: PhaseCordoned, key: gatherKey{WaitBudget, k.budget.path()}}
			if n.Terminated.before(v.at) {
				v.at = *n.Terminated
			}
			at = g.add(v)
		}
	}
	return at
}

// blocked adds the moment in which a budget began to hold up a node that was only cordoned.
func (g *graph) blocked(n *node, k *blockade, after int32) int32 {
	return g.add(vertex{at: k.from, after: []int32{after}, what: atDrain, node: n, phase: PhaseCordoned, key: gatherKey{kind: WaitController}, kind: nodeReady})
}

// then is what follows on two moments, of which the second may be before the roll.
func (g *graph) then(first, second int32) []int32 {
	if first == second || second == root {
		return []int32{first}
	}
	return []int32{first, second}
}

// evictions adds the moments in which the pods of a drained node were first and last refused and were let go, and
// returns the last of them.
func (s *reading) evictions(g *graph, n *node, begun int32) (granted []int32) {
	for _, p := range n.drained {
		l, ok := s.leaving(n, p)
		if !ok {
			granted = append(granted, -1)
			continue
		}
		v := vertex{at: l.granted, after: []int32{begun}, what: atGrant, node: n, pod: p, phase: PhaseDraining, key: gatherKey{kind: WaitController}}
		if g.to.before(v.at) {
			v.at = g.to
		}
		if h := &p.held; h.refused > 0 && h.from.before(v.at) {
			asked, held := v, v
			asked.at, held.at = h.from, v.at
			if h.to.before(v.at) {
				held.at = h.to
			}
			held.key = gatherKey{WaitBudget, h.budget.path()}
			held.after = g.then(begun, g.add(asked))
			v.after = g.then(begun, g.add(held))
		}
		i := g.add(v)
		g.granted[p] = i
		granted = append(granted, i)
	}
	return granted
}

// replacements adds the moments in which pods became ready whose readiness let others go, and lets these follow on them.
func (s *reading) replacements(g *graph) {
	for i := range g.moments {
		v := &g.moments[i]
		if v.what != atGrant || v.key.kind != WaitBudget {
			continue
		}
		l, ok := s.leaving(v.node, v.pod)
		if !ok {
			continue
		}
		q := replacement(l, v.pod)
		if q == nil || !q.readyAt.before(v.at) || q.readyAt.before(g.from) {
			continue
		}
		at, known := g.ready[q]
		if !known {
			at = s.starts(g, q, g.moments[i].node)
			g.ready[q] = at
		}
		if at != root {
			v = &g.moments[i] // the graph has grown
			v.after, v.cross = append(v.after, at), at
		}
	}
}

// starts adds the moments in which a pod was created, came to its node and became ready, and returns the last.
func (s *reading) starts(g *graph, q *pod, of *node) int32 {
	v := vertex{at: q.created, what: atCreated, pod: q, node: of, phase: PhaseDraining, key: gatherKey{kind: WaitController}}
	if p, at := q.workload.before(q); p != nil {
		if i, known := g.granted[p]; known && i != root && !q.created.before(at) && !q.created.before(g.moments[i].at) {
			v.after = []int32{i}
		}
	}
	if v.after == nil {
		v.kind = nodeReady
	}
	at := g.add(v)
	for _, part := range starting(q) {
		key := gatherKey{part.Kind, part.Object}
		v := vertex{at: part.To, after: []int32{at}, what: atPart, pod: q, node: of, phase: PhaseDraining, key: key, wait: &part}
		if part.Kind == WaitScheduling && q.place != nil && q.place.node != nil {
			if up, known := g.up[q.place.node]; known && g.moments[up].at.before(part.To) {
				v.after = append(v.after, up)
			}
		}
		at = g.add(v)
	}
	return at
}

// before is the pod of a workload whose deletion was the last one before another pod was created. A StatefulSet creates a
// pod once the former one is gone, others once its deletion has begun.
func (w *workload) before(q *pod) (*pod, Moment) {
	when, list := func(p *pod) Moment {
		if p.deleted.is() {
			return p.deleted
		}
		return p.goneAt
	}, w.deletions
	if w.Kind == "StatefulSet" {
		when, list = func(p *pod) Moment { return p.goneAt }, w.gone
	}
	at, _ := slices.BinarySearchFunc(list, q.created, func(p *pod, m Moment) int {
		if m.before(when(p)) {
			return 1
		}
		return -1
	})
	if at == 0 {
		return nil, Moment{}
	}
	return list[at-1], when(list[at-1])
}

// goes adds the moments in which a node's pods were gone, in which it was drained and in which it went: what the end of the
// roll follows on.
func (g *graph) goes(n *node, begun int32, granted []int32, unfinished bool) (last []int32) {
	var left []int32
	for i, p := range n.drained {
		if granted[i] < 0 {
			continue
		}
		v, done := g.leaves(n, p, granted[i])
		switch {
		case done:
			left = append(left, v)
		case unfinished && g.moments[v].at == g.to && !g.has(n.Terminated):
			last = append(last, v)
		}
	}
	if k := n.blockedAt(g.to); k != nil && unfinished && !g.has(n.DrainBegan) {
		last = append(last, g.add(vertex{at: g.to, after: []int32{g.blocked(n, k, begun)}, what: atGrant, node: n, phase: PhaseCordoned, key: gatherKey{WaitBudget, k.budget.path()}}))
	}
	at := begun
	if g.has(n.Drained) && n.DrainBegan != nil {
		at = g.add(vertex{at: *n.Drained, after: append(left, begun), what: atDrained, node: n, phase: PhaseDraining, key: gatherKey{kind: WaitController}, ends: nodeDrained})
	}
	if n.Drained != nil && at != root {
		if p := n.kept(); p != nil && g.has(&p.goneAt) {
			at = g.add(vertex{at: p.goneAt, after: []int32{at}, what: atLeft, node: n, pod: p, phase: PhaseTerminating, key: gatherKey{WaitFinalizer, p.workload.path()}})
		}
	}
	if g.has(&n.detached) && n.Drained != nil && g.moments[at].at.before(n.detached) && at != root {
		at = g.add(vertex{at: n.detached, after: []int32{at}, what: atDetached, node: n, phase: PhaseTerminating, key: gatherKey{WaitVolume, "Node/" + n.Name}})
	}
	v := vertex{after: []int32{at}, what: atTerminated, node: n, phase: PhaseTerminating, key: gatherKey{kind: WaitNodeShutdown}, ends: nodeTerminated}
	if n.Cordoned == nil && n.DrainBegan == nil || n.Drained == nil {
		v.key, v.kind = gatherKey{kind: WaitController}, nodeReady
	}
	switch {
	case g.has(n.Terminated):
		v.at = *n.Terminated
		return append(last, g.add(v))
	case unfinished && g.has(n.Drained) && n.DrainBegan != nil:
		v.at, v.ends = g.to, none
		return append(last, g.add(v))
	}
	return last
}

// leaves adds the moments in which a pod's grace was over and in which it was gone; done says that it was during the roll.
func (g *graph) leaves(n *node, p *pod, granted int32) (at int32, done bool) {
	end := g.to
	switch {
	case !p.deleting && !p.left.is(), g.moments[granted].at == g.to && g.to.before(p.deleted):
		return granted, false
	}
	done = p.left.is() && !g.to.before(p.left)
	if done {
		end = p.left
	}
	if end.before(g.moments[granted].at) {
		return granted, done
	}
	key := gatherKey{WaitGrace, p.workload.path()}
	at = granted
	if p.finalizers && p.deleted.is() {
		over := Moment{p.deleted.At + p.grace, end.Line}
		if p.over.is() && p.over.before(over) {
			over = p.over
		}
		if g.moments[granted].at.before(over) && over.At < end.At {
			at = g.add(vertex{at: over, after: []int32{at}, what: atOver, node: n, pod: p, phase: PhaseDraining, key: key})
			key.kind = WaitFinalizer
		}
	}
	return g.add(vertex{at: end, after: []int32{at}, what: atLeft, node: n, pod: p, phase: PhaseDraining, key: key}), done
}

// blockedAt is the blockade of a node at a moment.
func (n *node) blockedAt(m Moment) *blockade {
	for _, k := range n.ended {
		if !m.before(k.from) && !k.to.before(m) {
			return k
		}
	}
	return nil
}

// link lets each beginning follow on the latest completion before it, and works out all lags.
func (g *graph) link() {
	for kind := range g.done {
		slices.SortStableFunc(g.done[kind], func(a, b int32) int {
			x, y := g.moments[a].at, g.moments[b].at
			return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.Line, y.Line))
		})
	}
	for i := range g.moments {
		v := &g.moments[i]
		if int32(i) == root {
			continue
		}
		latest := g.from
		for _, p := range v.after {
			if at := g.moments[p].at; latest.before(at) {
				latest = at
			}
		}
		if v.kind != none {
			v.kind = none
			latest = g.follow(v, latest)
		}
		v.lag = v.at.At - latest.At
	}
}

// follow finds the latest completion before a beginning, if it is later than what the beginning follows on anyway.
func (g *graph) follow(v *vertex, latest Moment) Moment {
	for kind := nodeReady; kind < completions; kind++ {
		n, _ := slices.BinarySearchFunc(g.done[kind], v.at, func(i int32, m Moment) int {
			if g.moments[i].at.before(m) {
				return -1
			}
			return 1
		})
		if n == 0 {
			continue
		}
		if at := g.moments[g.done[kind][n-1]].at; latest.before(at) {
			latest, v.kind, v.count = at, kind, n
		}
	}
	return latest
}
