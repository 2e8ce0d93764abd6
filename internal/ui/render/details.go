package render

import "strings"

// Details are what is known of one node, for a panel that shows nothing else of the cluster.
type Details struct {
	Node       string
	Facts      []string // what it is and runs, in one line
	Taints     []string
	Conditions []Condition
	Pods       []Pod
	Events     []Event
	Lacks      []string // what the tape has nothing about, or that the node is gone
	First      int      // the line of the rows that is shown first
}

// Condition is a condition of the node's.
type Condition struct {
	Type, Status, Reason, Message string
	For                           string // how long it has been so; "" where that isn't known
	Trouble                       bool
}

// Pod is a pod on the node.
type Pod struct {
	Name, Ready, Status string
	For                 string // its age
	Restarts            int
	Trouble             bool
}

// Event is an Event about the node or one of its pods.
type Event struct {
	Ago, Reason, Object, Message string
	Warning                      bool
}

// A block is a part of the details: lines under a heading.
type block struct {
	name  string
	count int
	line  func(int) row
}

// lines counts those of a block, with the empty one before it.
func (b block) lines() int {
	switch {
	case b.count == 0:
		return 0
	case b.name == "":
		return b.count
	}
	return 2 + b.count
}

// detailLines counts the lines of the details below their heading.
func (p *painter) detailLines() int {
	n := 0
	for _, b := range p.blocks() {
		n += b.lines()
	}
	return max(n, 1)
}

// details is the section of a node's details: a window of rows on their lines.
func (p *painter) details(rows int) []row {
	d := p.frame.Details
	total := p.detailLines()
	first := max(min(d.First, total-rows), 0)
	end := min(first+rows, total)
	heading := row{{inkDim, "NODE "}, {inkStrong, cutMiddle(p.clean(d.Node), max(p.width/2, leastName), p.ellipsis)}}
	for i := range p.frame.Snapshot.Nodes {
		n := &p.frame.Snapshot.Nodes[i]
		if n.Name != d.Node {
			continue
		}
		s := p.phaseSign(n)
		heading = append(heading, span{s.ink, "  " + s.glyph + " " + s.phrase}, span{inkDim, "  " + age(n.OnTarget) + "  "}, span{inkDim, p.clean(n.Image)})
		if by, blocked := p.blocked(n); blocked {
			heading = append(heading, span{inkAlarm, "  " + p.warn + " " + blockedBy + by})
		}
		heading = append(heading, p.machineNote(n)...)
		break
	}
	if end-first < total {
		heading = spread(heading, row{{inkDim, number(first+1) + "-" + number(end) + " of " + number(total)}}, p.width)
	}
	out := []row{heading}
	at := 0
	for _, b := range p.blocks() {
		for i := max(first-at, 0); i < b.lines() && at+i < end; i++ {
			out = append(out, p.blockLine(b, i))
		}
		at += b.lines()
	}
	return out
}

// blockLine is one of a block's lines.
func (p *painter) blockLine(b block, i int) row {
	switch {
	case b.name == "":
		return b.line(i)
	case i == 0:
		return nil
	case i == 1:
		return p.heading(b.name, b.count)
	}
	return b.line(i - 2)
}

func (p *painter) blocks() []block {
	d := p.frame.Details
	first := p.plainLines(d)
	return []block{
		{"", len(first), func(i int) row { return first[i] }},
		p.conditionLines(d.Conditions), p.podLines(d.Pods), p.eventLines(d.Events),
	}
}

// plainLines say what the node is, what it is tainted with, and what isn't known.
func (p *painter) plainLines(d *Details) (out []row) {
	joined := func(words []string) string {
		var clean []string
		for _, w := range words {
			if w = p.clean(w); w != "" {
				clean = append(clean, w)
			}
		}
		return strings.Join(clean, "  ")
	}
	if facts := joined(d.Facts); facts != "" {
		out = append(out, row{{inkDim, facts}})
	}
	if taints := joined(d.Taints); taints != "" {
		out = append(out, row{{inkDim, "taints  "}, {inkText, taints}})
	}
	for _, what := range d.Lacks {
		if what = p.clean(what); what != "" {
			out = append(out, row{{inkDim, what}})
		}
	}
	return out
}

// widest is the width of the widest of n texts, at most a part of the line.
func (p *painter) widest(n, most int, text func(int) string) int {
	w := 0
	for i := range n {
		w = max(w, cells(p.clean(text(i))))
	}
	return min(w, max(most, leastName))
}

// cell is a clean text of exactly so many cells.
func (p *painter) cell(text string, width int) string {
	return pad(cut(p.clean(text), width, p.ellipsis), width)
}

func (p *painter) conditionLines(all []Condition) block {
	kind := p.widest(len(all), p.width/4, func(i int) string { return all[i].Type })
	status := p.widest(len(all), len("Unknown"), func(i int) string { return all[i].Status })
	since := p.widest(len(all), p.width/8, func(i int) string { return all[i].For })
	return block{"conditions", len(all), func(i int) row {
		c := &all[i]
		s := sign{glyph: p.ready, ink: inkDim}
		if c.Trouble {
			s = sign{glyph: p.warn, ink: inkAlarm}
		}
		return row{
			{s.ink, s.glyph + " "}, {inkText, p.cell(c.Type, kind) + "  "}, {s.ink, p.cell(c.Status, status) + "  "},
			{inkDim, p.cell(c.For, since) + "  "}, {inkText, p.clean(c.Reason)}, {inkDim, "  " + cut(p.clean(c.Message), p.width, p.ellipsis)},
		}
	}}
}

func (p *painter) podLines(all []Pod) block {
	name := p.widest(len(all), p.width/2, func(i int) string { return all[i].Name })
	ready := p.widest(len(all), leastName, func(i int) string { return all[i].Ready })
	status := p.widest(len(all), p.width/4, func(i int) string { return all[i].Status })
	return block{"pods", len(all), func(i int) row {
		v := &all[i]
		s := sign{glyph: p.ready, ink: inkDim}
		if v.Trouble {
			s = sign{glyph: p.warn, ink: inkDrain}
		}
		r := row{
			{s.ink, s.glyph + " "}, {inkText, pad(cutMiddle(p.clean(v.Name), name, p.ellipsis), name) + "  "},
			{inkDim, p.cell(v.Ready, ready) + "  "}, {s.ink, p.cell(v.Status, status) + "  "}, {inkDim, p.clean(v.For)},
		}
		switch {
		case v.Restarts == 1:
			r = append(r, span{inkDrain, "  1 restart"})
		case v.Restarts > 1:
			r = append(r, span{inkDrain, "  " + number(v.Restarts) + " restarts"})
		}
		return r
	}}
}

func (p *painter) eventLines(all []Event) block {
	ago := p.widest(len(all), p.width/8, func(i int) string { return all[i].Ago })
	reason := p.widest(len(all), p.width/4, func(i int) string { return all[i].Reason })
	return block{"events", len(all), func(i int) row {
		e := &all[i]
		s := sign{glyph: p.other, ink: inkDim}
		if e.Warning {
			s = sign{glyph: p.warn, ink: inkDrain}
		}
		return row{
			{s.ink, s.glyph + " "}, {inkDim, p.cell(e.Ago, ago) + "  "}, {inkText, p.cell(e.Reason, reason)},
			{inkDim, "  " + join(p.clean(e.Object), ": ", cut(p.clean(e.Message), p.width, p.ellipsis))},
		}
	}}
}
