package place

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
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
	p.Deploy("web", "200m", Replicas, nil)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}
	_, err = p.Kube.AppsV1().DaemonSets(Shop).Create(p.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template("agent", "10m")},
	}, metav1.CreateOptions{})
	p.Must(err)
	p.UntilReady("agent", len(p.NodeNames()))
	p.Budget("web", Replicas, Replicas-healthy)
}

// Budget creates the budget of an application, of whose pods a number may be disrupted, and waits until all are ready
// and it allows that.
func (p *Place) Budget(app string, replicas, disruptions int) {
	p.Helper()
	most := intstr.FromInt(disruptions)
	_, err := p.Kube.PolicyV1().PodDisruptionBudgets(Shop).Create(p.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &most, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}, metav1.CreateOptions{})
	p.Must(err)
	p.UntilReady(app, replicas)
	p.Eventually(5*time.Minute, "the budget of "+app+" to allow disruptions", func() (bool, string) {
		b, err := p.Kube.PolicyV1().PodDisruptionBudgets(Shop).Get(p.Context(), app, metav1.GetOptions{})
		p.Must(err)
		return b.Status.DisruptionsAllowed == int32(disruptions), fmt.Sprint(b.Status)
	})
}

// Deploy creates a Deployment whose pods select nodes by labels, any for nil.
func (p *Place) Deploy(name, cpu string, n int32, nodes map[string]string) {
	p.Helper()
	selector, t := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, template(name, cpu)
	t.Spec.NodeSelector = nodes
	_, err := p.Kube.AppsV1().Deployments(Shop).Create(p.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{Replicas: &n, Selector: selector, Template: t},
	}, metav1.CreateOptions{})
	p.Must(err)
}

// Scale sets the replicas of a Deployment.
func (p *Place) Scale(name string, n int32) {
	p.Helper()
	_, err := p.Kube.AppsV1().Deployments(Shop).Patch(p.Context(), name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n), metav1.PatchOptions{})
	p.Must(err)
}

// KeepAtScale has a pod be the last to go when its Deployment is scaled down.
func (p *Place) KeepAtScale(pod string) {
	p.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"100"}}}`, corev1.PodDeletionCost)
	_, err := p.Kube.CoreV1().Pods(Shop).Patch(p.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{})
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

// Keeps runs what displaces pods of an application, and wants a number of them to be ready at every moment.
func (p *Place) Keeps(app string, healthy int, do func()) {
	p.Helper()
	pods := p.Kube.CoreV1().Pods(Shop)
	counted := Counts(p, pods.List, pods.Watch, metav1.ListOptions{LabelSelector: "app=" + app}, func(o runtime.Object) bool { return ready(o.(*corev1.Pod)) })
	do()
	if n, _ := counted(); n < healthy {
		p.Errorf("%d pods of %s were ready at a time, the budget wants %d", n, app, healthy)
	} else {
		p.Logf("never fewer than %d pods of %s were ready", n, app)
	}
}

// KeepsTheBudget is Keeps for what Fill has created.
func (p *Place) KeepsTheBudget(do func()) {
	p.Helper()
	p.Keeps("web", healthy, do)
}
