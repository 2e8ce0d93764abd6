package spec

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A Workload is a set of like pods and the controller that keeps them.
type Workload struct {
	// Name of the workload, a DNS-1123 label; no two workloads of a namespace have the same. Where other keys name a
	// workload, they say shop/web if several namespaces have a web.
	Name string `yaml:"name" need:"true" form:"label"`
	// Namespace of the workload.
	Namespace string `yaml:"namespace" default:"default" form:"label"`
	// Kind of the controller. Pod has none: nothing replaces a pod that goes; a live run has a Job in its place.
	Kind WorkloadKind `yaml:"kind" default:"Deployment"`
	// Replicas that are wanted; a DaemonSet has none, it runs on every node.
	Replicas int `yaml:"replicas" default:"1" max:"3500000"`
	// ReplicasPerWorkload bounds the replicas of one workload; for more there are further workloads like it, NAME-1,
	// NAME-2 and so on, each with budgets of its own, which no fault may name. 0 is without limit.
	ReplicasPerWorkload int `yaml:"replicasPerWorkload" default:"0" max:"3500000"`
	// PodLabels are the labels of each pod. Default: app, with the workload's name.
	PodLabels map[string]string `yaml:"podLabels" form:"labels"`
	// PodSpec is what the pods ask for in Kubernetes' own words, in place of requests, resizePolicy, image, containers, grace, spread,
	// spreadHard, priority, group and tolerations: the fields of a PodSpec by which pods find nodes, and end.
	PodSpec *PodSpec `yaml:"podSpec"`
	// Pods are those that are there when the tape begins, and where they run; the scheduler places what is missing of the replicas.
	// Absent: it places all.
	Pods []PlacedPod `yaml:"pods"`
	// Requests of each pod's first container.
	Requests Requests `yaml:"requests"`
	// ResizePolicy of the pods' first container; absent it has none, and a resize leaves it running.
	ResizePolicy *ResizePolicy `yaml:"resizePolicy"`
	// Image of the pods' first container. Default: registry.example/NAME:1.0.0.
	Image string `yaml:"image" form:"image"`
	// ImageSize is the size of the image's pull on a node without it, in bytes.
	ImageSize resource.Quantity `yaml:"imageSize" default:"60Mi" max:"100Gi"`
	// Containers that each pod has besides its first one, which has the workload's name.
	Containers []Container `yaml:"containers"`
	// Grace is terminationGracePeriodSeconds, in whole seconds.
	Grace time.Duration `yaml:"grace" default:"30s" max:"240h"`
	// Stop is the time from SIGTERM to the container's exit; never: it exits by SIGKILL when the grace period is
	// over.
	Stop Dist `yaml:"stop" default:"{median: 2s, p95: 12s}" form:"stop"`
	// Ready is the time from the container's start until its pod is Ready.
	Ready Dist `yaml:"ready" default:"{median: 3s, p95: 8s}"`
	// Spread is the topology that the pods spread over, by topologySpreadConstraints with maxSkew 1.
	Spread Spread `yaml:"spread" default:"none"`
	// SpreadHard leaves a pod pending that can't be placed evenly (DoNotSchedule instead of ScheduleAnyway).
	SpreadHard bool `yaml:"spreadHard" default:"false"`
	// Volume is the size of a ReadWriteOnce claim that each pod has, bound to one zone; absent the pods have none.
	Volume *resource.Quantity `yaml:"volume" min:"1Mi" max:"64Ti"`
	// Finalizer that each pod has; absent the pods have none.
	Finalizer string `yaml:"finalizer" form:"finalizer"`
	// FinalizerHeld is the time from a pod's deletion to the removal of its finalizer; 0 is never.
	FinalizerHeld time.Duration `yaml:"finalizerHeld" default:"0s" max:"240h"`
	// DoNotDisrupt gives each pod the annotation karpenter.sh/do-not-disrupt.
	DoNotDisrupt bool `yaml:"doNotDisrupt" default:"false"`
	// Priority is the PriorityClass of the pods.
	Priority Priority `yaml:"priority" default:"none"`
	// Group whose nodes alone run the pods (a nodeSelector); absent any node does.
	Group string `yaml:"group" form:"label"`
	// Tolerations of the pods, besides those that Kubernetes adds.
	Tolerations []Toleration `yaml:"tolerations"`
	// CreateAt is when the workload is created; 0s is before the tape begins, its pods run then.
	CreateAt time.Duration `yaml:"createAt" default:"0s" max:"240h"`
}

// Requests are the resources that a pod requests.
type Requests struct {
	// CPU in cores, 100m is a tenth of one.
	CPU resource.Quantity `yaml:"cpu" default:"100m" max:"1k"`
	// Memory in bytes.
	Memory resource.Quantity `yaml:"memory" default:"128Mi" max:"64Ti"`
}

// A ResizePolicy says what a resize of a resource does to the container that
// has it.
type ResizePolicy struct {
	// CPU is the effect of a change of the CPU.
	CPU Resizing `yaml:"cpu" default:"NotRequired"`
	// Memory is the effect of a change of the memory.
	Memory Resizing `yaml:"memory" default:"NotRequired"`
}

// A Resizing is the effect of a resize on a container.
type Resizing string

// What it does.
const (
	ResizingNotRequired Resizing = "NotRequired"      // the container runs on
	ResizingRestart     Resizing = "RestartContainer" // it is started again
)

func (Resizing) values() []string { return []string{"NotRequired", "RestartContainer"} }

// A Toleration lets a pod onto nodes with a taint.
type Toleration struct {
	// Key of the taint; absent with the operator Exists: every taint.
	Key string `yaml:"key" form:"key"`
	// Operator compares the taint's value, or takes any.
	Operator Operator `yaml:"operator" default:"Equal"`
	// Value of the taint, for the operator Equal.
	Value string `yaml:"value" form:"value"`
	// Effect of the taint; absent: every effect.
	Effect Effect `yaml:"effect"`
	// For is the time for which a NoExecute taint is tolerated (tolerationSeconds); absent: forever.
	For *time.Duration `yaml:"for" max:"240h"`
}

// An Operator of a toleration.
type Operator string

// The operators.
const (
	OperatorEqual  Operator = "Equal"
	OperatorExists Operator = "Exists"
)

func (Operator) values() []string { return []string{"Equal", "Exists"} }

// A WorkloadKind is the kind of controller that keeps the pods.
type WorkloadKind string

// The kinds of workloads.
const (
	KindDeployment  WorkloadKind = "Deployment"
	KindReplicaSet  WorkloadKind = "ReplicaSet"
	KindStatefulSet WorkloadKind = "StatefulSet"
	KindDaemonSet   WorkloadKind = "DaemonSet"
	KindJob         WorkloadKind = "Job"
	KindPod         WorkloadKind = "Pod" // without a controller
)

func (WorkloadKind) values() []string {
	return []string{"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "Pod"}
}

// A Spread is a topology that pods spread over.
type Spread string

// The spreads.
const (
	SpreadNone Spread = "none" // nothing but the scheduler's scores
	SpreadZone Spread = "zone" // topology.kubernetes.io/zone
	SpreadHost Spread = "host" // kubernetes.io/hostname
)

func (Spread) values() []string { return []string{"none", "zone", "host"} }

// A Priority is one of the two PriorityClasses that every cluster has, or none.
type Priority string

// The priorities.
const (
	PriorityNone            Priority = "none"
	PriorityClusterCritical Priority = "system-cluster-critical"
	PriorityNodeCritical    Priority = "system-node-critical"
)

func (Priority) values() []string {
	return []string{"none", "system-cluster-critical", "system-node-critical"}
}

// A Budget is a PodDisruptionBudget that covers one workload, or what a selector selects. It has one of
// MinAvailable and MaxUnavailable.
type Budget struct {
	// Name of the budget. Default: the workload's; with a selector it is needed.
	Name string `yaml:"name" form:"label"`
	// Namespace of the budget, which is the workload's, and says which one is meant of several. Default: that; with a selector, default.
	Namespace string `yaml:"namespace" form:"label"`
	// Workload whose pods the budget covers, by the label app. A budget has either workload or selector.
	Workload string `yaml:"workload" form:"workload"`
	// Selector of the pods that the budget covers, as Kubernetes has it. An empty one selects every pod of the namespace.
	Selector *Selector `yaml:"selector"`
	// MinAvailable is the number of pods that have to stay healthy: a number, or a percentage of the replicas,
	// rounded up.
	MinAvailable *IntOrPercent `yaml:"minAvailable"`
	// MaxUnavailable is the number of pods that may be unhealthy: a number, or a percentage of the replicas, rounded
	// up.
	MaxUnavailable *IntOrPercent `yaml:"maxUnavailable"`
	// UnhealthyPodEvictionPolicy says whether pods that aren't Ready may always be evicted.
	UnhealthyPodEvictionPolicy UnhealthyPolicy `yaml:"unhealthyPodEvictionPolicy" default:"IfHealthyBudget"`
}

// An UnhealthyPolicy is an unhealthyPodEvictionPolicy of policy/v1.
type UnhealthyPolicy string

// The policies.
const (
	UnhealthyIfHealthyBudget UnhealthyPolicy = "IfHealthyBudget"
	UnhealthyAlwaysAllow     UnhealthyPolicy = "AlwaysAllow"
)

func (UnhealthyPolicy) values() []string { return []string{"IfHealthyBudget", "AlwaysAllow"} }
