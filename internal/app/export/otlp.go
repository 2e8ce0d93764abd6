package export

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// span is a span of OpenTelemetry.
type span struct {
	trace      [16]byte
	id, parent [8]byte
	name       string
	from, to   uint64 // nanoseconds since 1970
	attributes []attribute
	events     []spanEvent
	failed     string // why, of one whose status is an error
}

type spanEvent struct {
	name       string
	at         uint64
	attributes []attribute
}

// attribute is an attribute; its value is a string, an int, a bool, a float64 or a []string.
type attribute struct {
	key   string
	value any
}

// errNoStart is of a tape for spans, which have times of day.
var errNoStart = errors.New("the tape's header has no metadata.start between 1970 and 2262: want one, since spans have times of day")

// spans are those of a tape: a trace for each roll, with a span for the roll, in it one for each node of its group that was there
// during the roll, and in these one for each phase and each wait, cut to the roll. What is in no roll is in one trace of its
// own, whose first span is the tape. Each finding is an event, of its node's span where it has one.
func spans(a *analysis.Analysis) ([]span, error) {
	base, ok := epoch(a)
	if !ok {
		return nil, errNoStart
	}
	s := spanner{base: uint64(base), seed: a.Tape.Name + "\x00" + a.Tape.Start.UTC().Format(time.RFC3339Nano)}
	found := make([]bool, len(a.Findings))
	placed := make([]bool, len(a.Nodes))
	byGroup, groups := map[string][]int{}, map[string][]string{} // nodes by their group; groups by the name of a node
	for i, n := range a.Nodes {
		byGroup[n.Group] = append(byGroup[n.Group], i)
		if !slices.Contains(groups[n.Name], n.Group) {
			groups[n.Name] = append(groups[n.Name], n.Group)
		}
	}
	own := make([]int, len(a.Findings)) // the roll of one that is about the whole of it, or -1
	for k, f := range a.Findings {
		own[k] = slices.IndexFunc(a.Rolls, func(r analysis.Roll) bool { return f.Node == "" && f.From == r.Start && f.To == r.End })
	}
	for i, r := range a.Rolls {
		s.begin("roll "+rolled(r), "roll\x00"+strconv.Itoa(i)+"\x00"+r.Group+"\x00"+r.Pods, r.Start.At, r.End.At, attributes{
			{"nodesim.group", r.Group}, {"nodesim.pods", r.Pods}, {"nodesim.outcome", string(r.Outcome)}, {"nodesim.replaced", r.Replaced},
			{"nodesim.joined", r.Joined}, {"nodesim.left", r.Left}, {"nodesim.line", r.Start.Line},
		})
		if r.Outcome == analysis.Failed {
			s.root().failed = "the roll failed"
		}
		for _, k := range byGroup[r.Group] {
			n := a.Nodes[k]
			if from, to := life(n, a.Tape.Duration); r.Pods == "" && from <= r.End.At && to >= r.Start.At {
				placed[k] = true
				s.node(n, from, to)
			}
		}
		for k, f := range a.Findings {
			if !found[k] && s.covers(f) && about(r, groups[f.Node]) && (own[k] < 0 || own[k] == i) {
				found[k] = true
				s.finding(f)
			}
		}
		s.end()
	}
	s.begin("tape "+text(a.Tape.Name), "tape", 0, a.Tape.Duration, nil)
	for k, n := range a.Nodes {
		if !placed[k] {
			from, to := life(n, a.Tape.Duration)
			s.node(n, from, to)
		}
	}
	for k, f := range a.Findings {
		if !found[k] {
			s.finding(f)
		}
	}
	if len(s.open) > 1 || len(s.root().events) > 0 || len(a.Rolls) == 0 {
		s.end()
	}
	return s.done, nil
}

// life is when a node was there.
func life(n analysis.Node, end time.Duration) (from, to time.Duration) {
	to = end
	switch {
	case n.Requested != nil:
		from = n.Requested.At
	case n.Joined != nil:
		from = n.Joined.At
	}
	if n.Terminated != nil {
		to = n.Terminated.At
	}
	return from, max(from, to)
}

// spanner puts the spans of one trace after the other together.
type spanner struct {
	base  uint64
	seed  string
	trace [16]byte
	from  time.Duration
	to    time.Duration
	open  []span               // of the trace that was begun, its root first
	nodes map[string][]present // those that have a span in open, by name
	done  []span
}

// present is a node that was there from a moment on, with its span.
type present struct {
	from time.Duration
	span int
}

func (s *spanner) root() *span { return &s.open[0] }

func (s *spanner) begin(name, key string, from, to time.Duration, attrs attributes) {
	sum := sha256.Sum256([]byte("trace\x00" + s.seed + "\x00" + key))
	s.trace, s.from, s.to = [16]byte(sum[:]), from, max(from, to)
	s.open, s.nodes = nil, map[string][]present{}
	s.add([8]byte{}, name, "", from, to, attrs)
}

func (s *spanner) end() { s.done = append(s.done, s.open...) }

// add adds a span, cut to the trace. key tells it from the others of its trace.
func (s *spanner) add(parent [8]byte, name, key string, from, to time.Duration, attrs attributes) [8]byte {
	from = min(max(from, s.from), s.to)
	to = min(max(from, to), s.to)
	sum := sha256.Sum256([]byte(string(s.trace[:]) + key + "\x00" + strconv.Itoa(len(s.open))))
	id := [8]byte(sum[:])
	s.open = append(s.open, span{
		trace: s.trace, id: id, parent: parent, name: name, from: s.at(from), to: s.at(to), attributes: attrs.present(),
	})
	return id
}

func (s *spanner) at(d time.Duration) uint64 { return s.base + uint64(d) }

// node adds a node's spans: its life, and of its phases and waits what is in it and in the trace.
func (s *spanner) node(n analysis.Node, from, to time.Duration) {
	s.nodes[n.Name] = append(s.nodes[n.Name], present{from, len(s.open)})
	id := s.add(s.root().id, "node "+text(n.Name), "node\x00"+n.UID, from, to, attributes{
		{"k8s.node.name", n.Name}, {"k8s.node.uid", n.UID}, {"nodesim.group", n.Group}, {"nodesim.role", string(n.Role)},
		{"nodesim.image", n.Image}, {"cloud.availability_zone", n.Zone}, {"host.type", n.InstanceType}, {"nodesim.claim", n.Claim},
		{"nodesim.pods_to_evict", n.PodsToEvict}, {"nodesim.drain_unfinished", n.DrainUnfinished},
	})
	for _, p := range n.Spans {
		if s.touches(p.From, p.To) {
			s.add(id, string(p.Phase), "phase\x00"+n.UID, max(from, p.From.At), min(to, p.To.At), attributes{
				{"nodesim.phase", string(p.Phase)}, {"k8s.node.name", n.Name}, {"nodesim.line", p.From.Line},
			})
		}
	}
	for _, w := range n.Waits {
		if s.touches(w.From, w.To) {
			s.add(id, "wait: "+string(w.Kind), "wait\x00"+n.UID, max(from, w.From.At), min(to, w.To.At), attributes{
				{"nodesim.wait", string(w.Kind)}, {"nodesim.phase", string(w.Phase)}, {"k8s.node.name", n.Name}, {"nodesim.object", w.Object},
				{"nodesim.pods", w.Pods}, {"nodesim.more_pods", w.MorePods}, {"nodesim.reason", w.Reason},
				{"nodesim.message", w.Message}, {"nodesim.unfinished", w.Unfinished}, {"nodesim.line", w.From.Line},
			})
		}
	}
}

// touches reports whether what has these ends is partly in the trace. What has no length is, anywhere in it.
func (s *spanner) touches(from, to analysis.Moment) bool {
	if from.At == to.At {
		return s.from <= from.At && from.At <= s.to
	}
	return from.At < s.to && to.At > s.from
}

func (s *spanner) covers(f analysis.Finding) bool { return s.from <= f.From.At && f.From.At <= s.to }

// about reports whether a finding may be about a roll: its node is in the roll's group, or it has none that is known.
func about(r analysis.Roll, groups []string) bool {
	return len(groups) == 0 || r.Pods == "" && slices.Contains(groups, r.Group)
}

func (s *spanner) finding(f analysis.Finding) {
	at := s.root()
	for i, n := range s.nodes[f.Node] { // of several nodes with its name the last that was there by then, or the first
		if i == 0 || n.from <= f.From.At {
			at = &s.open[n.span]
		}
	}
	var lines []string
	for _, l := range f.Lines {
		lines = append(lines, strconv.Itoa(l))
	}
	at.events = append(at.events, spanEvent{"finding: " + string(f.Kind), s.at(f.From.At), attributes{
		{"nodesim.finding", string(f.Kind)}, {"nodesim.text", f.Text}, {"nodesim.remedy", f.Remedy}, {"nodesim.object", f.Object},
		{"k8s.node.name", f.Node}, {"nodesim.pods", f.Pods}, {"nodesim.cost_seconds", seconds(f.Cost)}, {"nodesim.delays", f.Delays},
		{"nodesim.lines", lines},
	}.present()})
}

type attributes []attribute

// present are the attributes that say something, with text that is safe to print.
func (all attributes) present() (out []attribute) {
	for _, a := range all {
		switch v := a.value.(type) {
		case string:
			a.value = text(v)
			if v == "" {
				continue
			}
		case int:
			if v == 0 {
				continue
			}
		case bool:
			if !v {
				continue
			}
		case []string:
			if len(v) == 0 {
				continue
			}
			a.value = texts(v)
		}
		out = append(out, a)
	}
	return out
}
