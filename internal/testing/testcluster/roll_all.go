package testcluster

import (
	"context"

	"k8s.io/client-go/kubernetes"
)

// rollAll takes the steps of a managed node group's default strategy (Amazon EKS User Guide, "Update a managed node
// group": scale up, upgrade, scale down). The group grows by Surge new nodes; when all have joined, every old node is
// cordoned in one pass and labelled node.kubernetes.io/exclude-from-external-load-balancers=true; then one old node
// after the other is drained, waits for AfterDrain, and is terminated. The Auto Scaling group's desired size is still
// the greater one, so that a new node takes the place of each that is terminated: a roll of n nodes starts n+Surge.
// When no old node is left, the nodes that are too many, the last to join first, are cordoned and labelled, drained and
// deleted, one at a time.
//
// It differs from the real thing in that each step waits for the one before: a replacement is ready before the next
// drain begins, and is known to the node lifecycle controller before it goes, since real nodes live for minutes.
func (r Roll) rollAll(ctx context.Context, client kubernetes.Interface, old []string, report *RollReport) error {
	surge := max(1, r.Surge)
	for range surge {
		if err := r.join(ctx, client, report); err != nil {
			return err
		}
	}
	for _, node := range old {
		if err := cordonAndExclude(ctx, client, node); err != nil {
			return err
		}
	}
	if err := r.step(ctx, "cordoned all old nodes"); err != nil {
		return err
	}
	for _, node := range old {
		if err := r.remove(ctx, client, node, report); err != nil {
			return err
		}
		if err := r.join(ctx, client, report); err != nil {
			return err
		}
	}
	for i := range surge {
		surplus := report.Joined[len(report.Joined)-1-i]
		if err := UntilRegistered(ctx, client, surplus); err != nil {
			return err
		}
		if err := cordonAndExclude(ctx, client, surplus); err != nil {
			return err
		}
		if err := r.step(ctx, "cordoned "+surplus); err != nil {
			return err
		}
		if err := r.remove(ctx, client, surplus, report); err != nil {
			return err
		}
	}
	return nil
}
