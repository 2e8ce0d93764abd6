package render

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/nodesim/nodesim/noderoll"
)

// Browse says that a user looks through the rows of a panel: its nodes or, in a roll of pods, its pods. They are in the
// order of their names then, as many as there is room for, around the selected one.
type Browse struct {
	Filter   string // words that a row must have, in small or capital letters; "" leaves every row
	Selected string // the key of the row that is marked, one of Keys; "" marks none
}

// Keys are the keys of the rows that have the words, in the order in which Browse shows them.
func Keys(f Frame, words string) []string {
	f.Browse = &Browse{Filter: words}
	p := newPainter(&f, Options{})
	keys := make([]string, 0, len(p.nodesFound)+len(p.podsFound))
	for _, n := range p.nodesFound {
		keys = append(keys, n.Name)
	}
	for _, v := range p.podsFound {
		keys = append(keys, p.podName(v.Namespace, v.Name))
	}
	return keys
}

// Room says how many rows of the section in the middle a panel shows, nodes, pods or Details, of how many.
func Room(f Frame, o Options) (rows, of int) {
	o = o.bounded()
	p := newPainter(&f, o)
	w := p.wants()
	return planFor(w, o.Height).nodes, w.nodes
}

// find chooses the rows that match.
func (p *painter) find() {
	words := strings.Fields(strings.ToLower(p.frame.Browse.Filter))
	if p.frame.Pods {
		for i := range p.frame.Snapshot.Pods {
			v := &p.frame.Snapshot.Pods[i]
			if has(words, p.podName(v.Namespace, v.Name), v.Node, v.Configuration, p.podSign(v).phrase, v.Reason, age(v.OnTarget)) {
				p.podsFound = append(p.podsFound, v)
			}
		}
		return
	}
	all := p.frame.Snapshot.Nodes
	p.nodesFound = make([]*noderoll.NodeView, 0, len(all))
	for i := range all {
		n := &all[i]
		if len(words) == 0 || has(words, n.Name, n.Image, p.phaseSign(n).phrase, age(n.OnTarget), p.frame.Blocked[n.Name], n.HeldBy, p.machineWords(n)) {
			p.nodesFound = append(p.nodesFound, n)
		}
	}
	byName := func(a, b *noderoll.NodeView) int { return cmp.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(p.nodesFound, byName) {
		slices.SortStableFunc(p.nodesFound, byName)
	}
}

// machineWords are what the row of a node says of its machine.
func (p *painter) machineWords(n *noderoll.NodeView) string {
	var b strings.Builder
	for _, s := range p.machineNote(n) {
		b.WriteString(s.text)
	}
	return b.String()
}

// age is the word that a row has.
func age(onTarget bool) string {
	if onTarget {
		return "new"
	}
	return "old"
}

// has reports whether each word is in one of the texts.
func has(words []string, texts ...string) bool {
	for _, w := range words {
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), w) }) {
			return false
		}
	}
	return true
}

// window returns which of n rows are shown around the selected one, and whether it is among them. Where it has gone, its
// place stays.
func (p *painter) window(n, rows int, key func(int) string) (first, end, selected int) {
	at := 0
	if is := p.frame.Browse.Selected; is != "" {
		at = sort.Search(n, func(i int) bool { return key(i) >= is })
		if p.frame.Pods { // by namespace and name, which isn't the order of the keys
			at = max(slices.IndexFunc(p.podsFound, func(v *noderoll.PodView) bool { return p.podName(v.Namespace, v.Name) == is }), 0)
		}
	}
	first = max(min(at-rows/2, n-rows), 0)
	end = min(first+rows, n)
	if at >= n || key(at) != p.frame.Browse.Selected {
		at = -1
	}
	return first, end, at
}

// browsedNodes is the section of the nodes that a user looks through.
func (p *painter) browsedNodes(rows int) []row {
	all := p.nodesFound
	first, end, selected := p.window(len(all), rows, func(i int) string { return all[i].Name })
	found := p.counts
	if len(all) < found.total {
		found = counts{}
		for _, n := range all {
			found.add(n)
		}
	}
	out := []row{append(p.browseHeading("nodes", len(all), p.counts.total, first, end), p.tally(found, "   ")...)}
	if len(all) == 0 {
		return append(out, row{{inkDim, "  no node matches"}})
	}
	c := p.nodeColumns(all[first:end])
	for i := first; i < end; i++ {
		out = append(out, p.marked(p.node(all[i], c), i == selected))
	}
	return out
}

// browsedPods is browsedNodes of a roll of pods.
func (p *painter) browsedPods(rows int) []row {
	all := p.podsFound
	first, end, selected := p.window(len(all), rows, func(i int) string { return p.podName(all[i].Namespace, all[i].Name) })
	found := noderoll.PodCounts{}
	for _, v := range all {
		found.Add(v, 1)
	}
	out := []row{append(p.browseHeading("pods", len(all), p.podCounts.Total, first, end), p.podTally(found, "   ")...)}
	if len(all) == 0 {
		return append(out, row{{inkDim, "  no pod matches"}})
	}
	c := p.podColumns(all[first:end])
	for i := first; i < end; i++ {
		out = append(out, p.marked(p.pod(all[i], c), i == selected))
	}
	return out
}

// browseHeading names the section, how many rows match, and which of them are shown.
func (p *painter) browseHeading(name string, found, total, first, end int) row {
	r := p.heading(name, found)
	if found < total {
		r = append(r, span{inkDim, " of " + number(total)})
	}
	if end-first < found {
		r = append(r, span{inkDim, "   " + number(first+1) + "-" + number(end)})
	}
	if words := p.clean(p.frame.Browse.Filter); words != "" {
		r = append(r, span{inkDim, "   with "}, span{inkStrong, cut(words, p.width/3, p.ellipsis)})
	}
	return r
}

// marked marks the row of the selected one in the margin and, where there is none, in place of its glyph.
func (p *painter) marked(r row, is bool) row {
	if !is {
		return r
	}
	r[1].ink = inkStrong // the name, see rowOf
	if p.margin == "" {
		r[0] = span{inkStrong, p.cursor + " "}
		return r
	}
	return append(row{{inkCursor, p.cursor}}, r...)
}
