package render

import (
	"slices"

	"github.com/nodesim/nodesim/noderoll"
)

// problems returns what the snapshot doesn't know.
func (p *painter) problems() []row {
	var out []row
	add := func(what, why string) {
		if why != "" {
			out = append(out, row{{inkAlarm, p.warn + " " + what + ": "}, {inkDim, cut(p.clean(why), p.width, p.ellipsis)}})
		}
	}
	add("warnings are incomplete", p.frame.Snapshot.WarningsError)
	add("pods are not counted", p.frame.Snapshot.PodsError)
	add("budgets are not read", p.frame.Snapshot.BudgetsError)
	return out
}

// routine are the reasons that every new node gives, and that tell nobody anything:
// a kubelet that starts always finds the image filesystem without a size first
// (pkg/kubelet/stats and pkg/kubelet/kubelet.go of Kubernetes, "invalid capacity 0 on
// image filesystem").
var routine = map[string]bool{"InvalidDiskCapacity": true}

// ranked are the warnings in their order, with those that every new node gives last.
func ranked(all []noderoll.WarnEvent) []noderoll.WarnEvent {
	if !slices.ContainsFunc(all, func(w noderoll.WarnEvent) bool { return routine[w.Reason] }) {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b noderoll.WarnEvent) int {
		switch {
		case routine[a.Reason] == routine[b.Reason]:
			return 0
		case routine[a.Reason]:
			return 1
		}
		return -1
	})
	return all
}

// warnings is the section of the Warning events that are not old yet, after
// what the observer could not find out.
func (p *painter) warnings(rows int) []row {
	all := ranked(p.frame.Snapshot.Warnings)
	problems := p.problems()
	out := []row{p.heading("warnings", len(all)+len(problems))}
	problems = problems[:min(len(problems), rows)]
	out = append(out, problems...)
	rows -= len(problems)

	shown := all[:min(len(all), rows)]
	if len(all) > rows && rows > 1 {
		shown = all[:rows-1]
	}
	var node, reason int
	var names []string
	for i := range shown {
		names = append(names, shown[i].Node)
		node = max(node, cells(p.name(shown[i].Node)))
	}
	if node > p.width/3 {
		p.dropDomain(names)
		node = 0
	}
	for i := range shown {
		node = max(node, cells(p.name(shown[i].Node)))
		reason = max(reason, cells(p.clean(shown[i].Reason)))
	}
	// A third for the node and a quarter for the reason leave the rest to the
	// message, which tells most.
	node, reason = min(node, max(p.width/3, leastName)), min(reason, max(p.width/4, leastName))
	for i := range shown {
		w := &shown[i]
		out = append(out, row{
			{inkDrain, p.warn + " "},
			{inkText, pad(cutMiddle(p.name(w.Node), node, p.ellipsis), node) + "  "},
			{inkText, pad(cut(p.clean(w.Reason), reason, p.ellipsis), reason)},
			{inkDim, "  " + p.warning(w)},
		})
	}
	if hidden := len(all) - len(shown); hidden > 0 && rows > 1 {
		out = append(out, row{{inkDim, p.ellipsis + " " + number(hidden) + " more"}})
	}
	return out
}

// warning is the message, with the object where that is not the node itself.
func (p *painter) warning(w *noderoll.WarnEvent) string {
	message := cut(p.clean(w.Message), p.width, p.ellipsis)
	if w.Object == "Node/"+w.Node {
		return message
	}
	return join(p.clean(w.Object), ": ", message)
}
