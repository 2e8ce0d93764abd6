package testcluster

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// SilenceKubelet has a node's kubelet fall silent: it stops to renew its lease and to report its status, and leaves
// its pods alone. After Options.NodeGrace the node lifecycle controller marks the node Unknown and taints it.
func SilenceKubelet(ctx context.Context, client kubernetes.Interface, node string) error {
	return label(ctx, client, node, "null")
}

// WakeKubelet undoes SilenceKubelet: the node becomes ready again after Options.NodeStart.
func WakeKubelet(ctx context.Context, client kubernetes.Interface, node string) error {
	return label(ctx, client, node, strconv.Quote(kubeletAlive))
}

func label(ctx context.Context, client kubernetes.Interface, node, value string) error {
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, KubeletLabel, value)
	_, err := client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("set the label %s of %s to %s: %w", KubeletLabel, node, value, err)
	}
	return nil
}

// UntilUnknown waits until the control plane has noticed that a node is silent: Ready is Unknown and the taint is there
// with both effects, of which either may come first.
func UntilUnknown(ctx context.Context, client kubernetes.Interface, name string) error {
	return poll(ctx, 200*time.Millisecond, name+" to be Unknown", func(ctx context.Context) (bool, error) {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil || ready(node) != corev1.ConditionUnknown || len(node.Status.Conditions) == 0 {
			return false, err
		}
		effects := 0
		for _, taint := range node.Spec.Taints {
			if taint.Key == corev1.TaintNodeUnreachable {
				effects++
			}
		}
		return effects == 2, nil
	})
}

// Vanish plays the end of a spot node without notice: its kubelet falls silent, the control plane notices, and the
// node is deleted. Its pods remain until the pod garbage collector finds them, up to a minute later; UntilNoPods
// waits for that.
func Vanish(ctx context.Context, client kubernetes.Interface, node string) error {
	if err := SilenceKubelet(ctx, client, node); err != nil {
		return err
	}
	if err := UntilUnknown(ctx, client, node); err != nil {
		return err
	}
	if err := client.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("vanish: %w", err)
	}
	return nil
}

// UntilNoPods waits until no pod is bound to a node of that name.
func UntilNoPods(ctx context.Context, client kubernetes.Interface, node string) error {
	return poll(ctx, time.Second, "the pods of "+node+" to be gone", func(ctx context.Context) (bool, error) {
		pods, err := podsOn(ctx, client, node)
		return len(pods) == 0, err
	})
}
