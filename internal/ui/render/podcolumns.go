package render

import (
	"strings"

	"github.com/nodesim/nodesim/noderoll"
)

// podColumns are the widths of a pod's row; 0 leaves a column out.
type podColumns struct{ name, phase, what, node int }

const mostWhat = 40 // of a configuration

// podColumns gives the name what the others leave. Where that is too little the
// node goes first, whose name tells least; a configuration needs a wide line.
func (p *painter) podColumns(shown []*noderoll.PodView) podColumns {
	p.domain = commonDomain(len(shown), func(i int) string { return shown[i].Node })
	var c podColumns
	need := 0
	if p.width >= steady {
		c.phase = len("resize infeasible")
	}
	for _, v := range shown {
		need = max(need, cells(p.clean(p.podName(v.Namespace, v.Name))))
		c.phase = max(c.phase, len(p.podSign(v).phrase))
		c.what = max(c.what, cells(p.clean(v.Configuration)))
		if v.Node != "" {
			c.node = max(c.node, cells(p.name(v.Node)))
		}
	}
	c.what, c.node = min(c.what, mostWhat), min(c.node, mostWhat)
	if p.width < wideEnough {
		c.what = 0
	}
	room := func() int {
		left := p.width - 2 - 2 - len("old") - 2 - c.phase // glyph, space before and after the age
		for _, column := range []int{c.what, c.node} {
			if column > 0 {
				left -= 2 + column
			}
		}
		return left
	}
	if room() < need {
		c.node = 0
	}
	c.name = min(need, max(room(), leastName))
	return c
}

// pod is one row: glyph, name, old or new, phase, configuration, node, and what is
// wrong with it.
func (p *painter) pod(v *noderoll.PodView, c podColumns) row {
	name := pad(cutMiddle(p.clean(p.podName(v.Namespace, v.Name)), c.name, p.ellipsis), c.name)
	r := p.rowOf(p.podSign(v), v.Phase == noderoll.PodReady, v.OnTarget, name, c.phase)
	if c.what > 0 {
		r = append(r, span{inkDim, "  " + pad(cutMiddle(p.clean(v.Configuration), c.what, p.ellipsis), c.what)})
	}
	if c.node > 0 {
		node := ""
		if v.Node != "" {
			node = p.name(v.Node)
		}
		r = append(r, span{inkDim, "  " + pad(cutMiddle(node, c.node, p.ellipsis), c.node)})
	}
	if trouble := p.trouble(v); trouble != "" {
		r = append(r, span{inkAlarm, "  " + trouble})
	}
	return r
}

// trouble is why a pod isn't well, and how often it was restarted.
func (p *painter) trouble(v *noderoll.PodView) string {
	var parts []string
	switch v.Phase {
	case noderoll.PodFailed, noderoll.PodNotReady, noderoll.PodStarting:
		if reason := p.clean(v.Reason); reason != "" {
			parts = append(parts, reason)
		}
	}
	switch {
	case v.Restarts == 1:
		parts = append(parts, "1 restart")
	case v.Restarts > 1:
		parts = append(parts, number(v.Restarts)+" restarts")
	}
	return strings.Join(parts, ", ")
}
