package noderoll

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// DefaultRemovalTaints are the taints that say a node is being removed. Only
// hard ones are among them: cluster-autoscaler's DeletionCandidateOf… is a
// PreferNoSchedule taint that comes and goes, as are kOps' scheduled-for-update
// and Cluster API's outdated-revision, which all old nodes carry at once.
//
// A pattern is a taint key, or the start of one followed by "*".
func DefaultRemovalTaints() []string { return slices.Clone(defaultRemovalTaints) }

var defaultRemovalTaints = []string{
	corev1.TaintNodeUnschedulable, // follows spec.unschedulable
	"ToBeDeletedByClusterAutoscaler*",
	"karpenter.sh/disrupted",
	"karpenter.sh/disruption",     // the same, before Karpenter 1.0
	"eks.amazonaws.com/nodegroup", // value "unschedulable", in older managed node group updates
	"aws-node-termination-handler/spot-itn",
	"aws-node-termination-handler/asg-lifecycle-termination",
	"aws-node-termination-handler/scheduled-maintenance",
	"cloud.google.com/impending-node-termination",
}

// Classify tells the phase of a node.
//
// Draining wins: the node is cordoned, or the key of one of its taints matches
// a removal pattern (nil means DefaultRemovalTaints, an empty list for
// none). Readiness doesn't matter then. Otherwise a node whose Ready condition
// is "True" is Ready; one that isn't is NotReady if it wasReady before, as the
// same UID, and Joining if not.
func Classify(n *Node, wasReady bool, removalTaints []string) Phase {
	if removalTaints == nil {
		removalTaints = defaultRemovalTaints
	}
	switch {
	case n.Unschedulable || BeingRemoved(n.TaintKeys, removalTaints):
		return PhaseDraining
	case n.Ready == string(corev1.ConditionTrue):
		return PhaseReady
	case wasReady:
		return PhaseNotReady
	}
	return PhaseJoining
}

// BeingRemoved reports whether one of a node's taints matches a removal pattern, nil standing for DefaultRemovalTaints.
func BeingRemoved(keys, patterns []string) bool {
	if patterns == nil {
		patterns = defaultRemovalTaints
	}
	for _, key := range keys {
		for _, pattern := range patterns {
			if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
				if strings.HasPrefix(key, prefix) {
					return true
				}
			} else if key == pattern {
				return true
			}
		}
	}
	return false
}

// Labels of EKS managed node groups.
const (
	// LabelNodegroup scopes nodes to a single managed node group.
	LabelNodegroup = "eks.amazonaws.com/nodegroup"
	// LabelImage is the AMI that a node was launched with: the signal for old
	// or new while an AMI is rolled out.
	LabelImage = "eks.amazonaws.com/nodegroup-image"
)
