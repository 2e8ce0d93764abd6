package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// reconcileSpec writes the desired taints and the providerID where the live node lacks them, and returns the node as it is
// then. The list of taints is written whole, since it has no merge key, and at the version at which it was read.
func (n *NodeController) reconcileSpec(ctx context.Context, desired, live *corev1.Node) (*corev1.Node, error) {
	applied, err := appliedTaints(live)
	if err != nil {
		return nil, err
	}
	wanted := ownTaints(desired.Spec.Taints)
	merged, changed := MergeTaints(live.Spec.Taints, wanted, applied)
	spec := map[string]any{}
	if changed {
		spec["taints"] = merged
	}
	if live.Spec.ProviderID == "" && desired.Spec.ProviderID != "" {
		spec["providerID"] = desired.Spec.ProviderID
	}
	if len(spec) == 0 && slices.Equal(wanted, applied) {
		return live, nil
	}
	memory, err := json.Marshal(wanted)
	if err != nil {
		return nil, fmt.Errorf("encode the taints of node %s: %w", n.name, err)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"resourceVersion": live.ResourceVersion,
			"annotations":     map[string]string{annotationTaints: string(memory)},
		},
		"spec": spec,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the spec of node %s: %w", n.name, err)
	}
	return n.patch(ctx, types.MergePatchType, patch)
}

// ownTaints are those of the wished ones that a provider has a say in: not the one of a cordon, which follows
// spec.unschedulable.
func ownTaints(desired []corev1.Taint) []corev1.Taint {
	own := make([]corev1.Taint, 0, len(desired))
	for _, taint := range desired {
		if taint.Key != corev1.TaintNodeUnschedulable {
			own = append(own, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
		}
	}
	return own
}

// appliedTaints are those that the live node remembers.
func appliedTaints(live *corev1.Node) ([]corev1.Taint, error) {
	text, ok := live.Annotations[annotationTaints]
	if !ok {
		return nil, nil
	}
	var taints []corev1.Taint
	if err := json.Unmarshal([]byte(text), &taints); err != nil {
		return nil, fmt.Errorf("node %s: annotation %s: %w: want JSON as its controller wrote it: remove the annotation",
			live.Name, annotationTaints, err)
	}
	return ownTaints(taints), nil
}

// rememberTaints has a node that is about to be created remember its taints. Its annotations must be its own.
func rememberTaints(node *corev1.Node) error {
	text, err := json.Marshal(ownTaints(node.Spec.Taints))
	if err != nil {
		return fmt.Errorf("encode the taints of node %s: %w", node.Name, err)
	}
	node.Annotations[annotationTaints] = string(text)
	return nil
}
