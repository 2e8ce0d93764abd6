package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// trace finds the critical path of a roll, and what would have made it shorter.
func (s *reading) trace(r *Roll) {
	if r.Pods != "" {
		if r.Duration > 0 {
			r.Path = []Step{{From: r.Start, To: r.End, Duration: r.Duration, Phase: PhaseBetween, Text: "pods were updated in place"}}
		}
		return
	}
	g := s.graph(r)
	r.Path = g.path()
	r.Savings = g.savings()
}

// path walks back from the end along what each moment came after.
func (g *graph) path() []Step {
	path := []Step{}
	for i := int32(len(g.moments) - 1); i != root; {
		v := &g.moments[i]
		from := g.binding(v)
		if at := g.moments[from].at; v.at.At > at.At {
			path = append(path, g.step(v, at))
		}
		i = from
	}
	slices.Reverse(path)
	merged := path[:0]
	for _, step := range path {
		if n := len(merged); n > 0 {
			if last := &merged[n-1]; last.Node == step.Node && last.Phase == step.Phase && last.Wait == step.Wait && last.Text == step.Text {
				last.To, last.Duration = step.To, last.Duration+step.Duration
				continue
			}
		}
		merged = append(merged, step)
	}
	return merged
}

// binding is the latest of what a moment followed on; of several the one that was waited for longest.
func (g *graph) binding(v *vertex) int32 {
	best := root
	better := func(i int32) bool {
		a, b := &g.moments[i], &g.moments[best]
		if a.at.At != b.at.At {
			return a.at.At > b.at.At
		}
		return best == root || a.lag > b.lag
	}
	for _, p := range v.after {
		if better(p) {
			best = p
		}
	}
	if v.kind != none {
		if p := g.done[v.kind][v.count-1]; better(p) {
			best = p
		}
	}
	return best
}

func (g *graph) step(v *vertex, from Moment) Step {
	step := Step{From: from, To: v.at, Duration: v.at.At - from.At, Phase: v.phase, Wait: v.key.kind, Object: v.key.object, Text: v.text()}
	if v.node != nil {
		step.Node = v.node.Name
	}
	return step
}

// text says what the time before a moment was spent on.
func (v *vertex) text() string {
	node, p := "", ""
	if v.node != nil {
		node = v.node.Name
	}
	if v.pod != nil {
		p = v.pod.String()
	}
	switch v.what {
	case atRequest:
		return "nothing was in the way before a machine was asked for that became " + node
	case atJoin:
		if v.key.kind == WaitMachine {
			return with("the machine of "+node+" started", v.node.machine.message)
		}
		return "nothing that the tape shows was in the way before " + node + " joined"
	case atReady:
		return with(node+" had joined and wasn't Ready", v.node.joinMessage)
	case atCordon:
		return "nothing that the tape shows was in the way before " + node + " was cordoned"
	case atDrain:
		if v.key.kind == WaitBudget {
			return v.key.object + " allowed no disruption, and nothing was evicted from " + node
		}
		return node + " was cordoned, and nobody drained it"
	case atGrant:
		switch {
		case v.key.kind != WaitBudget:
			return "nothing that the tape shows was in the way of the eviction of " + p + " from " + node
		case p == "":
			return v.key.object + " allowed no disruption, and nothing was evicted from " + node
		}
		return with(v.key.object+" held "+p+" on "+node, v.pod.held.why)
	case atOver:
		return p + " ended on " + node
	case atLeft:
		if v.key.kind == WaitFinalizer {
			return "a finalizer kept " + p + " on " + node
		}
		return with(p+" ended on "+node, graceMessage(v.pod))
	case atDrained:
		return "the last pods left " + node
	case atDetached:
		return "volumes were detached from " + node
	case atTerminated:
		if v.key.kind == WaitController {
			return "nothing that the tape shows was in the way before " + node + " went"
		}
		return node + " was drained, and its Node object was still there"
	case atCreated:
		return p + " was created in place of a pod that went"
	case atPart:
		return startText(p, v.wait)
	}
	return "nothing that the tape shows was in the way of the end"
}

func startText(p string, w *Wait) string {
	switch w.Kind {
	case WaitScheduling:
		return with(p+" waited for a node", w.Message)
	case WaitVolume:
		return with(p+" waited for a volume", w.Message)
	case WaitImagePull:
		return with(p+" waited for its image", w.Message)
	}
	return p + " started, and wasn't ready"
}

func with(text, why string) string {
	if why == "" {
		return text
	}
	return text + ": " + why
}

// mostTrials bounds how many kinds of waits are left out one after the other, to see what follows.
const mostTrials = 50

// savings leaves out one wait after the other, the longest first, and tells by how much the end moves.
func (g *graph) savings() []Saving {
	total := map[gatherKey]time.Duration{}
	for i := range g.moments[1:] {
		if v := &g.moments[i+1]; v.lag > 0 {
			total[v.key] += v.lag
		}
	}
	keys := make([]gatherKey, 0, len(total))
	for key := range total {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b gatherKey) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a.kind, b.kind), strings.Compare(a.object, b.object))
	})
	keys = keys[:min(len(keys), mostTrials)]
	next := g.followers()
	last := len(g.moments) - 1
	all := []Saving{}
	for i := range keys {
		end := g.evaluate(next, &keys[i])[last]
		if saves := g.to.At - end; saves > 0 {
			all = append(all, Saving{Wait: keys[i].kind, Object: keys[i].object, Saves: saves, Text: savingText(keys[i], saves)})
		}
	}
	byCost(all, func(s *Saving) time.Duration { return s.Saves }, func(s *Saving) string { return string(s.Wait) + s.Object })
	return all
}

func savingText(key gatherKey, saves time.Duration) string {
	var had string
	switch key.kind {
	case WaitBudget:
		had = key.object + " had always allowed a disruption"
	case WaitGrace:
		had = "the pods of " + key.object + " had ended at once"
	case WaitFinalizer:
		had = "no finalizer had kept the pods of " + key.object
	case WaitVolume:
		had = "the volumes of " + key.object + " had been there at once"
	case WaitImagePull:
		had = "the images of " + key.object + " had been there"
	case WaitScheduling:
		had = "the pods of " + key.object + " had found a node at once"
	case WaitPodStart:
		had = "the pods of " + key.object + " had been ready at once"
	case WaitNodeReady:
		had = "every node had been Ready when it joined"
	case WaitMachine:
		had = "every machine had been there at once"
	case WaitNodeShutdown:
		had = "every node had gone once it was drained"
	default:
		had = "the next step had always begun at once"
	}
	return fmt.Sprintf("if %s, the roll would have been %s shorter", had, short(saves))
}

// short is a duration for people: milliseconds below a minute, seconds above.
func short(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
