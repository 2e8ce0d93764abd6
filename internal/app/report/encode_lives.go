package report

import (
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// nodes are the lives of nodes. Spans and Waits name their node by its place.
type nodes struct {
	Name       []int   `json:"name"`
	UID        []int   `json:"uid"`
	Group      []int   `json:"group"`
	Image      []int   `json:"image"`
	Zone       []int   `json:"zone"`
	Type       []int   `json:"type"`
	Role       []int   `json:"role"`
	Claim      []int   `json:"claim"`
	Evict      []int   `json:"evict"`
	Unfinished []int   `json:"unfinished"`
	Requested  moments `json:"requested"`
	Joined     moments `json:"joined"`
	Ready      moments `json:"ready"`
	Cordoned   moments `json:"cordoned"`
	DrainBegan moments `json:"drainBegan"`
	Drained    moments `json:"drained"`
	Terminated moments `json:"terminated"`
	Spans      spans   `json:"spans"`
	Waits      waits   `json:"waits"`
}

// spans are phases by node, and by time within a node.
type spans struct {
	Node  []int   `json:"node"`
	Phase []int   `json:"phase"`
	From  moments `json:"from"`
	To    []int64 `json:"to"`
}

// waits are those of all nodes, by node and by time within a node.
type waits struct {
	Node       []int   `json:"node"`
	Kind       []int   `json:"kind"`
	Phase      []int   `json:"phase"`
	From       moments `json:"from"`
	To         moments `json:"to"`
	Duration   []int64 `json:"duration"` // no longer than from From to To: waits may have pauses
	Object     []int   `json:"object"`
	Pods       [][]int `json:"pods"`
	More       []int   `json:"more"`
	Reason     []int   `json:"reason"`
	Message    []int   `json:"message"`
	Unfinished []int   `json:"unfinished"`
}

func (n *nodes) add(of []analysis.Node, t *interned, by time.Duration) {
	for _, is := range of {
		i := len(n.Name)
		n.Name, n.UID = append(n.Name, t.id(is.Name)), append(n.UID, t.id(is.UID))
		n.Group, n.Image = append(n.Group, t.id(is.Group)), append(n.Image, t.id(is.Image))
		n.Zone, n.Type = append(n.Zone, t.id(is.Zone)), append(n.Type, t.id(is.InstanceType))
		n.Role, n.Claim = append(n.Role, t.id(string(is.Role))), append(n.Claim, t.id(is.Claim))
		n.Evict, n.Unfinished = append(n.Evict, is.PodsToEvict), append(n.Unfinished, flag(is.DrainUnfinished))
		n.Requested.add(is.Requested, by)
		n.Joined.add(is.Joined, by)
		n.Ready.add(is.Ready, by)
		n.Cordoned.add(is.Cordoned, by)
		n.DrainBegan.add(is.DrainBegan, by)
		n.Drained.add(is.Drained, by)
		n.Terminated.add(is.Terminated, by)
		for _, s := range is.Spans {
			n.Spans.Node, n.Spans.Phase = append(n.Spans.Node, i), append(n.Spans.Phase, t.id(string(s.Phase)))
			n.Spans.From.add(&s.From, by)
			n.Spans.To = append(n.Spans.To, (s.To.At + by).Milliseconds())
		}
		for _, w := range is.Waits {
			n.Waits.add(i, w, t, by)
		}
	}
}

func (w *waits) add(node int, is analysis.Wait, t *interned, by time.Duration) {
	w.Node, w.Kind, w.Phase = append(w.Node, node), append(w.Kind, t.id(string(is.Kind))), append(w.Phase, t.id(string(is.Phase)))
	w.From.add(&is.From, by)
	w.To.add(&is.To, by)
	w.Duration = append(w.Duration, is.Duration.Milliseconds())
	pods := make([]int, 0, len(is.Pods))
	for _, p := range is.Pods {
		pods = append(pods, t.id(p))
	}
	w.Object, w.Pods, w.More = append(w.Object, t.id(is.Object)), append(w.Pods, pods), append(w.More, is.MorePods)
	w.Reason, w.Message = append(w.Reason, t.id(is.Reason)), append(w.Message, t.id(is.Message))
	w.Unfinished = append(w.Unfinished, flag(is.Unfinished))
}

// pods are the lives of pods.
type pods struct {
	Name      []int   `json:"name"` // namespace/name
	Workload  []int   `json:"workload"`
	Node      []int   `json:"node"`
	Evicted   []int   `json:"evicted"`
	Created   moments `json:"created"`
	Scheduled moments `json:"scheduled"`
	Ready     moments `json:"ready"`
	Deleted   moments `json:"deleted"`
	Gone      moments `json:"gone"`
}

func (p *pods) add(of []analysis.Pod, t *interned, by time.Duration) {
	for _, is := range of {
		p.Name, p.Workload = append(p.Name, t.id(is.Namespace+"/"+is.Name)), append(p.Workload, t.id(is.Workload))
		p.Node, p.Evicted = append(p.Node, t.id(is.Node)), append(p.Evicted, flag(is.Evicted))
		p.Created.add(is.Created, by)
		p.Scheduled.add(is.Scheduled, by)
		p.Ready.add(is.Ready, by)
		p.Deleted.add(is.Deleted, by)
		p.Gone.add(is.Gone, by)
	}
}

func flag(is bool) int {
	if is {
		return 1
	}
	return 0
}
