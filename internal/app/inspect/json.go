package inspect

import (
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/replay/analysis/rolls"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/timeline"
)

// JSON returns the report as one line of JSON with a line end. Times are
// decimal seconds with an s, as on the tape.
func (rep *Report) JSON() []byte {
	type gap struct {
		At       string `json:"at"`
		Resource string `json:"resource"`
		Reason   string `json:"reason,omitempty"`
	}
	type mark struct {
		At     string `json:"at"`
		Name   string `json:"name"`
		Reason string `json:"reason,omitempty"`
	}
	type milestone struct {
		Name string `json:"name"`
		At   string `json:"at"`
		Node string `json:"node,omitempty"`
		Pod  string `json:"pod,omitempty"`
	}
	type pods struct {
		Scope      string `json:"scope"`
		Updated    int    `json:"updated"`
		Resized    int    `json:"resized"`
		RolledBack int    `json:"rolledBack"`
		Failed     int    `json:"failed"`
		Restarted  int    `json:"restarted"`
	}
	type roll struct {
		Nodegroup  string        `json:"nodegroup"`
		Start      string        `json:"start"`
		End        string        `json:"end"`
		Replaced   int           `json:"replaced"`
		Joined     int           `json:"joined"`
		Outcome    rolls.Outcome `json:"outcome"`
		Milestones []milestone   `json:"milestones"`
		Pods       *pods         `json:"pods,omitempty"`
	}
	type violation struct {
		At string `json:"at"`
		invariant.Violation
	}
	h := rep.Header
	out := struct {
		Events    int                              `json:"events"`
		Duration  string                           `json:"duration"`
		Complete  bool                             `json:"complete"`
		Gaps      []gap                            `json:"gaps"`
		Resources map[string]map[timeline.Type]int `json:"resources"`
		Rolls     []roll                           `json:"rolls"`
		Marks     []mark                           `json:"marks,omitempty"`
		// Violations is there, though it may be empty, where the tape was checked.
		Violations     *[]violation    `json:"violations,omitempty"`
		MoreViolations int             `json:"moreViolations,omitempty"`
		Policies       []policy.Result `json:"policies,omitempty"`

		Torn      string              `json:"torn,omitempty"`
		Name      string              `json:"name"`
		Start     string              `json:"start,omitempty"`
		Source    timeline.SourceKind `json:"source,omitempty"`
		Program   string              `json:"program,omitempty"`
		Server    string              `json:"server,omitempty"`
		Times     timeline.Times      `json:"times,omitempty"`
		Provider  string              `json:"provider,omitempty"`
		Nodegroup string              `json:"nodegroup,omitempty"`
		Selector  string              `json:"selector,omitempty"`
		Pods      string              `json:"pods,omitempty"`
		Namespace string              `json:"namespace,omitempty"`
	}{
		Events: rep.Events, Duration: timeline.FormatAt(rep.Duration), Complete: rep.Complete,
		Gaps: []gap{}, Resources: rep.Resources, Rolls: []roll{}, Torn: rep.Torn, Policies: rep.Policies,
		Name: h.Metadata.Name, Source: h.Source.Kind, Program: h.Source.Program, Server: h.Source.Server, Times: h.Source.Times,
		Provider: h.Scope.Provider, Nodegroup: h.Scope.Nodegroup, Selector: h.Scope.Selector,
		Pods: h.Scope.Pods, Namespace: h.Scope.Namespace,
	}
	if rep.Checked {
		all := make([]violation, 0, len(rep.Violations))
		for _, v := range rep.Violations {
			all = append(all, violation{timeline.FormatAt(v.At), v})
		}
		out.Violations, out.MoreViolations = &all, rep.MoreViolations
	}
	if !h.Metadata.Start.IsZero() {
		out.Start = h.Metadata.Start.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
	}
	for _, g := range rep.Gaps {
		out.Gaps = append(out.Gaps, gap{timeline.FormatAt(g.At), g.Resource, g.Reason})
	}
	for _, m := range rep.Marks {
		out.Marks = append(out.Marks, mark{timeline.FormatAt(m.At), m.Name, m.Reason})
	}
	for _, r := range rep.Rolls {
		o := roll{
			Nodegroup: r.Nodegroup, Start: timeline.FormatAt(r.Start), End: timeline.FormatAt(r.End),
			Replaced: r.Replaced, Joined: r.Joined, Outcome: r.Outcome, Milestones: []milestone{},
		}
		for _, m := range r.Milestones {
			o.Milestones = append(o.Milestones, milestone{m.Name, timeline.FormatAt(m.At), m.Node, m.Pod})
		}
		if p := r.Pods; p != nil {
			o.Pods = (*pods)(p)
		}
		out.Rolls = append(out.Rolls, o)
	}
	return printable(out)
}
