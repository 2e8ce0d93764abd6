package place

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
)

// What is on the nodes: twelve pods of a Deployment, ten of which a budget wants healthy, and one of a DaemonSet a node.
const (
	Shop     = "shop"
	Replicas = 12
	healthy  = 10
)

func template(name, cpu string) corev1.PodTemplateSpec {
	grace := int64(5)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{
				Name: name, Image: "registry.example.com/" + name + ":1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}},
		},
	}
}

// Fill creates the workloads and waits until all of their pods are ready.
func (p *Place) Fill() {
	p.Helper()
	_, err := p.Kube.CoreV1().Namespaces().Create(p.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Shop}}, metav1.CreateOptions{})
	p.Must(err)
	p.Deploy("web", "200m", Replicas)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}
	_, err = p.Kube.AppsV1().DaemonSets(Shop).Create(p.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template("agent", "10m")},
	}, metav1.CreateOptions{})
	p.Must(err)
	least := intstr.FromInt32(healthy)
	_, err = p.Kube.PolicyV1().PodDisruptionBudgets(Shop).Create(p.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	p.Must(err)
	p.UntilReady("web", Replicas)
	p.UntilReady("agent", Nodes)
	p.Eventually(5*time.Minute, "the budget to allow disruptions", func() (bool, string) {
		b, err := p.Kube.PolicyV1().PodDisruptionBudgets(Shop).Get(p.Context(), "web", metav1.GetOptions{})
		p.Must(err)
		return b.Status.DisruptionsAllowed == Replicas-healthy, fmt.Sprint(b.Status)
	})
}

// Deploy creates a Deployment.
func (p *Place) Deploy(name, cpu string, n int32) {
	p.Helper()
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	_, err := p.Kube.AppsV1().Deployments(Shop).Create(p.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{Replicas: &n, Selector: selector, Template: template(name, cpu)},
	}, metav1.CreateOptions{})
	p.Must(err)
}

// Pods lists the pods of an application, on a node or on all.
func (p *Place) Pods(app, node string) []corev1.Pod {
	p.Helper()
	o := metav1.ListOptions{LabelSelector: "app=" + app}
	if node != "" {
		o.FieldSelector = "spec.nodeName=" + node
	}
	list, err := p.Kube.CoreV1().Pods(Shop).List(p.Context(), o)
	p.Must(err)
	return list.Items
}

func ready(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (p *Place) UntilReady(app string, n int) {
	p.Helper()
	p.Eventually(10*time.Minute, fmt.Sprintf("%d ready pods of %s", n, app), func() (bool, string) {
		var states []string
		count := 0
		for _, pod := range p.Pods(app, "") {
			if ready(&pod) {
				count++
			}
			states = append(states, fmt.Sprintf("%s on %q is %s", pod.Name, pod.Spec.NodeName, pod.Status.Phase))
		}
		return count == n, strings.Join(states, ", ")
	})
}

// Busiest is the node with the most pods of web, the first by name of several.
func (p *Place) Busiest() *corev1.Node {
	p.Helper()
	list, err := p.Kube.CoreV1().Nodes().List(p.Context(), metav1.ListOptions{})
	p.Must(err)
	slices.SortFunc(list.Items, func(a, b corev1.Node) int {
		return cmp.Or(len(p.Pods("web", b.Name))-len(p.Pods("web", a.Name)), cmp.Compare(a.Name, b.Name))
	})
	return &list.Items[0]
}

// leastReady counts the ready pods of web from now on. The function that it returns says how few there ever were.
func (p *Place) leastReady() func() int {
	p.Helper()
	list, err := p.Kube.CoreV1().Pods(Shop).List(p.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	p.Must(err)
	var mu sync.Mutex
	now, least, stopped := map[types.UID]bool{}, Replicas, false
	for _, pod := range list.Items {
		if ready(&pod) {
			now[pod.UID] = true
		}
	}
	w, err := p.Kube.CoreV1().Pods(Shop).Watch(p.Context(), metav1.ListOptions{LabelSelector: "app=web", ResourceVersion: list.ResourceVersion})
	p.Must(err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ev := range w.ResultChan() {
			mu.Lock()
			pod, is := ev.Object.(*corev1.Pod)
			if !is {
				if !stopped { // a watch may end with the error that it was stopped
					p.Errorf("the watch of pods ended: %v", ev.Object)
				}
				mu.Unlock()
				return
			}
			if ev.Type == watch.Deleted || !ready(pod) {
				delete(now, pod.UID)
			} else {
				now[pod.UID] = true
			}
			least = min(least, len(now))
			mu.Unlock()
		}
	}()
	return func() int {
		mu.Lock()
		stopped = true
		mu.Unlock()
		w.Stop()
		<-ended
		mu.Lock()
		defer mu.Unlock()
		return least
	}
}

// KeepsTheBudget runs what displaces pods, and wants the budget to be kept.
func (p *Place) KeepsTheBudget(do func()) {
	p.Helper()
	least := p.leastReady()
	do()
	if n := least(); n < healthy {
		p.Errorf("%d pods of web were ready at a time, the budget wants %d", n, healthy)
	} else {
		p.Logf("never fewer than %d pods of web were ready", n)
	}
}
