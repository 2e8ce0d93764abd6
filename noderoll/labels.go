package noderoll

// Labels of EKS managed node groups.
const (
	// LabelNodegroup scopes nodes to a single managed node group.
	LabelNodegroup = "eks.amazonaws.com/nodegroup"
	// LabelImage is the AMI that a node was launched with: the signal for old
	// or new while an AMI is rolled out.
	LabelImage = "eks.amazonaws.com/nodegroup-image"
)
