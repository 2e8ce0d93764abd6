package analysis

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// gathered are the waits of a node's pods for the same thing in the same phase.
type gathered struct {
	Wait
	pods []*pod
}

// waits gathers what a node's phases waited for.
func (s *reading) waits(n *node) []Wait {
	g := gatherer{s: s}
	out := slices.Clone(n.notReady)
	if n.Requested != nil && n.Joined != nil && n.Joined.At > n.Requested.At {
		w := Wait{Kind: WaitMachine, Phase: PhaseBooting, From: *n.Requested, To: *n.Joined, Object: n.Claim}
		w.Duration = w.To.At - w.From.At
		if m := n.machine; m != nil {
			w.Reason, w.Message = m.reason, m.message
		}
		out = append(out, w)
	}
	if n.Joined != nil && !(n.Node.Ready == nil && n.Terminated == nil && n.wasReady) {
		w := Wait{Kind: WaitNodeReady, Phase: PhaseJoining, From: *n.Joined, Object: "Node/" + n.Name, Reason: n.joinReason, Message: n.joinMessage}
		switch {
		case n.Node.Ready != nil:
			w.To = *n.Node.Ready
		case n.Terminated != nil:
			w.To = *n.Terminated
		default:
			w.To, w.Unfinished = s.now, true
		}
		if w.Duration = w.To.At - w.From.At; w.Duration > 0 {
			out = append(out, w)
		}
	}
	for _, k := range n.ended {
		w := Wait{Kind: WaitBudget, Phase: PhaseCordoned, From: k.from, To: k.to, Duration: k.to.At - k.from.At, Object: k.budget.path(), Message: k.why}
		w.Unfinished = !n.terminatedAt.is() && k.to == s.now
		w.name(k.pods)
		out = append(out, w)
	}
	for _, p := range n.drained {
		g.pod(n, p)
	}
	out = append(out, g.waits()...)
	if n.Drained != nil && (n.Terminated != nil || !n.terminatedAt.is() && n.phase == PhaseTerminating) {
		out = append(out, s.shutdown(n)...)
	}
	return out
}

// kept is the pod of a drained node whose object a finalizer kept longest, after its containers had ended.
func (n *node) kept() (last *pod) {
	for _, p := range n.drained {
		if p.finalizers && p.goneAt.is() && p.deleted.is() && n.Drained.At < p.goneAt.At && (n.Terminated == nil || !n.Terminated.before(p.goneAt)) &&
			(last == nil || last.goneAt.before(p.goneAt)) {
			last = p
		}
	}
	return last
}

// shutdown is what a drained node waited for: objects of its pods that finalizers kept, its volumes to be detached, and then
// its end.
func (s *reading) shutdown(n *node) (out []Wait) {
	to, unfinished := s.now, true
	if n.Terminated != nil {
		to, unfinished = *n.Terminated, false
	}
	from := *n.Drained
	if p := n.kept(); p != nil {
		w := Wait{Kind: WaitFinalizer, Phase: PhaseTerminating, From: from, To: p.goneAt, Duration: p.goneAt.At - from.At, Object: p.workload.path()}
		w.name([]*pod{p})
		out, from = append(out, w), p.goneAt
	}
	if n.detached.is() && from.before(n.detached) && n.detached.At > from.At && n.detached.At <= to.At {
		out = append(out, Wait{Kind: WaitVolume, Phase: PhaseTerminating, From: from, To: n.detached, Duration: n.detached.At - from.At, Object: "Node/" + n.Name})
		from = n.detached
	}
	if to.At > from.At {
		out = append(out, Wait{Kind: WaitNodeShutdown, Phase: PhaseTerminating, From: from, To: to, Duration: to.At - from.At, Object: "Node/" + n.Name, Unfinished: unfinished})
	}
	return out
}

type gatherKey struct {
	kind   WaitKind
	object string
}

type gatherer struct {
	s     *reading
	order []gatherKey
	of    map[gatherKey]*gathered
}

func (g *gatherer) add(p *pod, w Wait) {
	if w.Duration <= 0 {
		return
	}
	key := gatherKey{w.Kind, w.Object}
	all := g.of[key]
	if all == nil {
		if g.of == nil {
			g.of = map[gatherKey]*gathered{}
		}
		all = &gathered{Wait: w}
		g.of[key] = all
		g.order = append(g.order, key)
	}
	if w.From.before(all.From) {
		all.From = w.From
	}
	if all.To.before(w.To) {
		all.To = w.To
	}
	if w.Duration > all.Duration {
		all.Duration, all.Reason, all.Message = w.Duration, w.Reason, w.Message
	}
	all.Unfinished = all.Unfinished || w.Unfinished
	all.pods = append(all.pods, p)
}

func (g *gatherer) waits() (out []Wait) {
	for _, key := range g.order {
		all := g.of[key]
		slices.SortStableFunc(all.pods, byName)
		all.pods = slices.CompactFunc(all.pods, func(a, b *pod) bool { return a.objectName == b.objectName })
		all.name(all.pods)
		out = append(out, all.Wait)
	}
	return out
}

// name lists the pods that wait.
func (w *Wait) name(pods []*pod) {
	for _, p := range pods {
		if len(w.Pods) == mostPods {
			w.MorePods++
			continue
		}
		w.Pods = append(w.Pods, p.String())
	}
}

// leaving are the moments of a pod that a drain has to move: it was to go, its deletion began, its grace was over, it was gone.
type leaving struct {
	asked, granted, over, left Moment
	finalizer                  bool // kept it after over
	isGranted, isLeft          bool // on the tape; otherwise these are its last line
}

// leaving works these moments out for a pod that the drain of a node waited for.
func (s *reading) leaving(n *node, p *pod) (l leaving, ok bool) {
	end := s.now
	if n.terminatedAt.is() {
		end = n.terminatedAt
	}
	switch {
	case n.DrainBegan != nil:
		l.asked = *n.DrainBegan
	case n.initial && n.evidence:
		l.asked = n.appeared
	default:
		return l, false
	}
	if p.held.asked.is() && l.asked.before(p.held.asked) {
		l.asked = p.held.asked
	}
	l.left, l.isLeft = end, false
	if p.left.is() && !end.before(p.left) {
		l.left, l.isLeft = p.left, true
	}
	l.granted, l.isGranted = l.left, l.isLeft
	if p.deleting {
		l.granted, l.isGranted = p.deleted, true
		if !p.deleted.is() {
			l.granted = n.appeared // before the tape
		}
	}
	if l.granted.before(l.asked) {
		l.granted = l.asked
	}
	if l.left.before(l.granted) {
		return l, false // it had left before
	}
	l.over = l.left
	if p.finalizers && p.deleted.is() {
		over := Moment{p.deleted.At + p.grace, l.left.Line}
		if p.over.is() && p.over.before(over) {
			over = p.over
		}
		if over.before(l.left) && over.At < l.left.At {
			l.over, l.finalizer = over, true
			if l.over.before(l.granted) {
				l.over = l.granted
			}
		}
	}
	return l, true
}

// pod adds what one pod of a drained node waited for.
func (g *gatherer) pod(n *node, p *pod) {
	l, ok := g.s.leaving(n, p)
	if !ok {
		return
	}
	h := &p.held
	until := l.granted.At - l.asked.At
	if h.refused > 0 {
		g.add(p, Wait{
			Kind: WaitBudget, Phase: PhaseDraining, From: h.from, To: h.to, Duration: min(h.refused, h.to.At-h.from.At),
			Object: h.budget.path(), Message: h.why, Unfinished: !l.isGranted,
		})
	}
	if rest := until - h.refused; rest > 0 {
		g.add(p, Wait{Kind: WaitController, Phase: PhaseDraining, From: l.asked, To: l.granted, Duration: rest, Unfinished: !l.isGranted})
	}
	if !l.isGranted {
		return
	}
	g.add(p, Wait{
		Kind: WaitGrace, Phase: PhaseDraining, From: l.granted, To: l.over, Duration: l.over.At - l.granted.At,
		Object: p.workload.path(), Message: graceMessage(p), Unfinished: !l.isLeft && !l.finalizer,
	})
	if l.finalizer {
		g.add(p, Wait{
			Kind: WaitFinalizer, Phase: PhaseDraining, From: l.over, To: l.left, Duration: l.left.At - l.over.At,
			Object: p.workload.path(), Unfinished: !l.isLeft,
		})
	}
	g.replaced(l, p)
}

func graceMessage(p *pod) string {
	if p.grace <= 0 {
		return ""
	}
	return "a grace period of " + p.grace.String()
}

// replaced adds what the pod waited for whose readiness let this one go.
func (g *gatherer) replaced(l leaving, p *pod) {
	q := replacement(l, p)
	if q == nil {
		return
	}
	for _, part := range starting(q) {
		part.Phase = PhaseDraining
		if part.From.before(l.asked) {
			part.From = l.asked
		}
		part.Duration = part.To.At - part.From.At
		g.add(q, part)
	}
}

// replacement is the pod whose readiness let a budget grant the eviction of another one: the last one that the budget covers
// and that became ready before, after the eviction was asked for.
func replacement(l leaving, p *pod) *pod {
	h := &p.held
	if h.refused <= 0 || h.budget == nil || !l.isGranted {
		return nil
	}
	until := l.granted
	if h.to.before(until) {
		until = h.to
	}
	at, _ := slices.BinarySearchFunc(h.budget.ready, until, func(q *pod, m Moment) int {
		if q.readyAt.before(m) {
			return -1
		}
		return 1
	})
	if at == 0 {
		return nil
	}
	q := h.budget.ready[at-1]
	if q.readyAt.before(l.asked) || q == p || !q.created.is() {
		return nil
	}
	return q
}

// starting are the parts of a pod's way from its creation to Ready.
func starting(q *pod) (parts []Wait) {
	at := q.created
	add := func(kind WaitKind, to Moment, reason, message string) {
		if to.is() && at.before(to) && !q.readyAt.before(to) {
			if to.At > at.At {
				parts = append(parts, Wait{Kind: kind, From: at, To: to, Duration: to.At - at.At, Object: q.workload.path(), Reason: reason, Message: message})
			}
			at = to
		}
	}
	add(WaitScheduling, q.scheduled, q.pendingReason, q.whyPending)
	if q.volumeFrom.is() {
		to := q.volumeTo
		if !to.is() {
			to = q.pullFrom
		}
		add(WaitVolume, to, q.volumeReason, q.volumeMessage)
	}
	add(WaitPodStart, q.pullFrom, "", "")
	if q.pullFrom.is() {
		add(WaitImagePull, q.pullTo, q.pullReason, q.pullMessage)
	}
	add(WaitPodStart, q.readyAt, "", "")
	return parts
}

// byCost sorts by duration, the longest first.
func byCost[T any](all []T, cost func(*T) time.Duration, name func(*T) string) {
	slices.SortStableFunc(all, func(a, b T) int {
		return cmp.Or(cmp.Compare(cost(&b), cost(&a)), strings.Compare(name(&a), name(&b)))
	})
}
