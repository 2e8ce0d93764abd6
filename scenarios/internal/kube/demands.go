package kube

import "time"

// Demands are what clients' pods may ask for beside the other fields of a Template, and pods of scenarios don't. They
// must not be changed once a Template has them.
type Demands struct {
	// What a scheduler looks at.
	NodeAffinity           *NodeAffinity
	Affinity, AntiAffinity []PodTerm // required
	Likes, Dislikes        []PodTerm // preferred, each with its weight
	Spread                 []SpreadTerm
	Ports                  []HostPort
	More                   []Amount // of resources beside CPU and memory
	NeverPreempts          bool
	// Whole is what the pod asks of a node altogether, nil where that is what its containers add up to.
	Whole *Resources
	// Weighed is what it counts as where nodes are compared, nil where that is Whole, or a little where it asks for nothing.
	Weighed *Resources
	// Sought is what the pod itself counts as where its node is sought, nil where that is Weighed: what a pod asks for as a
	// whole counts only once it has a node.
	Sought *Resources

	// What a kubelet looks at.
	Init           []ContainerSpec
	ReadinessGates []string
	// Deadline is activeDeadlineSeconds, nil where there is none. It counts from the pod's start.
	Deadline *time.Duration
	// QOS is the quality of service class of a pod that has resources as a whole; "" where its containers say it.
	QOS string
}

// NodeAffinity is what a pod asks of its node. Of the required terms one must hold, unless there are none at all.
type NodeAffinity struct{ Required, Preferred []NodeTerm }

// NodeTerm holds where all its requirements do. One without any holds nowhere.
type NodeTerm struct {
	Labels, Fields []Requirement
	Weight         int
}

// Holds reports whether a node meets a term (isEmptyNodeSelectorTerm and match of
// k8s.io/component-helpers/scheduling/corev1/nodeaffinity).
func (t *NodeTerm) Holds(name string, labels Pairs) bool {
	for i := range t.Labels {
		if value, there := labels.Lookup(t.Labels[i].Key); !t.Labels[i].holds(value, there) {
			return false
		}
	}
	for i := range t.Fields {
		if !t.Fields[i].holds(name, t.Fields[i].Key == "metadata.name") {
			return false
		}
	}
	return len(t.Labels)+len(t.Fields) > 0
}

// Allows reports whether a node meets one of the required terms.
func (a *NodeAffinity) Allows(name string, labels Pairs) bool {
	if a == nil || a.Required == nil {
		return true
	}
	for i := range a.Required {
		if a.Required[i].Holds(name, labels) {
			return true
		}
	}
	return false
}

// PodTerm asks for pods nearby, or for none: those of some namespaces that a selector selects, on nodes with the same
// value of a label. MatchLabelKeys and MismatchLabelKeys are keys whose values are the pod's own.
type PodTerm struct {
	Selector                          *Selector
	Namespaces                        []string
	NamespaceSelector                 *Selector
	TopologyKey                       string
	MatchLabelKeys, MismatchLabelKeys []string
	Weight                            int
}

// SpreadTerm is a topologySpreadConstraint with all that it may say.
type SpreadTerm struct {
	MaxSkew, MinDomains int
	TopologyKey         string
	Hard                bool // DoNotSchedule
	Selector            *Selector
	MatchLabelKeys      []string
	// IgnoresAffinity and HonorsTaints are the policies that aren't the default.
	IgnoresAffinity, HonorsTaints bool
}

// HostPort is a port that a pod takes of its node. IP is 0.0.0.0 for all addresses.
type HostPort struct {
	IP, Protocol string
	Port         int32
}

// Amount is so much of a resource, rounded up to whole units.
type Amount struct {
	Resource string
	Value    int64
}

// Init are the pod's init containers.
func (t *Template) Init() []ContainerSpec {
	if t.Demands == nil {
		return nil
	}
	return t.Demands.Init
}
