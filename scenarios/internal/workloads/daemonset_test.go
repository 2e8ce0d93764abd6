package workloads

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

const daemonSet = `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"annotations":{"deprecated.daemonset.template.generation":"1"}},"spec":{"selector":{"matchLabels":{"app":"agent"}},
"template":{"metadata":{"labels":{"app":"agent"}},"spec":{"containers":[{"name":"c","image":"web:1"}]}}}}`

// newTemplate is a client's new template, counted as the API server does.
func newTemplate(n int) string {
	return strings.Replace(image(n), "{", fmt.Sprintf(`{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"%d"}},`, n), 1)
}

func (r *rig) nodes(names ...string) {
	for _, name := range names {
		r.env.API.SeedNode(&kube.Node{Meta: kube.Meta{Name: name, Labels: kube.PairsOf(kube.Pair{Key: "zone", Value: name[:1]})}})
	}
}

// settleNodes is settle for pods that are pinned to nodes.
func (r *rig) settleNodes() {
	for range 40 {
		r.pass(2 * time.Second)
		for _, p := range r.running() {
			if !p.Ready() {
				r.readyOn(p)
			}
		}
		r.leave()
	}
}

func (r *rig) readyOn(p *kube.Pod) {
	r.env.API.UpdatePod(p, func(p *kube.Pod) {
		p.Phase, p.NodeName = "Running", p.Pinned
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "True", Transition: r.env.API.Now()})
	})
}

func (r *rig) daemonsAre(what, want, pods string) {
	r.t.Helper()
	set := &appsv1.DaemonSet{}
	r.read("daemonsets", "agent", set)
	s := &set.Status
	got := fmt.Sprintf("desired %d current %d misscheduled %d ready %d updated %d available %d unavailable %d", s.DesiredNumberScheduled, s.CurrentNumberScheduled,
		s.NumberMisscheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberAvailable, s.NumberUnavailable)
	if got != want {
		r.t.Errorf("%s: %s\nwant %s", what, got, want)
	}
	var all []string
	for _, p := range r.running() {
		all = append(all, p.Pinned+"="+p.Template.Containers[0].Image)
	}
	slices.Sort(all)
	if got := strings.Join(all, " "); got != pods {
		r.t.Errorf("%s: pods %s\nwant %s", what, got, pods)
	}
}

// One pod on each node that fits, one replaced after the other.
func TestDaemonSetsRoll(t *testing.T) {
	r := newRig(t)
	r.nodes("a1", "a2", "b1")
	r.put("daemonsets", "agent", daemonSet)
	r.settleNodes()
	r.daemonsAre("created", "desired 3 current 3 misscheduled 0 ready 3 updated 3 available 3 unavailable 0", "a1=web:1 a2=web:1 b1=web:1")
	p := r.running()[0]
	if p.Labels.Get("pod-template-generation") != "1" || p.Labels.Get("controller-revision-hash") == "" || len(p.Template.Tolerations) != 6 {
		t.Errorf("labels %v, tolerations %v", p.Labels, p.Template.Tolerations)
	}
	r.put("daemonsets", "agent", newTemplate(2))
	r.pass(5 * time.Second)
	if n := len(r.running()); n != 2 {
		t.Errorf("%d pods run while one is replaced, want 2", n)
	}
	r.settleNodes()
	r.daemonsAre("updated", "desired 3 current 3 misscheduled 0 ready 3 updated 3 available 3 unavailable 0", "a1=web:2 a2=web:2 b1=web:2")
	if got := r.revisionsOf(); got != "1 2" {
		t.Errorf("revisions %s", got)
	}
	r.nodes("b2")
	r.settleNodes()
	r.daemonsAre("a new node", "desired 4 current 4 misscheduled 0 ready 4 updated 4 available 4 unavailable 0", "a1=web:2 a2=web:2 b1=web:2 b2=web:2")
	r.env.API.UpdateNode(r.env.API.Node("b2"), func(n *kube.Node) { n.Taints = []kube.Taint{{Key: "mine", Effect: "NoSchedule"}} })
	r.pass(5 * time.Second)
	r.daemonsAre("a taint", "desired 4 current 4 misscheduled 0 ready 4 updated 4 available 4 unavailable 0", "a1=web:2 a2=web:2 b1=web:2 b2=web:2")
	r.env.API.UpdateNode(r.env.API.Node("b2"), func(n *kube.Node) { n.Taints = []kube.Taint{{Key: "mine", Effect: "NoExecute"}} })
	r.settleNodes()
	r.daemonsAre("one that evicts", "desired 3 current 3 misscheduled 0 ready 3 updated 3 available 3 unavailable 0", "a1=web:2 a2=web:2 b1=web:2")
}

func TestDaemonSetsSelectNodes(t *testing.T) {
	r := newRig(t)
	r.nodes("a1", "b1", "c1")
	r.put("daemonsets", "agent", daemonSet)
	r.put("daemonsets", "agent", `{"spec":{"template":{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
		{"matchExpressions":[{"key":"zone","operator":"NotIn","values":["b"]}]}]}}}}}}}`)
	r.settleNodes()
	r.daemonsAre("by affinity", "desired 2 current 2 misscheduled 0 ready 2 updated 2 available 2 unavailable 0", "a1=web:1 c1=web:1")
}

func TestDaemonSetsSurge(t *testing.T) {
	r := newRig(t)
	r.nodes("a1", "a2", "b1")
	r.put("daemonsets", "agent", daemonSet)
	r.put("daemonsets", "agent", `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":2,"maxUnavailable":0}}}}`)
	r.settleNodes()
	r.put("daemonsets", "agent", newTemplate(2))
	r.pass(5 * time.Second)
	r.daemonsAre("surge", "desired 3 current 3 misscheduled 0 ready 3 updated 0 available 3 unavailable 0", "a1=web:1 a1=web:2 a2=web:1 a2=web:2 b1=web:1")
	r.settleNodes()
	r.daemonsAre("updated", "desired 3 current 3 misscheduled 0 ready 3 updated 3 available 3 unavailable 0", "a1=web:2 a2=web:2 b1=web:2")
}

func TestDaemonSetsOnDelete(t *testing.T) {
	r := newRig(t)
	r.nodes("a1", "a2")
	r.put("daemonsets", "agent", daemonSet)
	r.put("daemonsets", "agent", `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`)
	r.settleNodes()
	r.put("daemonsets", "agent", newTemplate(2))
	r.settleNodes()
	r.daemonsAre("left alone", "desired 2 current 2 misscheduled 0 ready 2 updated 0 available 2 unavailable 0", "a1=web:1 a2=web:1")
	r.env.API.DeletePod(r.running()[0], 0)
	r.settleNodes()
	r.daemonsAre("one deleted", "desired 2 current 2 misscheduled 0 ready 2 updated 1 available 2 unavailable 0", "a1=web:2 a2=web:1")
}

// A pod that fails again and again is replaced after longer and longer.
func TestDaemonsThatFail(t *testing.T) {
	r := newRig(t)
	r.nodes("a1")
	r.put("daemonsets", "agent", daemonSet)
	r.pass(5 * time.Second)
	made := 0
	for range 60 {
		for _, p := range r.running() {
			made++
			r.end(p, "Failed", 1)
		}
		r.leave()
		r.pass(time.Second)
	}
	if made < 4 || made > 8 {
		t.Errorf("%d pods in a minute, want about 6", made)
	}
	if said := r.said(); !strings.Contains(said, "FailedDaemonPod: Found failed daemon pod shop/agent-") {
		t.Error(said)
	}
}

// Where pods aren't admitted, those that run stay, and the DaemonSet says what is wrong and tries again.
func TestDaemonsThatAreRefused(t *testing.T) {
	r := newRig(t)
	refused := true
	r.Admit = func(p *corev1.Pod) error {
		if refused && p.Spec.Containers[0].Image == "web:2" {
			return errors.New("no PriorityClass")
		}
		return nil
	}
	r.nodes("a1", "a2", "b1")
	r.put("daemonsets", "agent", daemonSet)
	r.settleNodes()
	r.said()
	r.put("daemonsets", "agent", newTemplate(2))
	r.settleNodes()
	r.daemonsAre("refused", "desired 3 current 2 misscheduled 0 ready 2 updated 0 available 2 unavailable 1", "a2=web:1 b1=web:1")
	if said := r.said(); !strings.Contains(said, "FailedCreate: Error creating: no PriorityClass") {
		t.Error(said)
	}
	refused = false
	r.settleNodes()
	r.settleNodes()
	r.daemonsAre("admitted", "desired 3 current 3 misscheduled 0 ready 3 updated 3 available 3 unavailable 0", "a1=web:2 a2=web:2 b1=web:2")
}
