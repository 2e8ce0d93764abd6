package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis"
)

// sample is a roll of so many nodes with so many pods each, three nodes at once: it has all that a report may show.
func sample(nodes, pods int) (*analysis.Analysis, []Line) {
	line := 1
	at := func(d time.Duration) *analysis.Moment {
		line++
		return &analysis.Moment{At: d, Line: line}
	}
	span := func(phase analysis.Phase, from, to *analysis.Moment) analysis.Span {
		return analysis.Span{Phase: phase, From: *from, To: *to}
	}
	a := &analysis.Analysis{Tape: analysis.About{
		Name: "sample", Start: time.Date(2026, 11, 20, 22, 21, 9, 0, time.UTC), Source: "scenario", Provider: "eks", Complete: true,
		Marks: []analysis.Note{{Moment: *at(time.Minute), Name: "half", Text: "half of it"}},
		Gaps:  []analysis.Note{{Moment: *at(90 * time.Second), Name: "pods", Text: "410 Expired"}},
	}}
	budget := analysis.Budget{Namespace: "shop", Name: "web", Held: time.Minute, AtZero: 2 * time.Minute}
	web := analysis.Workload{Kind: "Deployment", Namespace: "shop", Name: "web", Replicas: nodes * pods, Wanted: nodes*pods - 1}
	var feed []Line
	tell := func(m *analysis.Moment, kind noderoll.EventKind, node string) {
		feed = append(feed, Line{noderoll.Entry{At: m.At, Kind: kind, Node: node}, m.Line})
	}
	last := at(time.Duration(nodes/3+3) * time.Minute)
	start := at(0)
	for i := range nodes {
		began := time.Duration(i/3) * time.Minute
		joined, ready := at(began), at(began+20*time.Second)
		cordoned, drain := at(began+25*time.Second), at(began+30*time.Second)
		drained, gone := at(began+80*time.Second), at(began+100*time.Second)
		old, young := fmt.Sprintf("ip-10-0-%d-%d", i/250, i%250), fmt.Sprintf("ip-10-1-%d-%d", i/250, i%250)
		wait := analysis.Wait{
			Kind: analysis.WaitBudget, Phase: analysis.PhaseDraining, From: *drain, To: *drained, Duration: drained.At - drain.At,
			Object: "PodDisruptionBudget/shop/web", Pods: []string{fmt.Sprintf("shop/web-%d-0", i)}, Message: "needs 3 healthy pods and has 3",
		}
		a.Nodes = append(a.Nodes,
			analysis.Node{
				Name: old, UID: fmt.Sprintf("old-%d", i), Group: "spot", Role: analysis.RoleOld, Cordoned: cordoned, DrainBegan: drain,
				Drained: drained, Terminated: gone, Waits: []analysis.Wait{wait}, PodsToEvict: pods,
				Spans: []analysis.Span{
					span(analysis.PhaseServing, start, cordoned), span(analysis.PhaseCordoned, cordoned, drain),
					span(analysis.PhaseDraining, drain, drained), span(analysis.PhaseTerminating, drained, gone),
				},
			},
			analysis.Node{
				Name: young, UID: fmt.Sprintf("new-%d", i), Group: "spot", Role: analysis.RoleNew, Joined: joined, Ready: ready,
				Spans: []analysis.Span{span(analysis.PhaseJoining, joined, ready), span(analysis.PhaseServing, ready, last)},
			})
		tell(joined, noderoll.EvtJoining, young)
		tell(ready, noderoll.EvtOnline, young)
		tell(drain, noderoll.EvtDraining, old)
		for p := range pods {
			evicted, ended := at(drain.At+time.Duration(p)*time.Second), at(drain.At+time.Duration(p+1)*time.Second)
			born := at(ended.At)
			a.Pods = append(a.Pods,
				analysis.Pod{
					Namespace: "shop", Name: fmt.Sprintf("web-%d-%d", i, p), Workload: "Deployment/shop/web", Node: old, Created: start,
					Scheduled: start, Ready: start, Deleted: evicted, Evicted: true, Gone: ended,
				},
				analysis.Pod{
					Namespace: "shop", Name: fmt.Sprintf("web-%d-%d-new", i, p), Workload: "Deployment/shop/web", Node: young, Created: born,
					Scheduled: at(born.At + time.Second), Ready: at(born.At + 4*time.Second),
				})
			tell(evicted, noderoll.EvtEvicted, old)
			web.Available = append(web.Available, analysis.Level{Moment: *born, Value: nodes*pods - p%3})
			budget.Allowed = append(budget.Allowed, analysis.Level{Moment: *born, Value: p % 2})
		}
		tell(gone, noderoll.EvtTerminated, old)
	}
	slices.SortStableFunc(feed, func(a, b Line) int { return cmp.Compare(a.At, b.At) })
	a.Tape.Duration, a.Tape.Events = last.At, line
	a.Budgets, a.Workloads = []analysis.Budget{budget}, []analysis.Workload{web}
	a.Rolls = []analysis.Roll{{
		Group: "spot", Start: *start, End: *last, Duration: last.At, Outcome: analysis.Unfinished, Replaced: nodes, Joined: nodes, Left: 1,
		Path: []analysis.Step{
			{From: *start, To: *at(time.Minute), Phase: analysis.PhaseJoining, Node: "ip-10-1-0-0", Text: "ip-10-1-0-0 joined"},
			{From: *at(time.Minute), To: *last, Phase: analysis.PhaseDraining, Wait: analysis.WaitBudget, Node: "ip-10-0-0-0", Text: "PodDisruptionBudget shop/web held ip-10-0-0-0"},
		},
		Savings: []analysis.Saving{{Wait: analysis.WaitBudget, Object: "PodDisruptionBudget/shop/web", Saves: time.Minute, Text: "no wait for shop/web"}},
	}}
	a.Findings = []analysis.Finding{{
		Kind: analysis.FindBudgetHeld, Cost: time.Minute, Delays: true, Object: "PodDisruptionBudget/shop/web", Node: "ip-10-0-0-1",
		From: *at(30 * time.Second), To: *at(80 * time.Second), Text: "PodDisruptionBudget shop/web held shop/web-1 for 1m0s", Remedy: "Allow one disruption.", Lines: []int{12, 40},
	}}
	return a, feed
}
