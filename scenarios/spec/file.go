// Package spec is the scenario file: its types, how it is read, its parameters and defaults, its checks and its JSON Schema.
//
// In: YAML of kind Scenario, values for its parameters and a seed. Out: a [File] that can be simulated, or an [*Error] with
// the line, the key's path, what was found and what is wanted.
//
//	text ──Parse──► Document ──Resolve──► File ──Split──► File whose groups and workloads fit a cluster
//
// The package must never simulate anything: package scenarios does.
//
// Its API may still change (docs/stability.md).
package spec

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// APIVersion and FileKind begin every scenario file.
const (
	APIVersion = "nodesim.dev/v1"
	FileKind   = "Scenario"
)

// Limits of a scenario. What is larger is refused before anything is made of
// it: a simulation's memory and time must not be at the mercy of a file.
const (
	MaxFile     = 64 << 20        // bytes of a scenario file
	MaxNodes    = 100_000         // of all groups before the roll
	MaxPods     = 3_500_000       // of all workloads, a DaemonSet's on every node included
	MaxDuration = 240 * time.Hour // of any duration
)

// A File is a scenario that is ready to be simulated: parameters have got
// their values, what the file leaves out has its default, and every name
// refers to something. [Document.Resolve] makes it.
//
// No field is zero to mean a default. Where zero has a meaning of its own (no
// limit, until the tape ends), the field says so.
//
// The tags hold what the decoder and the JSON Schema know of a field: yaml its
// key, default the value of a key that isn't there, need that it must be
// there, min and max its range, form what a text has to look like.
type File struct {
	// APIVersion is nodesim.dev/v1.
	APIVersion string `yaml:"apiVersion" need:"true" form:"apiVersion"`
	// Kind is Scenario.
	Kind string `yaml:"kind" need:"true" form:"kind"`
	// Metadata says what the scenario is called and what it is about.
	Metadata Metadata `yaml:"metadata" need:"true"`
	// Parameters are the values that --set may change; nothing else can be set.
	Parameters []Parameter `yaml:"parameters"`
	// Start is the wall time of the tape's "0s", in RFC 3339.
	Start time.Time `yaml:"start" default:"2026-11-20T22:00:00Z"`
	// Seed of everything that is drawn. Another seed gives another tape of the same scenario.
	Seed uint64 `yaml:"seed" default:"1"`
	// TimeLimit is where the tape ends at the latest, done or not.
	TimeLimit time.Duration `yaml:"timeLimit" default:"2h" min:"1s" max:"240h"`
	// Settle is the time for which the tape continues after the roll is done and the last fault has begun.
	Settle time.Duration `yaml:"settle" default:"30s" max:"240h"`
	// Cluster is where it happens.
	Cluster Cluster `yaml:"cluster" need:"true"`
	// Groups are the node groups that exist when the tape begins.
	Groups []Group `yaml:"groups" need:"true"`
	// Workloads run on the nodes, apart from the DaemonSets that the provider brings.
	Workloads []Workload `yaml:"workloads"`
	// Budgets are the PodDisruptionBudgets.
	Budgets []Budget `yaml:"budgets"`
	// Roll is the roll of node groups; absent there is none, only faults.
	Roll *Roll `yaml:"roll"`
	// Autoscaler adds nodes for pods that find no room; absent there is none.
	Autoscaler *Autoscaler `yaml:"autoscaler"`
	// Timings override how long things take, each by its name.
	Timings Timings `yaml:"timings"`
	// Faults are failures of, or interventions in, the cluster, with their times.
	Faults []Fault `yaml:"faults"`
	// LeftOut are the parts of a cluster that somebody has read and this file can't say, one line each.
	LeftOut []string `yaml:"leftOut" form:"line"`
	// Stream lists faults for clients that watch a replay of the tape, such as close:pods,at=T+1m, as docs/faults.md
	// has them.
	Stream []string `yaml:"stream" form:"line"`

	// Settings are the values of all parameters, in the order in which the file declares them.
	Settings []Setting `yaml:"-"`
	// Measured says which of the timings were measured; nil where none was. See [File.Calibrated].
	Measured *Measured `yaml:"-"`
}

// Metadata says what a scenario is called and what it is about.
type Metadata struct {
	// Name of the scenario, a DNS-1123 label.
	Name string `yaml:"name" need:"true" form:"label"`
	// Title is one line that helps to choose, shown by simulate --list.
	Title string `yaml:"title" need:"true" form:"line"`
	// Description is the paragraph that says what happens, and why.
	Description string `yaml:"description"`
}

// A Cluster is the cluster of a scenario's nodes.
type Cluster struct {
	// Provider whose labels, taints, names and controllers the cluster has.
	Provider Provider `yaml:"provider" need:"true"`
	// Name of the cluster, a DNS-1123 label.
	Name string `yaml:"name" default:"prod" form:"label"`
	// KubernetesVersion is the minor version of the control plane, "1.27" to "1.36".
	KubernetesVersion string `yaml:"kubernetesVersion" default:"'1.34'" form:"minor"`
	// Region of the cloud. Default: eu-central-1, europe-west3 for gke, westeurope for aks.
	Region string `yaml:"region" form:"place"`
	// Zones of the region that the cluster spreads over. Default: the first three of the region.
	Zones []string `yaml:"zones" form:"place"`
	// InstanceTypes describe machines that nodesim doesn't know, and what differs in those that it knows.
	InstanceTypes []InstanceType `yaml:"instanceTypes"`
	// Kubelet runs the nodes: a kubelet with all of its events and phases, or kwok.
	Kubelet KubeletProfile `yaml:"kubelet" default:"real"`
	// Jitter scales the spread of durations around their medians, in percent of the natural one; 0 takes the medians.
	Jitter int `yaml:"jitter" default:"100" max:"1000"`
	// Events says whether Kubernetes Events are on the tape.
	Events bool `yaml:"events" default:"true"`
	// Handler reacts to a spot instance's notices. Default: karpenter for the provider karpenter, else none.
	Handler Handler `yaml:"handler"`
}

// A Provider brings a cluster's nodes.
type Provider = model.Provider

// The providers.
const (
	ProviderEKS       = model.EKS       // Amazon EKS managed node groups
	ProviderKarpenter = model.Karpenter // Amazon EKS with Karpenter
	ProviderGKE       = model.GKE       // Google Kubernetes Engine
	ProviderAKS       = model.AKS       // Azure Kubernetes Service
	ProviderCAPI      = model.CAPI      // Cluster API on AWS
	ProviderKOps      = model.KOps      // kOps on AWS
)

// A KubeletProfile says what plays the kubelet.
type KubeletProfile string

// The kubelet profiles.
const (
	KubeletReal KubeletProfile = "real"
	KubeletKwok KubeletProfile = "kwok"
)

func (KubeletProfile) values() []string { return []string{"real", "kwok"} }

// A Handler reacts to the notices that a spot instance gets.
type Handler string

// The handlers.
const (
	HandlerNone      Handler = "none"      // no handler
	HandlerNTH       Handler = "nth"       // aws-node-termination-handler, polling the instance's metadata
	HandlerMNG       Handler = "mng"       // the managed node group's capacity rebalancing
	HandlerKarpenter Handler = "karpenter" // Karpenter's interruption queue
)

func (Handler) values() []string { return []string{"none", "nth", "mng", "karpenter"} }
