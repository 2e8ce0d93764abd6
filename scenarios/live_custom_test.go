package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nodesim/nodesim/scenarios"
)

// few is a NodePool of few.
var few = []scenarios.Setting{{Name: "nodes", Value: "2"}, {Name: "budget", Value: "50%"}}

func (w *fakeControlPlane) customsOf(resource string) (all []*unstructured.Unstructured) {
	for key, o := range w.customs {
		if strings.HasPrefix(key, resource+"/") {
			all = append(all, o)
		}
	}
	return all
}

// isTrue reports whether an object has a condition.
func isTrue(o *unstructured.Unstructured, kind string) bool {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(list, func(c any) bool {
		is, _ := c.(map[string]any)
		return is["type"] == kind && is["status"] == "True"
	})
}

// claimed holds nodes and NodeClaims against each other.
func (w *fakeControlPlane) claimed(t *testing.T) {
	t.Helper()
	byName := map[string]*unstructured.Unstructured{}
	for _, o := range w.customsOf("nodeclaims") {
		byName[o.GetName()] = o
		owner := o.GetOwnerReferences()
		if len(owner) != 1 || w.customs["nodepools/"+owner[0].Name] == nil {
			t.Errorf("NodeClaim %s has the owners %v: want a NodePool that is there", o.GetName(), owner)
		}
		if !isTrue(o, "Ready") || !slices.Equal(o.GetFinalizers(), []string{"karpenter.sh/termination"}) || o.GetUID() != "" {
			t.Errorf("NodeClaim %s: %v", o.GetName(), o.Object)
		}
	}
	for _, n := range w.nodes {
		if len(n.OwnerReferences) != 1 || byName[n.OwnerReferences[0].Name] == nil {
			t.Errorf("node %s has the owners %v: want a NodeClaim that is there", n.Name, n.OwnerReferences)
			continue
		}
		node, _, _ := unstructured.NestedString(byName[n.OwnerReferences[0].Name].Object, "status", "nodeName")
		if node != n.Name {
			t.Errorf("node %s has the NodeClaim of %q", n.Name, node)
		}
	}
	if len(byName) != len(w.nodes) {
		t.Errorf("%d NodeClaims, %d nodes", len(byName), len(w.nodes))
	}
}

// Each node has a NodeClaim that owns it, from 0s to the end, and those that have
// drifted go once their finalizers are removed.
func TestLiveNodeClaims(t *testing.T) {
	w, wall := runLive(t, "karpenter-drift", few...)
	begin(t, w)
	w.claimed(t)
	old := w.customsOf("nodeclaims")
	play(t, w, wall, func() bool {
		return slices.ContainsFunc(old, func(o *unstructured.Unstructured) bool {
			return isTrue(o, "Drifted") && o.GetDeletionTimestamp() != nil
		})
	})
	if w.p.Ended() {
		t.Error("no NodeClaim has drifted and was deleted")
	}
	play(t, w, wall, func() bool { return false })
	if d := cmp.Diff([]string{""}, w.p.Outcomes()); d != "" {
		t.Error(d)
	}
	w.claimed(t)
	for _, o := range old {
		if w.customs["nodeclaims/"+o.GetName()] != nil {
			t.Errorf("NodeClaim %s is still there", o.GetName())
		}
	}
}

// Who deletes a NodeClaim has its node and its machine go, and pods that wait have
// Karpenter launch another.
func TestLiveDeletedNodeClaim(t *testing.T) {
	w, wall := runLive(t, "karpenter-drift", few...)
	begin(t, w)
	kinds := w.p.CustomKinds()
	victim := w.customsOf("nodeclaims")[0].GetName()
	w.dropCustom(kinds[len(kinds)-1], victim)
	w.settle()
	play(t, w, wall, func() bool { return w.customs["nodeclaims/"+victim] == nil })
	if count(w.log, "delete node ") == 0 {
		t.Error("its node wasn't deleted")
	}
	play(t, w, wall, func() bool { return false })
	w.claimed(t)
}

// A run that resumes another one resumes its NodeClaims.
func TestLiveAdoptNodeClaims(t *testing.T) {
	w, wall := runLive(t, "karpenter-drift", few...)
	begin(t, w)
	play(t, w, wall, func() bool {
		return len(w.nodes) == 2 && len(w.customsOf("nodeclaims")) == 2 && count(w.log, "create nodeclaims/") == 3
	})
	w.goOn(t, "karpenter-drift", few...)
	if n := count(w.log, "create nodeclaims/"); n > 0 {
		t.Errorf("%d NodeClaims were created anew", n)
	}
	if err := w.p.Begin(); err != nil {
		t.Fatal(err)
	}
	w.claimed(t)
	play(t, w, wall, func() bool { return false })
	w.claimed(t)
}

// Each node has a Machine, of a MachineSet that counts its own.
func TestLiveMachines(t *testing.T) {
	w, wall := runLive(t, "capi-rollout", scenarios.Setting{Name: "nodes", Value: "2"})
	begin(t, w)
	sets := func() (wanted []int64) {
		for _, o := range w.customsOf("machinesets") {
			n, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas")
			f, _ := n.(float64)
			wanted = append(wanted, int64(f))
		}
		slices.Sort(wanted)
		return wanted
	}
	machines := func() {
		t.Helper()
		for _, o := range w.customsOf("machines") {
			name, _, _ := unstructured.NestedString(o.Object, "status", "nodeRef", "name")
			owner := o.GetOwnerReferences()
			if w.nodes[name] == nil || len(owner) != 1 || w.customs["machinesets/"+owner[0].Name] == nil {
				t.Errorf("Machine %s of node %q, with the owners %v", o.GetName(), name, owner)
			}
		}
		if n := len(w.customsOf("machines")); n != len(w.nodes) || n != 2 {
			t.Errorf("%d Machines, %d nodes: want 2", n, len(w.nodes))
		}
	}
	machines()
	if d := cmp.Diff([]int64{2}, sets()); d != "" {
		t.Error(d)
	}
	play(t, w, wall, func() bool { return false })
	machines()
	if d := cmp.Diff([]int64{0, 2}, sets()); d != "" {
		t.Errorf("replicas of the MachineSets: %s", d)
	}
}
