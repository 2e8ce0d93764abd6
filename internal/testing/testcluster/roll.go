package testcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/retry"
)

// A Roll replaces a group's nodes: surge nodes join, then each of as many old nodes is cordoned, drained through the
// eviction API, which budgets may refuse, and deleted; and so on until no old node is left. CordonAll takes the steps
// in the order of a managed node group of EKS instead.
type Roll struct {
	Group      Group
	Image      string        // of the new nodes; ami-0f9e
	Generation int           // of the new nodes' names; 2
	Surge      int           // how many nodes are replaced at a time, or, with CordonAll, join first; 1
	Retry      time.Duration // between the attempts to evict a pod that a budget protects; 250 ms
	Pause      time.Duration // between two steps, so that a recording has room to breathe; none

	// EvictionTimeout bounds the drain of one node, from its first eviction; 0 leaves it to the context. A managed
	// node group has 15 minutes (Amazon EKS User Guide, "Update a managed node group", "Upgrade phase").
	EvictionTimeout time.Duration
	// Force deletes the pods that are still on a node at its EvictionTimeout, past every budget; without it, Run
	// then returns an error that is ErrEvictionTimeout, and leaves nodes and pods as they are.
	Force bool

	// CordonAll is the order of the default strategy of a managed node group (see rollAll).
	CordonAll bool
	// AfterDrain is the pause between a node's drain and its end, for load balancers; none.
	AfterDrain time.Duration

	// Done, where set, is called with a line for people after every step.
	Done func(step string)
}

// A RollReport holds what a Roll did, in the order in which it was done.
type RollReport struct {
	Joined  []string       // names of the new nodes
	Deleted []string       // names of the nodes that were deleted: the old ones, then those that were too many
	Evicted map[string]int // pods by the node that they left
	Refused map[string]int // evictions that a budget refused with 429, by node
	Forced  map[string]int // pods that were deleted past their budgets, by node
}

// Run runs the roll and returns when the last old node is deleted. The report is right up to the error.
func (r Roll) Run(ctx context.Context, client kubernetes.Interface) (RollReport, error) {
	report := RollReport{Evicted: map[string]int{}, Refused: map[string]int{}, Forced: map[string]int{}}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: r.Group.Selector()})
	if err != nil {
		return report, fmt.Errorf("roll %s: list its nodes: %w", r.Group.name(), err)
	}
	var old []string
	for _, node := range list.Items {
		old = append(old, node.Name)
	}
	slices.SortFunc(old, strings.Compare)
	roll := r.rollBatches
	if r.CordonAll {
		roll = r.rollAll
	}
	if err := roll(ctx, client, old, &report); err != nil {
		return report, fmt.Errorf("roll %s: %w", r.Group.name(), err)
	}
	return report, nil
}

// rollBatches joins as many nodes as there are old ones in a batch and then removes those, one after the other.
func (r Roll) rollBatches(ctx context.Context, client kubernetes.Interface, old []string, report *RollReport) error {
	for batch := range slices.Chunk(old, max(1, r.Surge)) {
		for range batch {
			if err := r.join(ctx, client, report); err != nil {
				return err
			}
		}
		for _, node := range batch {
			if err := r.cordon(ctx, client, node); err != nil {
				return err
			}
			if err := r.remove(ctx, client, node, report); err != nil {
				return err
			}
		}
	}
	return nil
}

// join adds the next new node.
func (r Roll) join(ctx context.Context, client kubernetes.Interface, report *RollReport) error {
	node, err := r.Group.Join(ctx, client, cmp.Or(r.Generation, 2), len(report.Joined), cmp.Or(r.Image, "ami-0f9e"))
	if err != nil {
		return err
	}
	report.Joined = append(report.Joined, node.Name)
	return r.step(ctx, "joined "+node.Name)
}

func (r Roll) cordon(ctx context.Context, client kubernetes.Interface, node string) error {
	if err := Cordon(ctx, client, node); err != nil {
		return err
	}
	return r.step(ctx, "cordoned "+node)
}

// remove drains a cordoned node and deletes it.
func (r Roll) remove(ctx context.Context, client kubernetes.Interface, node string, report *RollReport) error {
	if err := r.drain(ctx, client, node, report); err != nil {
		return err
	}
	if err := retry.Pause(ctx, clock.RealClock{}, r.AfterDrain); err != nil {
		return err
	}
	if err := r.step(ctx, fmt.Sprintf("drained %s: %d pods evicted, %d evictions refused, %d pods deleted by force",
		node, report.Evicted[node], report.Refused[node], report.Forced[node])); err != nil {
		return err
	}
	if err := client.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete %s: %w", node, err)
	}
	report.Deleted = append(report.Deleted, node)
	return r.step(ctx, "deleted "+node)
}

// step reports and pauses.
func (r Roll) step(ctx context.Context, line string) error {
	if r.Done != nil {
		r.Done(line)
	}
	return retry.Pause(ctx, clock.RealClock{}, r.Pause)
}

// Cordon marks a node unschedulable.
func Cordon(ctx context.Context, client kubernetes.Interface, node string) error {
	return patchNode(ctx, client, node, `{"spec":{"unschedulable":true}}`)
}

// cordonAndExclude marks a node unschedulable and takes it out of the load balancers, in one write.
func cordonAndExclude(ctx context.Context, client kubernetes.Interface, node string) error {
	return patchNode(ctx, client, node, fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}},"spec":{"unschedulable":true}}`,
		corev1.LabelNodeExcludeBalancers))
}

func patchNode(ctx context.Context, client kubernetes.Interface, node, patch string) error {
	_, err := client.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("cordon %s: %w", node, err)
	}
	return nil
}
