package spec

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A Roll replaces every node of some groups, or changes every pod of a workload
// where it runs. What a strategy has no use for must not be set, and is zero;
// these have a default:
//
//	strategy         maxUnavailable  maxSurge  budget  evictionTimeout  joinTimeout  settleAfterDrain  soak
//	plain            0               1                 15m              15m          0s
//	eks-default      1                                 15m              15m          1m
//	eks-minimal      1                                 15m              15m          1m
//	karpenter-drift                            10%     0s
//	gke-surge        0               1                 1h               15m
//	gke-blue-green   1                                 1h               15m                            1h
//	aks-reimage      0               1                 30m              15m                            0s
//	capi             0               1                 0s               0s
//	kops             0               1                 15m              15m          5s
//	inplace-image    1                                                  5m
//	inplace-resize   1                                                  5m
type Roll struct {
	// Strategy by which the nodes are replaced; it has to be one of the cluster's provider, or plain.
	Strategy Strategy `yaml:"strategy" need:"true"`
	// Workload whose pods are changed, by a strategy in place; a ReplicaSet. Its template goes first, then the pods.
	Workload string `yaml:"workload" form:"workload"`
	// Image that the pods shall run, of inplace-image.
	Image string `yaml:"image" form:"image"`
	// Requests that the pods shall have, of inplace-resize; what isn't there stays as it is.
	Requests *Resize `yaml:"requests"`
	// Groups that are rolled, one after another in this order. Default: all; none by a strategy in place.
	Groups []string `yaml:"groups" form:"label"`
	// Parallel says whether all groups are rolled at once.
	Parallel bool `yaml:"parallel" default:"false"`
	// At is when the roll begins.
	At time.Duration `yaml:"at" default:"30s" max:"240h"`
	// MaxUnavailable bounds the nodes that are replaced at a time without waiting for their replacements: a number,
	// or a percentage of the group's nodes. For gke-blue-green, how many are drained at a time; for aks-reimage, only
	// where maxSurge is 0. In place, how many pods may be not ready at a time, or a percentage of the replicas.
	MaxUnavailable IntOrPercent `yaml:"maxUnavailable"`
	// MaxSurge bounds the nodes above the group's size at a time: a number, or a percentage of the group's nodes,
	// rounded up.
	MaxSurge IntOrPercent `yaml:"maxSurge"`
	// Force deletes the pods that are left when evictionTimeout is over, instead of failing (EKS: a forced update).
	Force bool `yaml:"force"`
	// EvictionTimeout bounds the drain of a node; 0 is forever.
	EvictionTimeout time.Duration `yaml:"evictionTimeout" max:"240h"`
	// JoinTimeout bounds the time until a new node (in place: a pod) is Ready, after which the roll fails; 0 is
	// forever.
	JoinTimeout time.Duration `yaml:"joinTimeout" max:"240h"`
	// SettleAfterDrain is the wait between the end of a node's drain and its termination.
	SettleAfterDrain time.Duration `yaml:"settleAfterDrain" max:"240h"`
	// Soak is the wait of the strategy: on aks between the drain of a node and its reimage, on gke for the whole pool in the end.
	Soak time.Duration `yaml:"soak" max:"240h"`
	// Budget bounds the nodes of a NodePool that Karpenter disrupts at a time: a number, or a percentage of its
	// nodes.
	Budget IntOrPercent `yaml:"budget"`
	// LegacyTaint taints old nodes with eks.amazonaws.com/nodegroup=unschedulable:NoSchedule, as EKS once did.
	LegacyTaint bool `yaml:"legacyTaint"`
	// OnFailure says what happens to a group, or a workload, whose roll has failed.
	OnFailure OnFailure `yaml:"onFailure" default:"leave"`
	// RollbackAt is the percentage of replaced nodes at which the roll is cancelled and rolled back; 0 is never. None in place.
	RollbackAt Percent `yaml:"rollbackAt" default:"0%" max:"100%"`
	// StopAfter is the number of nodes replaced before the roll stalls for good; 0 is all. None in place.
	StopAfter int `yaml:"stopAfter" default:"0" max:"100000"`
}

// A Strategy is a way to replace nodes.
type Strategy string

// The strategies.
const (
	StrategyPlain        Strategy = "plain"           // surge and unavailability alone, on any provider
	StrategyEKSDefault   Strategy = "eks-default"     // updateStrategy DEFAULT
	StrategyEKSMinimal   Strategy = "eks-minimal"     // updateStrategy MINIMAL
	StrategyKarpenter    Strategy = "karpenter-drift" // replaces what has drifted
	StrategyGKESurge     Strategy = "gke-surge"       // surge upgrades
	StrategyGKEBlueGreen Strategy = "gke-blue-green"  // a second pool, and back as long as it soaks
	StrategyAKSReimage   Strategy = "aks-reimage"     // surge nodes, and old ones reimaged in place
	StrategyCAPI         Strategy = "capi"            // RollingUpdate of a MachineDeployment
	StrategyKOps         Strategy = "kops"            // kops rolling-update cluster
	StrategyImage        Strategy = "inplace-image"   // the images of running pods
	StrategyResize       Strategy = "inplace-resize"  // the requests of running pods
)

func (Strategy) values() []string {
	return []string{
		"plain", "eks-default", "eks-minimal", "karpenter-drift", "gke-surge", "gke-blue-green", "aks-reimage", "capi", "kops",
		"inplace-image", "inplace-resize",
	}
}

// A Resize holds the requests that the pods of a workload shall have.
type Resize struct {
	// CPU in cores, 100m is a tenth of one.
	CPU *resource.Quantity `yaml:"cpu" min:"1m" max:"1k"`
	// Memory in bytes.
	Memory *resource.Quantity `yaml:"memory" min:"1Mi" max:"64Ti"`
}

// OnFailure says what happens to a group, or a workload, whose roll has failed.
type OnFailure string

// What happens after a failure.
const (
	OnFailureLeave    OnFailure = "leave"    // all stays as it is, half old and half new
	OnFailureRollback OnFailure = "rollback" // new nodes are replaced by old ones, changed pods are changed back
)

func (OnFailure) values() []string { return []string{"leave", "rollback"} }

// An Autoscaler adds nodes for pods that find no room, and takes idle ones away.
type Autoscaler struct {
	// Kind of the autoscaler. nodemanager gives each pod of a workload with one of the groups a node of its own: it
	// schedules these pods itself (their schedulerName is nodemanager), and terminates a node that its pod has left.
	Kind AutoscalerKind `yaml:"kind" default:"cluster-autoscaler"`
	// Groups that it scales, within their min and max. Default: all.
	Groups []string `yaml:"groups" form:"label"`
	// Standby are nodes that are kept idle for the next pods.
	Standby []Standby `yaml:"standby"`
}

// An AutoscalerKind is a program that scales groups.
type AutoscalerKind string

// The kinds of autoscalers.
const (
	AutoscalerCluster     AutoscalerKind = "cluster-autoscaler" // a node for pods that fill it
	AutoscalerNodeManager AutoscalerKind = "nodemanager"        // a node for each pod
)

func (AutoscalerKind) values() []string { return []string{"cluster-autoscaler", "nodemanager"} }

// NodeManager reports whether a group's nodes are launched for single pods.
func (a *Autoscaler) NodeManager(group string) bool {
	return a != nil && a.Kind == AutoscalerNodeManager && group != "" && slices.Contains(a.Groups, group)
}

// A Standby keeps nodes idle.
type Standby struct {
	// Group whose nodes are kept idle, one of those that are scaled.
	Group string `yaml:"group" need:"true" form:"label"`
	// Count of the idle nodes.
	Count int `yaml:"count" default:"1" min:"1" max:"100000"`
}
