package testcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// nodeConditions are those that kwok gives a node (sigs.k8s.io/kwok, pkg/kwok/controllers/node_controller.go,
// nodeConditions).
func nodeConditions() []corev1.NodeCondition {
	return []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"},
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: "RouteCreated", Message: "RouteController created a route"},
	}
}

// makeReady is kwok's stage node-ready.
func (k *kubelets) makeReady(ctx context.Context, name string) error {
	now, all := metav1.Now(), nodeConditions()
	for i := range all {
		all[i].LastHeartbeatTime, all[i].LastTransitionTime = now, now
	}
	return k.patchNode(ctx, name, map[string]any{
		"conditions": all, "phase": corev1.NodeRunning,
		"addresses": []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: name}},
	})
}

// planHeartbeat has a node's status reported again after 300 to 310 s, as a kubelet reports one that hasn't changed.
func (k *kubelets) planHeartbeat(n *corev1.Node) {
	after := 300*time.Second + rand.N(10*time.Second)
	k.plan(n.UID, heartbeat, after, func(ctx context.Context) error {
		is, err := k.nodes.Get(n.Name)
		if apierrors.IsNotFound(err) {
			return nil // it is gone
		}
		if err != nil {
			return err
		}
		now, all := metav1.Now(), is.DeepCopy().Status.Conditions
		for i := range all {
			all[i].LastHeartbeatTime = now
		}
		return k.patchNode(ctx, n.Name, map[string]any{"conditions": all})
	})
}

func (k *kubelets) patchNode(ctx context.Context, name string, status map[string]any) error {
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = k.client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// runPod is kwok's stage pod-ready: one write.
func (k *kubelets) runPod(ctx context.Context, key types.NamespacedName, uid types.UID) error {
	pod, err := k.pods.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if pod.UID != uid || pod.DeletionTimestamp != nil || podIsReady(pod) {
		return nil // another step is its next
	}
	now := metav1.Now()
	since := now
	if s := pod.Status.StartTime; s != nil {
		since = *s
	}
	status := map[string]any{
		"conditions": []map[string]any{
			{"type": corev1.PodInitialized, "status": corev1.ConditionTrue, "lastTransitionTime": since},
			{"type": corev1.PodReady, "status": corev1.ConditionTrue, "lastTransitionTime": now},
			{"type": corev1.ContainersReady, "status": corev1.ConditionTrue, "lastTransitionTime": since},
		},
		"phase": corev1.PodRunning, "startTime": since, "podIP": pod.Status.PodIP,
	}
	var containers []corev1.ContainerStatus
	for _, c := range pod.Spec.Containers {
		containers = append(containers, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		})
	}
	status["containerStatuses"] = containers
	if pod.Status.PodIP == "" {
		status["podIP"] = k.address()
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": uid}, "status": status})
	if err != nil {
		return err
	}
	_, err = k.client.CoreV1().Pods(key.Namespace).Patch(ctx, key.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// address is the next one of 10.0.0.0/8 for a pod.
func (k *kubelets) address() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.given++
	return fmt.Sprintf("10.%d.%d.%d", k.given/62500%250, k.given/250%250, k.given%250+1)
}

// lease keeps a node's lease alive, or no longer, and reports whether that is news.
func (k *kubelets) lease(n *corev1.Node, is bool) (changed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	end := k.leases[n.UID]
	if (end != nil) == is || is && k.ctx.Err() != nil {
		return false
	}
	if !is {
		end()
		delete(k.leases, n.UID)
		return true
	}
	ctx, end := context.WithCancel(k.ctx)
	k.leases[n.UID] = end
	k.work.Go(func() {
		for pause := time.Duration(0); elapsed(ctx, pause); {
			pause = k.o.nodeGrace() / 4
			if k.renew(ctx, n) != nil {
				pause = min(pause, retryAfter)
			}
		}
	})
	return true
}

// renew writes the lease of a node, and creates it where there is none.
func (k *kubelets) renew(ctx context.Context, n *corev1.Node) error {
	client := k.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now := metav1.NowMicro()
	lease, err := client.Get(ctx, n.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		seconds := max(1, int32(k.o.nodeGrace().Seconds()))
		_, err = client.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Name: n.Name, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}},
			},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &n.Name, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec.RenewTime = &now
	_, err = client.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}
