package render

import (
	"cmp"
	"slices"

	"github.com/nodesim/nodesim/noderoll"
)

// nodes is the section of the nodes: their numbers, and a row for each or, of a
// group that doesn't fit, for those that move.
func (p *painter) nodes(rows int) []row {
	out := []row{p.nodesHeading()}
	all := p.frame.Snapshot.Nodes
	waiting := p.machines.waiting[:p.machineRows(rows)]
	if len(all)+len(waiting) == 0 {
		return append(out, row{{inkDim, "  no node in this group"}})
	}
	rows -= len(waiting)
	shown, rest := p.pick(rows)
	c := p.nodeColumns(shown)
	for _, v := range waiting {
		c.name = max(c.name, min(cells(p.clean(v.Object)), p.width/3))
	}
	for _, n := range shown {
		out = append(out, p.node(n, c))
	}
	if rest.total > 0 && len(shown) < rows {
		out = append(out, p.rest(rest))
	}
	for _, v := range waiting {
		out = append(out, p.machine(v, c))
	}
	return out
}

func (p *painter) nodesHeading() row {
	r := p.heading("nodes", p.counts.total)
	r = append(r, p.tally(p.counts, "   ")...)
	if n := len(p.machines.waiting); n > 0 {
		r = append(r, span{inkText, "   "}, span{inkJoining, p.joining}, span{inkText, " " + number(n)}, span{inkDim, " requested"})
	}
	return r
}

// tally is a list of counts with the glyphs of their phases, those that call
// for attention first. New and old are the ready ones.
func (p *painter) tally(c counts, between string) row {
	var r row
	add := func(n int, ink ink, glyph, word string) {
		if n > 0 {
			r = append(r, span{inkText, between}, span{ink, glyph}, span{inkText, " " + number(n)}, span{inkDim, " " + word})
		}
	}
	add(c.notReady, inkAlarm, p.notReady, "not ready")
	add(c.draining, inkDrain, p.draining, "draining")
	add(c.cordoned, inkDim, p.draining, "cordoned")
	add(c.joining, inkJoining, p.joining, "joining")
	add(c.readyNew, inkReady, p.ready, "new")
	add(c.readyOld, inkDim, p.ready, "old")
	add(c.unknownPhase, inkDim, p.other, "unknown")
	return r
}

// rest counts the nodes that have no row.
func (p *painter) rest(c counts) row {
	r := row{{inkDim, p.ellipsis + " " + number(c.total) + " more"}}
	return append(r, p.tally(c, "   ")...)
}

// The ranks of attention, highest first.
const (
	rankNotReady = iota
	rankBlocked
	rankDraining
	rankJoining
	rankUnknown
	rankCordoned
	rankPressure
	rankChanged
	rankResting
	rankCount
)

func (p *painter) rank(n *noderoll.NodeView, changed map[string]bool) int {
	switch n.Phase {
	case noderoll.PhaseNotReady:
		return rankNotReady
	case noderoll.PhaseDraining:
		if _, blocked := p.frame.Blocked[n.Name]; blocked {
			return rankBlocked
		}
		if n.Cordoned {
			return rankCordoned
		}
		return rankDraining
	case noderoll.PhaseJoining:
		return rankJoining
	case noderoll.PhaseReady:
	default:
		return rankUnknown
	}
	if len(n.Pressure) > 0 {
		return rankPressure
	}
	if len(changed) > 0 && changed[n.Name] {
		return rankChanged
	}
	return rankResting
}

// pick chooses the nodes that get a row and counts the others. Where all fit,
// they are by name, so that no row jumps while a node changes its phase;
// otherwise by rank and name. It looks at each node once.
func (p *painter) pick(rows int) (shown []*noderoll.NodeView, rest counts) {
	all := p.frame.Snapshot.Nodes
	byName := func(a, b *noderoll.NodeView) int { return cmp.Compare(a.Name, b.Name) }
	if len(all) <= rows {
		for i := range all {
			shown = append(shown, &all[i])
		}
		slices.SortStableFunc(shown, byName)
		return shown, counts{}
	}
	if rows > 1 {
		rows-- // for the line that counts the rest
	}
	changed := p.changed(rows, func(e *noderoll.Entry) string { return e.Node })
	var ranks [rankCount][]*noderoll.NodeView
	for i := range all {
		if r := p.rank(&all[i], changed); len(ranks[r]) < rows {
			ranks[r] = append(ranks[r], &all[i])
		}
	}
	for _, nodes := range ranks {
		nodes = nodes[:min(len(nodes), rows-len(shown))]
		slices.SortStableFunc(nodes, byName)
		shown = append(shown, nodes...)
	}
	rest = p.counts
	for _, n := range shown {
		rest = rest.without(count([]noderoll.NodeView{*n}))
	}
	return shown, rest
}

// changed are the names that the latest entries have, of nodes or of pods, no more than there are rows; "" is none.
func (p *painter) changed(rows int, name func(*noderoll.Entry) string) map[string]bool {
	changed := make(map[string]bool)
	for i := range slices.Backward(p.frame.Recent) {
		if len(changed) >= rows {
			break
		}
		if is := name(&p.frame.Recent[i]); is != "" {
			changed[is] = true
		}
	}
	return changed
}

func (c counts) without(o counts) counts {
	return counts{
		total: c.total - o.total, off: c.off - o.off,
		readyNew: c.readyNew - o.readyNew, readyOld: c.readyOld - o.readyOld,
		joining: c.joining - o.joining, draining: c.draining - o.draining, cordoned: c.cordoned - o.cordoned,
		notReady: c.notReady - o.notReady, unknownPhase: c.unknownPhase - o.unknownPhase,
	}
}
