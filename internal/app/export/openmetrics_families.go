package export

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

func (m *metrics) one(name, help string, l labels, v float64) {
	m.family(name, "gauge", help)
	m.sample(name, l, v)
}

func (m *metrics) tape(a *analysis.Analysis) {
	complete := "false"
	if a.Tape.Complete {
		complete = "true"
	}
	m.one("nodesim_tape_info", "The tape: always 1.", labels{
		"tape", a.Tape.Name, "source", a.Tape.Source, "provider", a.Tape.Provider, "complete", complete,
	}, 1)
	m.one("nodesim_tape_duration_seconds", "How long the tape is.", nil, seconds(a.Tape.Duration))
	m.one("nodesim_tape_events", "Lines of the tape after its header.", nil, float64(a.Tape.Events))
	m.one("nodesim_tape_gaps", "Gaps of the tape, where events may be missing.", nil, float64(len(a.Tape.Gaps)))
}

// rolls are numbered from 1, since a group may have several.
func (m *metrics) rolls(a *analysis.Analysis) {
	label := func(i int) labels {
		return labels{"roll", strconv.Itoa(i + 1), "group", a.Rolls[i].Group, "pods", a.Rolls[i].Pods}
	}
	m.family("nodesim_roll_duration_seconds", "gauge", "How long a roll took, or has taken at the tape's end.")
	for i, r := range a.Rolls {
		m.sample("nodesim_roll_duration_seconds", append(label(i), "outcome", string(r.Outcome)), seconds(r.Duration))
	}
	m.family("nodesim_roll_nodes", "gauge", "Nodes of a roll: replaced, joined, and left to be replaced.")
	for i, r := range a.Rolls {
		for _, s := range []struct {
			state string
			n     int
		}{{"replaced", r.Replaced}, {"joined", r.Joined}, {"left", r.Left}} {
			m.sample("nodesim_roll_nodes", append(label(i), "state", s.state), float64(s.n))
		}
	}
}

func (m *metrics) nodes(a *analysis.Analysis) {
	var phases, waits histograms
	unfinished := 0
	for _, n := range a.Nodes {
		for _, p := range []struct {
			phase analysis.Phase
			d     *time.Duration
		}{
			{analysis.PhaseBooting, n.Boot}, {analysis.PhaseJoining, n.Join}, {analysis.PhaseCordoned, n.Cordon},
			{analysis.PhaseDraining, n.Drain}, {analysis.PhaseTerminating, n.Termination},
		} {
			if p.d != nil {
				phases.add(*p.d, "group", n.Group, "role", string(n.Role), "phase", string(p.phase))
			}
		}
		for _, w := range n.Waits {
			waits.add(w.Duration, "group", n.Group, "phase", string(w.Phase), "wait", string(w.Kind))
		}
		if n.DrainUnfinished {
			unfinished++
		}
	}
	m.histogram("nodesim_node_phase_duration_seconds", "How long nodes were in a phase; drains that go on count up to the tape's end.", phases)
	m.histogram("nodesim_node_wait_duration_seconds", "How long nodes waited for something; waits may overlap.", waits)
	m.one("nodesim_node_drains_unfinished", "Drains that go on at the tape's end.", nil, float64(unfinished))
}

func (m *metrics) workloads(a *analysis.Analysis) {
	names := distinct(len(a.Workloads), func(i int) labels {
		w := a.Workloads[i]
		return labels{"namespace", w.Namespace, "kind", w.Kind, "workload", w.Name}
	})
	for _, f := range []struct {
		name, help string
		value      func(w analysis.Workload) float64
	}{
		{"replicas", "The most pods of a workload that were available at once.", func(w analysis.Workload) float64 { return float64(w.Replicas) }},
		{"least_available", "The fewest pods of a workload that were available.", func(w analysis.Workload) float64 { return float64(w.LeastAvailable) }},
		{"wanted", "The fewest pods that the workload's budgets want available.", func(w analysis.Workload) float64 { return float64(w.Wanted) }},
		{"below_wanted_seconds", "How long fewer were available than wanted.", func(w analysis.Workload) float64 { return seconds(w.BelowWanted) }},
		{"below_replicas_seconds", "How long fewer were available than replicas.", func(w analysis.Workload) float64 { return seconds(w.BelowReplicas) }},
		{"evicted_pods", "Evictions granted.", func(w analysis.Workload) float64 { return float64(w.Evicted) }},
		{"refused_seconds", "How long budgets refused to let pods go, added up over pods.", func(w analysis.Workload) float64 { return seconds(w.Refused) }},
		{"refusals", "Evictions refused, where the tape was made of an audit log.", func(w analysis.Workload) float64 { return float64(w.Refusals) }},
		{"deleted_pods", "Pods deleted otherwise.", func(w analysis.Workload) float64 { return float64(w.Deleted) }},
		{"lost_pods", "Pods that went away with their node.", func(w analysis.Workload) float64 { return float64(w.Lost) }},
		{"restarts", "Restarts of containers.", func(w analysis.Workload) float64 { return float64(w.Restarts) }},
		{"pending_seconds", "How long pods waited for a node, added up.", func(w analysis.Workload) float64 { return seconds(w.Pending) }},
		{"longest_wait_seconds", "How long the pod waited for a node that waited longest.", func(w analysis.Workload) float64 { return seconds(w.LongestWait) }},
	} {
		name := "nodesim_workload_" + f.name
		m.family(name, "gauge", f.help)
		for i, w := range a.Workloads {
			m.sample(name, names[i], f.value(w))
		}
	}
}

func (m *metrics) budgets(a *analysis.Analysis) {
	names := distinct(len(a.Budgets), func(i int) labels {
		return labels{"namespace", a.Budgets[i].Namespace, "budget", a.Budgets[i].Name}
	})
	for _, f := range []struct {
		name, help string
		value      func(b analysis.Budget) float64
	}{
		{"at_zero_seconds", "How long a budget allowed no disruption while it covered pods.", func(b analysis.Budget) float64 { return seconds(b.AtZero) }},
		{"held_seconds", "How long a budget held up drains.", func(b analysis.Budget) float64 { return seconds(b.Held) }},
		{"held_nodes", "Nodes whose drains a budget held up.", func(b analysis.Budget) float64 { return float64(len(b.HeldNodes)) }},
		{"refusals", "Requests refused, where the tape was made of an audit log.", func(b analysis.Budget) float64 { return float64(b.Refusals) }},
	} {
		name := "nodesim_budget_" + f.name
		m.family(name, "gauge", f.help)
		for i, b := range a.Budgets {
			m.sample(name, names[i], f.value(b))
		}
	}
}

func (m *metrics) findings(a *analysis.Analysis) {
	count, cost := map[string]int{}, map[string]time.Duration{}
	var kinds []string
	for _, f := range a.Findings {
		kind := string(f.Kind)
		if count[kind]++; count[kind] == 1 {
			kinds = append(kinds, kind)
		}
		cost[kind] += f.Cost
	}
	slices.Sort(kinds)
	m.family("nodesim_findings", "gauge", "Findings of a kind.")
	for _, k := range kinds {
		m.sample("nodesim_findings", labels{"finding", k}, float64(count[k]))
	}
	m.family("nodesim_findings_cost_seconds", "gauge", "What the findings of a kind cost, added up.")
	for _, k := range kinds {
		m.sample("nodesim_findings_cost_seconds", labels{"finding", k}, seconds(cost[k]))
	}
}
