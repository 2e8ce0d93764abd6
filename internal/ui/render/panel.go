package render

import (
	"strings"

	"github.com/nodesim/nodesim/noderoll"
)

// Panel draws the frame: at most Height lines of at most Width cells each,
// joined by newlines, without one at the end and without spaces at the ends of
// lines. It is safe for concurrent use. An Options without room gives "".
func Panel(f Frame, o Options) string {
	o = o.bounded()
	if o.Width == 0 || o.Height == 0 {
		return ""
	}
	p := newPainter(&f, o)
	rows := p.rows(planFor(p.wants(), o.Height))
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(r) == 0 {
			continue
		}
		if r[0].ink == inkCursor {
			p.write(&b, r[0])
			r = r[1:]
		} else {
			b.WriteString(p.margin)
		}
		p.theme.paint(&b, r, p.width)
	}
	return b.String()
}

// A painter makes the rows of one frame in one place.
type painter struct {
	theme
	frame     *Frame
	opts      Options
	counts    counts
	podCounts noderoll.PodCounts
	machines  machines
	margin    string // before every line
	width     int    // between the margins
	domain    string // of all nodes, which their rows leave out
	// The rows that a user looks through; nil without Browse.
	nodesFound []*noderoll.NodeView
	podsFound  []*noderoll.PodView
}

func newPainter(f *Frame, o Options) *painter {
	p := &painter{theme: newTheme(o), frame: f, opts: o, counts: count(f.Snapshot.Nodes), machines: machinesOf(f), width: o.Width}
	for i := range f.Snapshot.Pods {
		p.podCounts.Add(&f.Snapshot.Pods[i], 1)
	}
	if o.Width >= 30 { // Below that every cell is needed.
		p.margin, p.width = " ", o.Width-2
	}
	if f.Browse != nil {
		p.find()
	}
	return p
}

// clean returns what everything from a cluster passes through.
func (p *painter) clean(s string) string {
	s = Clean(s)
	if p.opts.ASCII {
		s = toASCII(s)
	}
	return s
}

// wants says how many rows each section has to show.
func (p *painter) wants() wants {
	instances := len(p.frame.Snapshot.Nodes) + len(p.machines.waiting)
	switch {
	case p.frame.Browse != nil:
		instances = len(p.nodesFound) + len(p.podsFound)
	case p.frame.Pods:
		instances = len(p.frame.Snapshot.Pods)
	}
	w := wants{
		images:   p.frame.FromImage != "" || p.frame.ToImage != "",
		nodes:    max(1, instances), // an empty group is said to be empty
		events:   len(p.frame.Recent),
		warnings: len(p.frame.Snapshot.Warnings) + len(p.problems()),
		fill:     p.opts.Fill,
	}
	if p.frame.Details != nil {
		w.nodes, w.events, w.warnings = p.detailLines(), 0, 0
	}
	return w
}

func (p *painter) rows(plan plan) []row {
	var rows []row
	section := func(gap bool, lines []row) {
		if gap && len(rows) > 0 {
			rows = append(rows, nil)
		}
		rows = append(rows, lines...)
	}
	if plan.title {
		rows = append(rows, p.title())
	}
	if plan.images {
		rows = append(rows, p.images())
	}
	if plan.progress {
		rows = append(rows, p.progress())
	}
	if plan.nodes > 0 {
		section(plan.gaps.nodes, p.middle()(plan.nodes))
	}
	if plan.events > 0 {
		section(plan.gaps.events, p.events(plan.events))
	}
	if plan.warnings > 0 {
		section(plan.gaps.warnings, p.warnings(plan.warnings))
	}
	if plan.status {
		for range plan.filler {
			rows = append(rows, nil)
		}
		section(plan.gaps.status, []row{p.status()})
	}
	return rows
}

// middle draws the section in the middle of the panel, of so many rows.
func (p *painter) middle() func(rows int) []row {
	browsed := p.frame.Browse != nil
	switch {
	case p.frame.Details != nil:
		return p.details
	case p.frame.Pods && browsed:
		return p.browsedPods
	case p.frame.Pods:
		return p.podRows
	case browsed:
		return p.browsedNodes
	}
	return p.nodes
}
