package render

import (
	"strings"

	"github.com/nodesim/nodesim/noderoll"
)

// betweenEvents is the width of glyph and spaces in the row of an event.
const betweenEvents = 2 + 2 + 2 + 2

// events is the section of the feed: the latest entries, oldest first.
func (p *painter) events(rows int) []row {
	entries := p.frame.Recent[max(0, len(p.frame.Recent)-rows):]
	var at, phrase, node int
	if p.width >= steady {
		at, phrase = noderoll.StampWidth(p.frame.Duration), len("terminated")
	}
	var names []string
	detail := 0 // of those that name a node
	for i := range entries {
		e := &entries[i]
		at = max(at, len(moment(e.At)))
		phrase = max(phrase, len(p.entrySign(e).phrase))
		if subject, rest := p.subject(e); subject != "" {
			names = append(names, subject)
			detail = max(detail, cells(p.detail(&rest)))
		}
	}
	measure := func() {
		node = 0
		for _, name := range names {
			node = max(node, cells(p.name(name)))
		}
	}
	if measure(); detail > 0 && at+phrase+node+detail > p.width-betweenEvents && !p.frame.Pods {
		p.dropDomain(names)
		measure()
	}
	node = min(node, max(p.width-at-phrase-8, leastName))
	out := []row{{{inkDim, "EVENTS"}}}
	for i := range entries {
		e := &entries[i]
		s := p.entrySign(e)
		subject, rest := p.subject(e)
		r := row{
			{inkDim, pad(moment(e.At), at) + "  "},
			{s.ink, s.glyph + " " + pad(s.phrase, phrase)},
		}
		if subject != "" {
			r = append(r, span{inkText, "  " + pad(cutMiddle(p.name(subject), node, p.ellipsis), node)})
		}
		if detail := p.detail(&rest); detail != "" {
			r = append(r, span{inkDim, "  " + detail})
		}
		out = append(out, r)
	}
	return out
}

// subject is whom an entry is about, the pod of a roll of pods or else the node,
// and the entry without what that says.
func (p *painter) subject(e *noderoll.Entry) (string, noderoll.Entry) {
	rest := *e
	pod, ok := strings.CutPrefix(e.Object, "Pod/")
	if !ok || !p.frame.Pods || e.Kind == noderoll.EvtWarning || e.Kind == noderoll.EvtEvicted {
		return e.Node, rest
	}
	rest.Object = ""
	if namespace, name, ok := strings.Cut(pod, "/"); ok {
		pod = p.podName(namespace, name)
	}
	return pod, rest
}

// detail returns what an entry says besides its node: what it is about, without the
// kind where the phrase implies it, the word for programs where it adds to the
// phrase, and the sentence for people.
func (p *painter) detail(e *noderoll.Entry) string {
	object, reason := p.clean(e.Object), p.clean(e.Reason)
	if _, name, ok := strings.Cut(object, "/"); ok && e.Kind != noderoll.EvtWarning {
		object = name
	}
	message := cut(p.clean(e.Message), p.width, p.ellipsis)
	switch {
	case message == "":
		message = reason
	case e.Kind == noderoll.EvtBlocked: // The phrase says it already.
	default:
		object = join(reason, " ", object)
	}
	return join(object, ": ", message)
}

func join(a, between, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + between + b
}
