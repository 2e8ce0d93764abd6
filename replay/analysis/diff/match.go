package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/replay/analysis"
)

// side is one analysis with the labels by which its parts are compared.
type side struct {
	*analysis.Analysis
	groups    map[string]string // by the group's name: the label
	nodes     map[string]int    // by the label: the place
	labels    map[string]string // of nodes, by the node's name; the last one that had it
	workloads map[string]string // by the pod's namespace/name, where the analysis has pods
}

func newSide(a *analysis.Analysis) *side {
	s := &side{Analysis: a, groups: map[string]string{}, workloads: map[string]string{}}
	for _, p := range a.Pods {
		s.workloads[p.Namespace+"/"+p.Name] = p.Workload
	}
	return s
}

func (s *side) summary() Side {
	return Side{
		Tape: phrase.Escaped(s.Tape.Name), Duration: s.Tape.Duration, Rolls: len(s.Rolls),
		Complete: s.Tape.Complete, Gaps: len(s.Tape.Gaps),
	}
}

// order are the node groups as they come: by their first roll, then by their first node.
func (s *side) order() []string {
	var all []string
	seen := map[string]bool{}
	add := func(group string) {
		if !seen[group] {
			seen[group] = true
			all = append(all, group)
		}
	}
	for _, r := range s.Rolls {
		if r.Pods == "" { // a roll of pods has no group
			add(r.Group)
		}
	}
	for _, n := range s.Nodes {
		add(n.Group)
	}
	return all
}

// match gives groups and nodes of both sides their labels. Groups that only one side has by its name are compared in their
// order, with both names.
func (s *side) match(other *side) {
	mine, theirs := s.order(), other.order()
	inMine, inTheirs := set(mine), set(theirs)
	var left, right []string
	for _, g := range mine {
		if inTheirs[g] {
			s.groups[g], other.groups[g] = groupLabel(g), groupLabel(g)
		} else {
			left = append(left, g)
		}
	}
	for _, g := range theirs {
		if !inMine[g] {
			right = append(right, g)
		}
	}
	for i, g := range left {
		s.groups[g] = groupLabel(g)
		if i < len(right) {
			// The same whichever side is asked first.
			label := groupLabel(min(g, right[i])) + "/" + groupLabel(max(g, right[i]))
			s.groups[g], other.groups[right[i]] = label, label
		}
	}
	for _, g := range right[min(len(left), len(right)):] {
		other.groups[g] = groupLabel(g)
	}
	s.label()
	other.label()
}

func set(names []string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}

func groupLabel(name string) string { return cmp.Or(phrase.Escaped(name), "(unnamed group)") }

// label gives each node its label: group, role and place in the order of replacement. Nodes of one moment are ordered by what
// they took, so that it doesn't matter how they are called.
func (s *side) label() {
	s.nodes, s.labels = map[string]int{}, map[string]string{}
	all := make([]int, len(s.Nodes))
	keys := make([][]time.Duration, len(s.Nodes))
	for i := range s.Nodes {
		all[i], keys[i] = i, replaced(&s.Nodes[i])
	}
	slices.SortStableFunc(all, func(a, b int) int { return slices.Compare(keys[a], keys[b]) })
	number := map[string]int{}
	for _, i := range all {
		n := &s.Nodes[i]
		of := s.groups[n.Group] + " " + string(n.Role)
		number[of]++
		label := fmt.Sprintf("%s %d", of, number[of])
		s.nodes[label], s.labels[n.Name] = i, label
	}
}

// replaced is what nodes are ordered by: the moment in which they were replaced or came, then all that is compared.
func replaced(n *analysis.Node) []time.Duration {
	const never = 1<<63 - 1
	first := func(all ...*analysis.Moment) time.Duration {
		for _, m := range all {
			if m != nil {
				return m.At
			}
		}
		return never
	}
	came := first(n.Requested, n.Joined, n.Ready)
	key := []time.Duration{first(n.DrainBegan, n.Cordoned, n.Terminated), came}
	if n.Role == analysis.RoleNew {
		key = []time.Duration{came, key[0]}
	}
	took := parts(n)
	open, _ := unfinished(n)
	for _, phase := range []analysis.Phase{
		analysis.PhaseBooting, analysis.PhaseJoining, analysis.PhaseCordoned, analysis.PhaseDraining, analysis.PhaseTerminating,
	} {
		d := time.Duration(never)
		if took[phase] != nil {
			d = *took[phase]
		}
		ended := time.Duration(1)
		if phase == open {
			ended = 0
		}
		key = append(key, d, ended)
	}
	key = append(key, time.Duration(n.PodsToEvict))
	for _, w := range n.Waits {
		key = append(key, w.From.At, w.Duration)
	}
	return key
}

// object is the label of what a wait or finding is about: a node's by its place, a pod's by its workload where that is known.
func (s *side) object(name string) string {
	if node, ok := strings.CutPrefix(name, "Node/"); ok {
		if label := s.labels[node]; label != "" {
			return "node " + label
		}
	}
	if pod, ok := strings.CutPrefix(name, "Pod/"); ok {
		if label := s.static(pod); label != "" {
			return label
		}
		if workload := s.workloads[pod]; workload != "" {
			return "pods of " + phrase.Escaped(workload)
		}
	}
	return phrase.Escaped(name)
}

// longestNode is the length of the longest name that a node can have.
const longestNode = 253

// static is the label of a static pod, by its namespace/name, and "" for any other pod. It has its node's name at the end of its
// own (pkg/kubelet/config/common.go of Kubernetes): the label says the node's place.
func (s *side) static(pod string) string {
	for i := max(len(pod)-1-longestNode, 0); i < len(pod); i++ {
		if pod[i] != '-' {
			continue
		}
		if node := s.labels[pod[i+1:]]; node != "" {
			return phrase.Escaped("Pod/"+pod[:i]) + " of node " + node
		}
	}
	return ""
}

// both are the keys of two maps, sorted.
func both[V any](a, b map[string]V) []string {
	var all []string
	for key := range a {
		all = append(all, key)
	}
	for key := range b {
		if _, twice := a[key]; !twice {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}
