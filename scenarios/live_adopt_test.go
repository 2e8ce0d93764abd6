package scenarios_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios"
)

// goOn ends the live run where it stands and has another one resume what is
// there, as package live does: nodes on their way out that nobody ends are let go, and
// objects of the provider's that nobody knows any more are removed.
func (w *fakeControlPlane) goOn(t *testing.T, name string, set ...scenarios.Setting) {
	t.Helper()
	at := w.p.Now()
	w.p, w.news, w.log = prepare(t, w, name, set...), nil, nil
	var nodes []*corev1.Node
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		if n := w.nodes[name]; n.DeletionTimestamp == nil || w.p.Resumable(n) {
			nodes = append(nodes, n.DeepCopy())
		} else {
			delete(w.nodes, name)
		}
	}
	clear(w.quiet)
	strays := maps.Clone(w.customs)
	w.taken = strays
	if err := w.p.Adopt(nodes, at, false); err != nil {
		t.Fatal(err)
	}
	w.p.Seed()
	w.taken = nil
	for key := range strays {
		delete(w.customs, key)
	}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		w.podNews(watch.Added, w.pods[name])
	}
	kinds := w.p.CustomKinds()
	for _, key := range slices.Sorted(maps.Keys(w.customs)) {
		for _, kind := range kinds {
			if strings.HasPrefix(key, kind.Resource+"/") {
				is := w.customs[key].DeepCopy()
				w.news = append(w.news, func() { w.p.CustomSeen(watch.Added, kind, is) })
			}
		}
	}
	w.settle()
}

// A live run that hadn't begun is resumed although the control plane has missed its nodes, and said of their pods that they aren't Ready.
func TestLiveResumesBeforeItBegins(t *testing.T) {
	w, wall := runLive(t, "surge", small...)
	w.create(w.p.Objects())
	w.p.Seed()
	w.settle()
	*wall = wall.Add(time.Minute)
	w.p, w.news, w.log = prepare(t, w, "surge", small...), nil, nil
	for _, pod := range w.pods {
		for i := range pod.Status.Conditions {
			if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
				c.Status, c.LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(w.now())
			}
		}
	}
	w.p.Seed()
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		w.podNews(watch.Added, w.pods[name])
	}
	w.settle()
	if missing := w.p.Unsettled(); len(missing) > 0 {
		t.Fatalf("resumed before it began: %v", missing)
	}
	addresses := map[string]bool{}
	for name, pod := range w.pods {
		if addresses[pod.Status.PodIP] && !pod.Spec.HostNetwork {
			t.Errorf("pod %s has the address of another one, %s", name, pod.Status.PodIP)
		}
		addresses[pod.Status.PodIP] = true
	}
	if err := w.p.Begin(); err != nil {
		t.Fatal(err)
	}
	play(t, w, wall, func() bool { return false })
	if d := cmp.Diff([]string{""}, w.p.Outcomes()); d != "" {
		t.Error(d)
	}
}

// A roll by Karpenter that is cut short at any moment, and resumed, comes to
// its end, with the nodes that are wanted and a NodeClaim for each; also where
// somebody deletes a NodeClaim meanwhile.
func TestLiveAdoptAtAnyMoment(t *testing.T) {
	for _, victim := range []int{-1, 0} {
		for at := 5 * time.Second; at < 6*time.Minute; at += 3500 * time.Millisecond {
			t.Run(fmt.Sprintf("%s, victim %d", at, victim), func(t *testing.T) {
				t.Parallel()
				w, wall := runLive(t, "karpenter-drift", few...)
				begin(t, w)
				play(t, w, wall, func() bool { return w.p.Now() >= at })
				w.goOn(t, "karpenter-drift", few...)
				var claims []string
				for _, n := range w.nodes {
					if n.DeletionTimestamp == nil && len(n.OwnerReferences) == 1 {
						claims = append(claims, n.OwnerReferences[0].Name)
					}
				}
				slices.Sort(claims)
				if kinds := w.p.CustomKinds(); victim >= 0 && victim < len(claims) {
					w.dropCustom(kinds[len(kinds)-1], claims[victim])
					w.settle()
				}
				if err := w.p.Begin(); err != nil {
					t.Fatal(err)
				}
				play(t, w, wall, func() bool { return false })
				if o := w.p.Outcomes(); !slices.Equal(o, []string{""}) {
					t.Errorf("outcomes %q at %s", o, w.p.Now())
				}
				// Karpenter replaces a node that somebody deletes as far as pods wait.
				if n := len(w.nodes); n > 2 || n < 2 && victim < 0 || n < 1 {
					t.Errorf("%d nodes in the end, want 2", n)
				}
				w.claimed(t)
			})
		}
	}
}

// A node that was on its way out when the live run was cut short is drained to its
// end by the next one: no pod is left on a node that isn't there. That holds where the
// server has missed the node meanwhile, and what its kubelet posts comes too late.
func TestLiveAdoptLeavingNode(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("missed %t", late), func(t *testing.T) {
			w, wall := runLive(t, "karpenter-drift", few...)
			begin(t, w)
			leaving := ""
			play(t, w, wall, func() bool {
				for _, p := range w.pods {
					if n := w.nodes[p.Spec.NodeName]; n != nil && n.DeletionTimestamp != nil && p.Namespace == "shop" {
						leaving = n.Name
					}
				}
				return leaving != ""
			})
			if leaving == "" {
				t.Fatal("no node was deleted with pods on it")
			}
			if late {
				w.late = leaving
				w.miss(w.nodes[leaving])
			}
			w.goOn(t, "karpenter-drift", few...)
			if err := w.p.Begin(); err != nil {
				t.Fatal(err)
			}
			if w.nodes[leaving] == nil {
				t.Fatalf("node %s has gone with its pods on it", leaving)
			}
			play(t, w, wall, func() bool {
				for _, p := range w.pods {
					if p.Spec.NodeName == leaving && w.nodes[leaving] == nil && p.Namespace == "shop" {
						t.Fatalf("pod %s is left on node %s, which is gone", p.Name, leaving)
					}
				}
				return false
			})
			if w.nodes[leaving] != nil || !slices.Equal(w.p.Outcomes(), []string{""}) {
				t.Errorf("node %s is there: %t, outcomes %q: want it gone and a roll that is complete", leaving, w.nodes[leaving] != nil, w.p.Outcomes())
			}
			w.claimed(t)
		})
	}
}
