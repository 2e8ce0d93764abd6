package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/timeline"
)

// A demoCluster holds the objects of a small cluster and writes down every change
// that is made to them, as a watch would tell it. Versions count up from one,
// UIDs from one as well: both are told apart from real ones at a glance.
type demoCluster struct {
	group  string
	at     time.Duration
	rv     int64
	born   int
	nodes  map[string]*corev1.Node
	pods   []*corev1.Pod
	budget *policyv1.PodDisruptionBudget
	events []timeline.Event
}

// opened is the wall time of "0s" of a demoCluster.
var opened = time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC)

func newDemoCluster(group string) *demoCluster {
	return &demoCluster{group: group, nodes: map[string]*corev1.Node{}}
}

func (s *demoCluster) header() timeline.Header {
	return timeline.Header{
		Metadata: timeline.Metadata{Name: s.group, Start: timeline.Time{Time: opened}},
		Source:   timeline.Origin{Kind: timeline.SourceScenario, Server: "v1.36.3"},
		Scope:    timeline.Scope{Provider: "eks", Nodegroup: s.group},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
			{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
			{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
		},
	}
}

// beat lets time pass until the next moment.
func (s *demoCluster) beat() { s.at += demoBeat }

func (s *demoCluster) now() metav1.Time { return metav1.NewTime(opened.Add(s.at)) }

// meta names a new object.
func (s *demoCluster) meta(name, namespace string) metav1.ObjectMeta {
	s.born++
	return metav1.ObjectMeta{
		Name: name, Namespace: namespace, CreationTimestamp: s.now(),
		UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.born)),
	}
}

// tell writes down an object's new state. The objects are made here, from
// types that have a JSON form, so that can't fail.
func (s *demoCluster) tell(typ timeline.Type, resource string, o metav1.Object) {
	s.rv++
	o.SetResourceVersion(strconv.FormatInt(s.rv, 10))
	raw, err := json.Marshal(o)
	if err != nil {
		raw = nil // the Writer refuses an event without its object
	}
	s.events = append(s.events, timeline.Event{
		At: s.at, Type: typ, Resource: resource, Namespace: o.GetNamespace(), Name: o.GetName(),
		UID: string(o.GetUID()), RV: o.GetResourceVersion(), Object: raw,
	})
}

// sync says that the resource was told from end to end.
func (s *demoCluster) sync(resource string) {
	s.events = append(s.events, timeline.Event{
		At: s.at, Type: timeline.Sync, Resource: resource, RV: strconv.FormatInt(s.rv, 10),
	})
}

// run puts pods on a node, ready.
func (s *demoCluster) run(node string, pods int) {
	for range pods {
		s.pod(node)
	}
}

// evict takes pods of a node out of service: they are on their way out.
func (s *demoCluster) evict(node string, pods int) {
	grace := int64(30)
	for _, p := range s.pods {
		if pods == 0 {
			break
		}
		if p.Spec.NodeName != node || p.DeletionTimestamp != nil {
			continue
		}
		until := metav1.NewTime(s.now().Add(time.Duration(grace) * time.Second))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &until, &grace
		s.tell(timeline.Modified, "pods", p)
		pods--
	}
	s.allow()
}

// move ends the pods of a node that are on their way out, and makes as many
// new ones on another node.
func (s *demoCluster) move(from, to string) {
	gone := 0
	s.pods = slices.DeleteFunc(s.pods, func(p *corev1.Pod) bool {
		if p.Spec.NodeName != from || p.DeletionTimestamp == nil {
			return false
		}
		zero := int64(0)
		p.DeletionGracePeriodSeconds = &zero
		s.tell(timeline.Deleted, "pods", p)
		gone++
		return true
	})
	s.run(to, gone)
	s.allow()
}

// guard covers all pods by a budget that wants as many of them healthy.
func (s *demoCluster) guard(least int) {
	minimum := intstr.FromInt32(int32(least))
	s.budget = &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{Kind: "PodDisruptionBudget", APIVersion: "policy/v1"},
		ObjectMeta: s.meta("web", "shop"),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &minimum, Selector: &metav1.LabelSelector{MatchLabels: podLabels()},
		},
		Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DesiredHealthy: int32(least)},
	}
	s.budget.Generation = 1
	s.count()
	s.tell(timeline.Added, "poddisruptionbudgets", s.budget)
}

// count updates a budget's status as the disruption controller does.
func (s *demoCluster) count() {
	healthy := int32(0)
	for _, p := range s.pods {
		if p.DeletionTimestamp == nil {
			healthy++
		}
	}
	st := &s.budget.Status
	st.ExpectedPods, st.CurrentHealthy = int32(len(s.pods)), healthy
	st.DisruptionsAllowed = max(0, healthy-st.DesiredHealthy)
}

// allow tells the budget's new status, if it has one.
func (s *demoCluster) allow() {
	was := s.budget.Status
	s.count()
	now := s.budget.Status
	if was.CurrentHealthy != now.CurrentHealthy || was.ExpectedPods != now.ExpectedPods {
		s.tell(timeline.Modified, "poddisruptionbudgets", s.budget)
	}
}
