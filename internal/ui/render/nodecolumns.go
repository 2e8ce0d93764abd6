package render

import (
	"strings"
	"unicode"

	"github.com/nodesim/nodesim/noderoll"
)

// columns are the widths of a node's row.
type columns struct {
	name, phase, image int
	bar                int // of evicted pods
	pods               int // the text after the bar
	by                 int // the words before what holds a drain up; 0 leaves them out
}

const (
	leastName  = 12
	wideEnough = 110 // for images and longer bars
	steady     = 60  // for columns that keep their places while phases come and go
	mostNote   = 40  // of what holds a drain up: more is cut before a name is
)

const (
	blockedBy      = "blocked by "
	wouldBlockedBy = "would be blocked by "
)

// nodeColumns gives the name what the others leave, what holds a drain up included.
// Where that is too little the shared domain of the names goes first, then the words
// before what holds a drain up, then the bar, whose numbers say the same, then the
// room for what holds it up and for the pods; then the name is cut. A cordoned node
// has no bar, since nothing of a drain is done yet.
func (p *painter) nodeColumns(shown []*noderoll.NodeView) columns {
	c := columns{bar: 8}
	if p.width >= steady {
		c.phase = len("joining (NotReady)")
	}
	draining, note, remark, cordoned := false, 0, 0, 0
	for _, n := range shown {
		if by, blocked := p.blocked(n); blocked {
			switch {
			case by == "":
				by = "blocked"
			case p.width >= wideEnough:
				c.by = len(blockedBy)
			}
			note = max(note, len("  ")+cells(p.warn)+1+min(cells(by), mostNote))
		}
		c.phase = max(c.phase, len(p.phaseSign(n).phrase))
		c.image = max(c.image, cells(p.clean(n.Image)))
		if n.Phase != noderoll.PhaseDraining {
			continue
		}
		if n.Cordoned {
			cordoned = max(cordoned, 2+cells(podsText(n)))
			remark = max(remark, cells(p.remark(n)))
			continue
		}
		c.pods = max(c.pods, cells(podsText(n)))
		draining = true
	}
	c.image = min(c.image, 40)
	fixed := 2 + 2 + len("old") + 2 + c.phase // glyph, space before and after the age
	if p.width < wideEnough {
		c.image = 0
	} else {
		c.bar = 16
		if c.image > 0 {
			fixed += 2 + c.image
		}
	}
	room := func() int {
		drain := 0
		if c.pods > 0 {
			drain += 2 + c.pods
		}
		if draining && c.bar > 0 {
			drain += 2 + c.bar
		}
		left := p.width - fixed - max(drain, cordoned)
		if note > 0 {
			left -= note + c.by
		}
		return left
	}
	need := p.widestName(shown)
	if need > room()-remark { // a remark is cut before a name is
		p.domain = sharedDomain(shown)
		need = p.widestName(shown)
	}
	if room() < need {
		c.by = 0
	}
	if room() < min(need, leastName) {
		c.bar = 0
	}
	if room() < min(need, leastName) {
		note = 0
	}
	left := room()
	if left < min(need, leastName) {
		left = p.width - fixed
	}
	c.name = min(need, max(left, leastName))
	return c
}

func (p *painter) widestName(shown []*noderoll.NodeView) int {
	widest := 0
	for _, n := range shown {
		widest = max(widest, cells(p.name(n.Name)))
	}
	return widest
}

// name is a node's name without the domain that all rows would repeat.
func (p *painter) name(s string) string {
	if p.domain != "" {
		s = strings.TrimSuffix(s, p.domain)
	}
	if s = p.clean(s); s != "" {
		return s
	}
	return "(no name)"
}

// dropDomain leaves out from here on what names of nodes have in common from their
// first dot on.
func (p *painter) dropDomain(names []string) {
	if p.domain == "" {
		p.domain = commonDomain(len(names), func(i int) string { return names[i] })
	}
}

// sharedDomain is commonDomain of the names of nodes.
func sharedDomain(shown []*noderoll.NodeView) string {
	return commonDomain(len(shown), func(i int) string { return shown[i].Name })
}

// commonDomain returns what n names have from their first dot on, as the private DNS
// names of AWS do; empty where they differ or are addresses.
func commonDomain(n int, name func(i int) string) string {
	domain := ""
	for i := range n {
		one := name(i)
		dot := strings.IndexByte(one, '.')
		if dot <= 0 || i > 0 && one[dot:] != domain {
			return ""
		}
		domain = one[dot:]
	}
	if !strings.ContainsFunc(domain, unicode.IsLetter) {
		return ""
	}
	return domain
}

// node is one row: glyph, name, old or new, phase, then what the phase has to
// say and what presses.
func (p *painter) node(n *noderoll.NodeView, c columns) row {
	r := p.rowOf(p.phaseSign(n), n.Phase == noderoll.PhaseReady, n.OnTarget, pad(cutMiddle(p.name(n.Name), c.name, p.ellipsis), c.name), c.phase)
	if c.image > 0 {
		r = append(r, span{inkDim, "  " + pad(cutMiddle(p.clean(n.Image), c.image, p.ellipsis), c.image)})
	}
	r = append(r, p.pods(n, c)...)
	if by, blocked := p.blocked(n); blocked {
		if by == "" {
			by = "blocked"
		} else if c.by > 0 {
			by = blockedBy + by
		}
		r = append(r, span{inkAlarm, "  " + p.warn + " " + by})
	} else if remark := p.remark(n); remark != "" {
		r = append(r, span{inkDim, remark})
	}
	if len(n.Pressure) > 0 {
		r = append(r, span{inkDrain, "  " + p.pressure(n.Pressure)})
	}
	return append(r, p.machineNote(n)...)
}

// rowOf begins the row of a node or a pod.
func (p *painter) rowOf(s sign, ready, onTarget bool, name string, phase int) row {
	phrase := s.ink
	if ready {
		phrase = inkDim // At rest: nothing to look at.
	}
	age := span{inkDim, "old"}
	if onTarget {
		age = span{inkReady, "new"}
	}
	return row{{s.ink, s.glyph + " "}, {inkText, name + "  "}, age, {phrase, "  " + pad(s.phrase, phase)}}
}

// blocked says what holds a node's drain up, "" where that isn't known. On a narrow
// line the glyph alone says that it is held up.
func (p *painter) blocked(n *noderoll.NodeView) (by string, is bool) {
	what, is := p.frame.Blocked[n.Name]
	return p.clean(what), is && n.Phase == noderoll.PhaseDraining
}

// remark says of a cordoned node what would hold its drain up, if somebody began it
// now. Nobody drains it, so that is no trouble yet.
func (p *painter) remark(n *noderoll.NodeView) string {
	if _, blocked := p.blocked(n); blocked || !n.Cordoned || n.HeldBy == "" || n.Phase != noderoll.PhaseDraining {
		return ""
	}
	return "  " + wouldBlockedBy + p.clean(n.HeldBy)
}

// pods shows how much of a drain is done.
func (p *painter) pods(n *noderoll.NodeView, c columns) row {
	text := podsText(n)
	if text == "" {
		return nil
	}
	if n.PodsUnknown || n.PodsTotal <= 0 || n.Cordoned {
		return row{{inkDim, "  " + text}}
	}
	r := row{{inkText, "  "}}
	if c.bar > 0 {
		r = append(append(r, p.bar(inkDrain, Evicted(*n), n.PodsTotal, c.bar)...), span{inkText, "  "})
	}
	return append(r, span{inkText, pad(text, c.pods)})
}

func podsText(n *noderoll.NodeView) string {
	switch {
	case n.Phase != noderoll.PhaseDraining:
		return ""
	case n.PodsUnknown:
		return "pods unknown"
	case n.PodsTotal <= 0, n.Cordoned && n.Pods <= 0:
		return "no pods"
	case n.Cordoned && n.Pods == 1:
		return "1 pod"
	case n.Cordoned:
		return number(max(0, n.Pods)) + " pods"
	}
	return number(Evicted(*n)) + "/" + number(n.PodsTotal) + " pods"
}

// pressure lists the conditions; a hostile snapshot may hold any number.
func (p *painter) pressure(conditions []string) string {
	const most = 4
	var parts []string
	for _, condition := range conditions[:min(len(conditions), most)] {
		parts = append(parts, p.clean(condition))
	}
	text := strings.Join(parts, " ")
	if len(conditions) > most {
		text += " " + p.ellipsis
	}
	return text
}
