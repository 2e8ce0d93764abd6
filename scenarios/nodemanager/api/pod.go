package api

// A PodPhase is a step in the life of a pod.
type PodPhase string

// The phases of a pod. Dispatching lasts from the request for a node until the pod runs on it.
const (
	PodWaiting     PodPhase = "Waiting"
	PodDispatching PodPhase = "Dispatching"
	PodRunning     PodPhase = "Running"
	PodSucceeded   PodPhase = "Succeeded"
	PodFailed      PodPhase = "Failed"
	PodTerminated  PodPhase = "Terminated"
)

// Terminal says whether a pod in this phase never runs again.
func (p PodPhase) Terminal() bool {
	return p == PodSucceeded || p == PodFailed || p == PodTerminated
}

// A SpotPolicy says on which market the machine of a pod is bought.
type SpotPolicy string

// The two markets. Any other policy matches no node that exists, and is booted on demand.
const (
	SpotAlways SpotPolicy = "Always"
	SpotNever  SpotPolicy = "Never"
)

// PodSpot is what a pod wants of the spot market.
type PodSpot struct {
	Policy SpotPolicy `json:"policy,omitempty"`
}

// PodSpec is what somebody wants of a pod. Phase is the phase that they want it in.
type PodSpec struct {
	Phase        PodPhase      `json:"phase,omitempty"`
	InstanceType string        `json:"instanceType"`
	Placement    PlacementSpec `json:"placement,omitzero"`
	Spot         PodSpot       `json:"spot,omitzero"`
	Resources    ResourceSpec  `json:"resources,omitzero"`
}

// PodStatus is where a pod stands. BoundNodeName names the node that it was dispatched to.
type PodStatus struct {
	Phase         PodPhase `json:"phase,omitempty"`
	BoundNodeName string   `json:"boundNodeName,omitempty"`
}

// A Pod needs a node of its own. It holds no pointers, so an assignment copies it whole.
type Pod struct {
	ObjectMeta `json:"metadata"`
	Spec       PodSpec   `json:"spec"`
	Status     PodStatus `json:"status,omitzero"`
}

// PodList is what a listing returns, ordered by name.
type PodList struct {
	Items []*Pod `json:"items"`
}

// DeepCopy returns a pod that shares nothing with p.
func (p *Pod) DeepCopy() *Pod {
	c := *p
	return &c
}

// Live says whether a pod may still need a node: not both what is wanted and what is are terminal.
func (p *Pod) Live() bool { return !p.Spec.Phase.Terminal() || !p.Status.Phase.Terminal() }
