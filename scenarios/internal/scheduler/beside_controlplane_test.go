//go:build controlplane

package scheduler_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// simulated is the simulated scheduler in a world.
type simulated struct {
	*placing.Cluster
	ts convert.Templates
}

func simulate(t testing.TB, w *world) *simulated {
	t.Helper()
	s := &simulated{Cluster: placing.New(t, "v1.36.3", false)}
	for i := range w.Namespaces {
		s.Scheduler.Namespace(w.Namespaces[i].Name, convert.LabelsFromAPI(w.Namespaces[i].Labels))
	}
	zones := map[string]string{}
	for i := range w.Volumes {
		zones[w.Volumes[i].Name] = ""
		if a := w.Volumes[i].Spec.NodeAffinity; a != nil {
			zones[w.Volumes[i].Name] = a.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]
		}
	}
	for i := range w.Claims {
		if c := &w.Claims[i]; c.Spec.VolumeName != "" {
			s.Scheduler.Volume(scheduler.ClaimName{Namespace: c.Namespace, Name: c.Name}, zones[c.Spec.VolumeName])
		}
	}
	for i := range w.CSINodes {
		if most := w.CSINodes[i].Spec.Drivers[0].Allocatable; most != nil {
			s.Scheduler.VolumeLimit(w.CSINodes[i].Name, int(*most.Count))
		}
	}
	for i := range w.Nodes {
		s.API.PutNode(w.Nodes[i].Name, func(n *kube.Node) { convert.NodeOfEarlierRun(n, &w.Nodes[i], clock) })
	}
	for i := range w.Budgets {
		b := &w.Budgets[i]
		s.API.PutBudget(b.Namespace, b.Name, func(own *kube.Budget) { convert.BudgetFromAPI(own, b, clock) })
	}
	for i := range w.Placed {
		if err := s.API.CreatePod(s.pod(&w.Placed[i])); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *simulated) pod(in *corev1.Pod) *kube.Pod {
	p := &kube.Pod{}
	s.ts.PodFromAPI(p, in, clock, true)
	return p
}

// compare says in what the simulated scheduler differs from kube-scheduler's verdict on a pod, "" where in nothing. kind
// is of the difference.
func (s *simulated) compare(p *kube.Pod, v *verdict) (kind, difference string) {
	if p.Gated || v.Gated {
		if p.Gated != v.Gated {
			return "gate", fmt.Sprintf("gated: found %t, want %t", p.Gated, v.Gated)
		}
		return "", ""
	}
	own := s.Scheduler.Judge(p)
	if fits := slices.Sorted(maps.Keys(own.Scores)); !slices.Equal(fits, v.Feasible) {
		return "nodes", fmt.Sprintf("fits on %v, want %v\nfound %s\nwant  %s", fits, v.Feasible, own.Message, v.Message)
	}
	if own.Message != v.Message {
		return "message", fmt.Sprintf("found %s\nwant  %s", own.Message, v.Message)
	}
	if difference := s.compareVictims(own.Victims, v); difference != "" {
		return "victims", difference
	}
	if len(v.Totals) == 0 {
		return "", ""
	}
	top, most := slices.Max(slices.Collect(maps.Values(own.Scores))), slices.Max(slices.Collect(maps.Values(v.Totals)))
	for _, name := range v.Feasible {
		if own.Scores[name]-top != v.Totals[name]-most {
			return "scores", fmt.Sprintf("scores, less the most: found %v, want %v\nkube-scheduler's plugins: %v", below(own.Scores), below(v.Totals), v.Scores)
		}
	}
	return "", ""
}

// below are scores as distances from the most.
func below(scores map[string]int64) map[string]int64 {
	out, most := map[string]int64{}, slices.Max(slices.Collect(maps.Values(scores)))
	for name, score := range scores {
		out[name] = score - most
	}
	return out
}

// compareVictims wants the node, and those pods on it that aren't being deleted already, to be among those that the
// simulated scheduler holds for best.
func (s *simulated) compareVictims(own map[string][]*kube.Pod, v *verdict) string {
	if len(own) == 0 && v.Nominated == "" {
		return ""
	}
	found := map[string][]string{}
	for node, victims := range own {
		found[node] = []string{}
		for _, p := range victims {
			if !p.Terminating() {
				found[node] = append(found[node], p.Namespace+"/"+p.Name)
			}
		}
		slices.Sort(found[node])
	}
	if victims, best := found[v.Nominated]; !best || !slices.Equal(victims, v.Victims) {
		return fmt.Sprintf("victims by node: found %v, want %v on %s", found, v.Victims, v.Nominated)
	}
	return ""
}

// follow brings the simulated cluster to what kube-scheduler has decided of a pod.
func (s *simulated) follow(p *kube.Pod, v *verdict) error {
	for _, victim := range v.Victims {
		namespace, name, _ := strings.Cut(victim, "/")
		s.API.DeletePod(s.API.Pod(namespace, name), 0)
	}
	if v.Node == "" {
		return nil
	}
	p.NodeName, p.Phase = v.Node, "Running"
	return s.API.CreatePod(p)
}
