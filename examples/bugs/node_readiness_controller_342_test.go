package bugs

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

// https://github.com/kubernetes-sigs/node-readiness-controller/issues/342
//
// A rule taints the nodes that its nodeSelector selects until they meet its conditions. When the labels of a node
// changed so that the rule no longer selected it, the reconciler no longer looked at the rule, and the taint stayed for
// ever.
//
// Mended, as pull/236 there proposes, by looking also at the rules that have managed the node before. The simulated
// scheduler shows what that costs: a pod that has nowhere to go.
func TestNodeReadinessController342(t *testing.T) {
	shows(t, leaveRule, "the pod is Pending", "the pod is Running")
}

// readinessRule taints nodes of the tier frontend; that their network is ready nobody says here.
type readinessRule struct {
	client.Client
	managed map[string]bool
	mended  bool
}

var notReady = corev1.Taint{Key: "readiness.k8s.io/network", Effect: corev1.TaintEffectNoSchedule}

func (r *readinessRule) Reconcile(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
	var n corev1.Node
	if err := r.Get(ctx, q.NamespacedName, &n); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	selected := n.Labels["tier"] == "frontend"
	if !selected && (!r.mended || !r.managed[n.Name]) {
		return ctrl.Result{}, nil
	}
	r.managed[n.Name] = selected
	before := n.DeepCopy()
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == notReady.Key })
	if selected {
		n.Spec.Taints = append(n.Spec.Taints, notReady)
	}
	if slices.Equal(n.Spec.Taints, before.Spec.Taints) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Patch(ctx, &n, client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{}))
}

func leaveRule(t *testing.T, mended bool) string {
	c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("empty", scenarios.Setting{Name: "nodes", Value: "1"})))
	m := c.Manager(ctrl.Options{})
	rule := &readinessRule{Client: m.GetClient(), managed: map[string]bool{}, mended: mended}
	if err := ctrl.NewControllerManagedBy(m).For(&corev1.Node{}).Complete(rule); err != nil {
		t.Fatal(err)
	}
	c.Start(m)
	relabel := func(tier string) {
		n := c.Nodes()[0]
		n.Labels["tier"] = tier
		if err := c.Client.Update(t.Context(), &n); err != nil {
			t.Fatal(err)
		}
	}
	relabel("frontend")
	c.Eventually(time.Minute, "the rule to taint the node", func() bool {
		return slices.ContainsFunc(c.Nodes()[0].Spec.Taints, func(t corev1.Taint) bool { return t.Key == notReady.Key })
	})
	relabel("backend")
	<-time.After(time.Minute)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "api"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "api", Image: "registry.example.com/api:1"}}},
	}
	if err := c.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	<-time.After(5 * time.Minute)
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	return "the pod is " + string(pod.Status.Phase)
}
