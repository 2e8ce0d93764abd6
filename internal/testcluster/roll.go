package testcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// A Roll replaces a group's nodes the way a managed node group does: surge nodes join, then each of as many old nodes
// is cordoned, drained through the eviction API, which budgets may refuse, and deleted; and so on until no old node
// is left.
type Roll struct {
	Group      Group
	Image      string        // of the new nodes; ami-0f9e
	Generation int           // of the new nodes' names; 2
	Surge      int           // how many nodes are replaced at a time; 1
	Retry      time.Duration // between the attempts to evict a pod that a budget protects; 250 ms
	Pause      time.Duration // between two steps, so that a recording has room to breathe; none

	// Done, where set, is called with a line for people after every step.
	Done func(step string)
}

// A RollReport is what a Roll did, in the order in which it was done.
type RollReport struct {
	Joined  []string       // names of the new nodes
	Deleted []string       // names of the old nodes
	Evicted map[string]int // pods by the node that they left
	Refused map[string]int // evictions that a budget refused with 429, by node
}

// Perform carries the roll out and returns when the last old node is deleted. The report is right up to the error.
func (r Roll) Perform(ctx context.Context, client kubernetes.Interface) (RollReport, error) {
	report := RollReport{Evicted: map[string]int{}, Refused: map[string]int{}}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: r.Group.Selector()})
	if err != nil {
		return report, fmt.Errorf("roll %s: list its nodes: %w", r.Group.name(), err)
	}
	old := list.Items
	slices.SortFunc(old, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	for batch := range slices.Chunk(old, max(1, r.Surge)) {
		if err := r.replace(ctx, client, batch, &report); err != nil {
			return report, fmt.Errorf("roll %s: %w", r.Group.name(), err)
		}
	}
	return report, nil
}

// replace joins as many nodes as there are old ones in the batch and then removes those, one after the other.
func (r Roll) replace(ctx context.Context, client kubernetes.Interface, batch []corev1.Node, report *RollReport) error {
	for range batch {
		number := len(report.Joined)
		node, err := r.Group.Join(ctx, client, cmp.Or(r.Generation, 2), number, cmp.Or(r.Image, "ami-0f9e"))
		if err != nil {
			return err
		}
		report.Joined = append(report.Joined, node.Name)
		if err := r.step(ctx, "joined "+node.Name); err != nil {
			return err
		}
	}
	for _, node := range batch {
		if err := Cordon(ctx, client, node.Name); err != nil {
			return err
		}
		if err := r.step(ctx, "cordoned "+node.Name); err != nil {
			return err
		}
		if err := r.drain(ctx, client, node.Name, report); err != nil {
			return err
		}
		if err := r.step(ctx, fmt.Sprintf("drained %s: %d pods evicted, %d evictions refused",
			node.Name, report.Evicted[node.Name], report.Refused[node.Name])); err != nil {
			return err
		}
		if err := client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("delete %s: %w", node.Name, err)
		}
		report.Deleted = append(report.Deleted, node.Name)
		if err := r.step(ctx, "deleted "+node.Name); err != nil {
			return err
		}
	}
	return nil
}

// step reports and pauses.
func (r Roll) step(ctx context.Context, line string) error {
	if r.Done != nil {
		r.Done(line)
	}
	if r.Pause <= 0 {
		return nil
	}
	pause := time.NewTimer(r.Pause)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-pause.C:
		return nil
	}
}

// drain evicts until no pod is bound to the node, as `kubectl drain` does.
func (r Roll) drain(ctx context.Context, client kubernetes.Interface, node string, report *RollReport) error {
	return poll(ctx, cmp.Or(r.Retry, 250*time.Millisecond), "the pods to leave "+node, func(ctx context.Context) (bool, error) {
		pods, err := podsOn(ctx, client, node)
		if err != nil {
			return false, err
		}
		for _, pod := range pods {
			if pod.DeletionTimestamp != nil {
				continue
			}
			switch err := evict(ctx, client, &pod); {
			case err == nil:
				report.Evicted[node]++
			case apierrors.IsTooManyRequests(err):
				report.Refused[node]++
			case !apierrors.IsNotFound(err):
				return false, fmt.Errorf("evict %s: %w", pod.Name, err)
			}
		}
		return len(pods) == 0, nil
	})
}

func evict(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	return client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
}

// Cordon marks a node unschedulable.
func Cordon(ctx context.Context, client kubernetes.Interface, node string) error {
	_, err := client.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType,
		[]byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("cordon %s: %w", node, err)
	}
	return nil
}
