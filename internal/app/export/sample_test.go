package export_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// hostile is what somebody may have named a node.
const hostile = "=cmd|' /C calc'!A0\x1b[2J\u202e\"\\\n;é"

// made is an analysis with so many nodes, by a seed: of every kind of thing at least one where it has more than a few nodes.
func made(seed uint64, nodes int) *analysis.Analysis {
	rnd := rand.New(rand.NewPCG(seed, 0))
	at := func(from time.Duration) analysis.Moment {
		from += time.Duration(rnd.IntN(90_000)) * time.Millisecond
		return analysis.Moment{At: from, Line: 20 + int(from/time.Second)}
	}
	a := &analysis.Analysis{}
	a.Tape.Name, a.Tape.Source, a.Tape.Provider = "made", "recording", "eks"
	a.Tape.Start, a.Tape.Duration = time.Date(2026, 11, 21, 2, 20, 47, 277390139, time.UTC), 20*time.Minute
	a.Tape.Events, a.Tape.Complete = 446, true
	a.Tape.Gaps = []analysis.Note{{Moment: at(0), Name: "pods", Text: "410 Expired"}}
	a.Tape.Marks = []analysis.Note{{Moment: at(0), Name: hostile, Text: "the roll begins"}}
	for g := range 2 {
		a.Rolls = append(a.Rolls, analysis.Roll{
			Group: fmt.Sprintf("group-%d", g), Start: analysis.Moment{At: time.Minute, Line: 21}, End: analysis.Moment{At: 15 * time.Minute, Line: 400},
			Duration: 14 * time.Minute, Outcome: []analysis.Outcome{analysis.Complete, analysis.Failed}[g], Replaced: 1, Joined: 2, Left: 3,
			Path: []analysis.Step{
				{From: analysis.Moment{At: time.Minute}, To: analysis.Moment{At: 15 * time.Minute}, Phase: analysis.PhaseDraining, Text: hostile},
			},
		})
	}
	for i := range nodes {
		n := analysis.Node{
			Name: fmt.Sprintf("ip-10-0-1-%d", i/2), UID: fmt.Sprintf("uid-%d", i), Group: fmt.Sprintf("group-%d", rnd.IntN(3)),
			Role: []analysis.Role{analysis.RoleOld, analysis.RoleNew, analysis.RoleKept}[rnd.IntN(3)], PodsToEvict: rnd.IntN(3),
			Image: "ami-1", Zone: "a", InstanceType: "m5.large", Claim: "NodeClaim/" + hostile, DrainUnfinished: i == 1,
		}
		last := analysis.Moment{}
		for _, p := range []analysis.Phase{analysis.PhaseJoining, analysis.PhaseServing, analysis.PhaseCordoned, analysis.PhaseDraining, analysis.PhaseTerminating} {
			from, to := last, at(last.At)
			if rnd.IntN(8) == 0 {
				to = from
			}
			n.Spans = append(n.Spans, analysis.Span{Phase: p, From: from, To: to})
			d := to.At - from.At
			switch p {
			case analysis.PhaseJoining:
				n.Joined, n.Ready, n.Join = &from, &to, &d
			case analysis.PhaseCordoned:
				n.Cordoned, n.Cordon = &from, &d
			case analysis.PhaseDraining:
				n.DrainBegan, n.Drained, n.Drain = &from, &to, &d
			case analysis.PhaseTerminating:
				n.Terminated, n.Termination = &to, &d
			}
			for range rnd.IntN(4) {
				w := analysis.Wait{
					Kind: analysis.WaitBudget, Phase: p, From: from, To: at(from.At), Object: "PodDisruptionBudget/shop/web",
					Pods: []string{"shop/web-1", "shop/web-2"}, MorePods: rnd.IntN(2), Message: hostile, Unfinished: rnd.IntN(2) == 0,
				}
				w.Duration = w.To.At - w.From.At
				n.Waits = append(n.Waits, w)
			}
			last = to
		}
		a.Nodes = append(a.Nodes, n)
		for k := range 3 {
			p := analysis.Pod{Namespace: "shop", Name: fmt.Sprintf("web-%d-%d", i, k), UID: fmt.Sprintf("pod-%d-%d", i, k), Workload: "Deployment/shop/web", Node: n.Name}
			last := at(0)
			for j, m := range []**analysis.Moment{&p.Created, &p.Scheduled, &p.Ready, &p.Deleted, &p.Gone} {
				if rnd.IntN(4) > 0 {
					now := last
					*m = &now
					last = at(last.At)
				}
				p.Evicted = p.Deleted != nil && j > 2
			}
			if p.Scheduled == nil && rnd.IntN(4) == 0 {
				p.Node = ""
			}
			a.Pods = append(a.Pods, p)
		}
	}
	level := func(at time.Duration, v int) analysis.Level {
		return analysis.Level{Moment: analysis.Moment{At: at, Line: 3}, Value: v}
	}
	a.Workloads = []analysis.Workload{
		{Kind: "Deployment", Namespace: "shop", Name: "web", Replicas: 3, LeastAvailable: 2, Wanted: 2, BelowReplicas: time.Minute, Evicted: 4,
			Refused: 90 * time.Second, Pending: time.Second, LongestWait: time.Second, Available: []analysis.Level{level(0, 3), level(time.Minute, 2)}},
		{Kind: "StatefulSet", Namespace: "shop", Name: hostile},
	}
	a.Budgets = []analysis.Budget{
		{Namespace: "shop", Name: "web", AtZero: time.Minute, Held: time.Minute, HeldNodes: []string{"ip-10-0-1-0"}, Allowed: []analysis.Level{level(0, 1), level(time.Minute, 0)}},
	}
	for i := range nodes {
		f := analysis.Finding{
			Kind: analysis.FindBudgetHeld, Cost: time.Duration(rnd.IntN(100)) * time.Second, Delays: rnd.IntN(2) == 0, Object: "PodDisruptionBudget/shop/web",
			From: at(time.Duration(rnd.IntN(20)) * time.Minute), Text: hostile, Remedy: "Allow one.", Lines: []int{20, 30},
		}
		if rnd.IntN(2) == 0 {
			f.Node = a.Nodes[i].Name
		}
		f.To = at(f.From.At)
		a.Findings = append(a.Findings, f)
	}
	return a
}
