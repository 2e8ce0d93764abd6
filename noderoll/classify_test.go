package noderoll_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/noderoll"
)

func TestClassify(t *testing.T) {
	ready := noderoll.Node{Ready: "True"}
	with := func(n noderoll.Node, change func(*noderoll.Node)) noderoll.Node {
		change(&n)
		return n
	}
	taint := func(key string) noderoll.Node {
		return with(ready, func(n *noderoll.Node) { n.TaintKeys = []string{"dedicated", key} })
	}
	for _, tc := range []struct {
		name     string
		node     noderoll.Node
		wasReady bool
		taints   []string
		want     noderoll.Phase
	}{
		{"ready", ready, false, nil, noderoll.PhaseReady},
		{"no condition", noderoll.Node{}, false, nil, noderoll.PhaseJoining},
		{"never ready", noderoll.Node{Ready: "False"}, false, nil, noderoll.PhaseJoining},
		{"was ready, says no", noderoll.Node{Ready: "False"}, true, nil, noderoll.PhaseNotReady},
		{"was ready, fell silent", noderoll.Node{Ready: "Unknown"}, true, nil, noderoll.PhaseNotReady},
		{"cordoned", with(ready, func(n *noderoll.Node) { n.Unschedulable = true }), false, nil, noderoll.PhaseDraining},
		{"cordoned and silent", noderoll.Node{Ready: "Unknown", Unschedulable: true}, true, nil, noderoll.PhaseDraining},
		{"taint of the cordon", taint("node.kubernetes.io/unschedulable"), false, nil, noderoll.PhaseDraining},
		{"autoscaler removes", taint("ToBeDeletedByClusterAutoscaler"), false, nil, noderoll.PhaseDraining},
		{"autoscaler removes, suffixed", taint("ToBeDeletedByClusterAutoscaler-x"), false, nil, noderoll.PhaseDraining},
		{"Karpenter disrupts", taint("karpenter.sh/disrupted"), false, nil, noderoll.PhaseDraining},
		{"spot interruption", taint("aws-node-termination-handler/spot-itn"), false, nil, noderoll.PhaseDraining},
		{"preemption", taint("cloud.google.com/impending-node-termination"), false, nil, noderoll.PhaseDraining},
		// Soft taints come and go, or sit on every old node at once.
		{"autoscaler considers", taint("DeletionCandidateOfClusterAutoscaler"), false, nil, noderoll.PhaseReady},
		{"kOps schedules", taint("kops.k8s.io/scheduled-for-update"), false, nil, noderoll.PhaseReady},
		{"outdated revision", taint("node.cluster.x-k8s.io/outdated-revision"), false, nil, noderoll.PhaseReady},
		{"rebalance hint", taint("aws-node-termination-handler/rebalance-recommendation"), false, nil, noderoll.PhaseReady},
		{"own list", taint("example.com/leaving"), false, []string{"example.com/*"}, noderoll.PhaseDraining},
		{"own list replaces", taint("karpenter.sh/disrupted"), false, []string{"example.com/leaving"}, noderoll.PhaseReady},
		{"empty list", taint("karpenter.sh/disrupted"), false, []string{}, noderoll.PhaseReady},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := noderoll.Classify(&tc.node, tc.wasReady, tc.taints); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestNodeFromReadsFirstReadyConditionAndPressure(t *testing.T) {
	n := noderoll.NodeFrom(&corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse},
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue},
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"},
		{Type: corev1.NodeReady, Status: corev1.ConditionFalse},
		{Type: "KernelDeadlock", Status: corev1.ConditionTrue},
	}}})
	if n.Ready != "True" || n.ReadyReason != "KubeletReady" {
		t.Errorf("ready: got %q, %q, want those of the first condition", n.Ready, n.ReadyReason)
	}
	if got := noderoll.Classify(&n, false, nil); got != noderoll.PhaseReady {
		t.Errorf("phase %s: pressure must not alter it", got)
	}
	if diff := cmp.Diff([]string{"MemoryPressure", "DiskPressure"}, n.Pressure.Types()); diff != "" {
		t.Errorf("pressure (-want +got):\n%s", diff)
	}
	if calm := noderoll.NodeFrom(&corev1.Node{}); calm.Pressure.Types() != nil {
		t.Errorf("pressure of an unstressed node: got %v, want nil", calm.Pressure.Types())
	}
}

func TestPodEvictable(t *testing.T) {
	for _, tc := range []struct {
		name string
		pod  noderoll.Pod
		want bool
	}{
		{"running", noderoll.Pod{Phase: "Running"}, true},
		{"pending", noderoll.Pod{Phase: "Pending"}, true},
		{"terminating", noderoll.Pod{Phase: "Running", Deleting: true}, true},
		{"succeeded", noderoll.Pod{Phase: "Succeeded"}, false},
		{"failed", noderoll.Pod{Phase: "Failed"}, false},
		{"DaemonSet", noderoll.Pod{Phase: "Running", DaemonSet: true}, false},
		{"static", noderoll.Pod{Phase: "Running", Mirror: true}, false},
	} {
		if got := tc.pod.Evictable(); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
