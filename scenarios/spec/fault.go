package spec

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A Fault is something that goes wrong, or is done to the cluster. It has one
// trigger, of At, When and After, and one action, of the pointers below them.
type Fault struct {
	// Name by which another fault's after refers to this one; may be absent.
	Name string `yaml:"name" form:"label"`

	// If is whether it happens at all, for a parameter that turns it off; absent: it does.
	If *bool `yaml:"if"`
	// At is the time on the tape when it happens.
	At *time.Duration `yaml:"at" max:"240h"`
	// When is the state of the cluster at which it happens.
	When *When `yaml:"when"`
	// After is the fault that it follows.
	After *After `yaml:"after"`

	// SpotInterruption takes spot instances back, with a notice two minutes before.
	SpotInterruption *SpotInterruption `yaml:"spotInterruption"`
	// Vanish ends instances without a word.
	Vanish *Vanish `yaml:"vanish"`
	// CapacityShortage leaves the cloud without instances to launch.
	CapacityShortage *CapacityShortage `yaml:"capacityShortage"`
	// ImagePull makes pulls of an image fail.
	ImagePull *ImagePull `yaml:"imagePull"`
	// Crash makes containers exit by themselves.
	Crash *Crash `yaml:"crash"`
	// NeverReady keeps nodes that are launched from then on from getting Ready.
	NeverReady *NeverReady `yaml:"neverReady"`
	// KubeletDown stops kubelets: leases are no longer renewed, and nodes become Unknown.
	KubeletDown *Down `yaml:"kubeletDown"`
	// RuntimeDown stops container runtimes: kubelets say that their nodes aren't Ready (PLEG is not healthy).
	RuntimeDown *Down `yaml:"runtimeDown"`
	// ZoneOutage cuts a zone off.
	ZoneOutage *ZoneOutage `yaml:"zoneOutage"`
	// Reboot restarts machines: the same node with a new bootID.
	Reboot *Victims `yaml:"reboot"`
	// Shutdown shuts machines down in order: a graceful node shutdown where the kubelet has that turned on.
	Shutdown *Victims `yaml:"shutdown"`
	// MemoryLeak makes a workload's pods use more and more memory.
	MemoryLeak *MemoryLeak `yaml:"memoryLeak"`
	// VolumeStuck makes volumes stay attached to the nodes that their pods have left.
	VolumeStuck *VolumeStuck `yaml:"volumeStuck"`
	// IPExhaustion leaves a group's subnets with few addresses for pods.
	IPExhaustion *IPExhaustion `yaml:"ipExhaustion"`
	// CreateWorkload creates a workload, which isn't there before.
	CreateWorkload *CreateWorkload `yaml:"createWorkload"`
	// Scale changes how many replicas a workload wants.
	Scale *Scale `yaml:"scale"`
	// Cordon makes nodes unschedulable, as kubectl cordon does.
	Cordon *Victims `yaml:"cordon"`
	// Uncordon makes nodes schedulable again, as kubectl uncordon does.
	Uncordon *Victims `yaml:"uncordon"`
	// Delete deletes Node objects, as kubectl delete node does; the instances run on.
	Delete *Victims `yaml:"delete"`
	// Mark writes a MARK onto the tape.
	Mark *Mark `yaml:"mark"`
}

// Action is the key of the fault's action: "spotInterruption".
func (f *Fault) Action() string {
	if keys := f.actions(); len(keys) > 0 {
		return keys[0]
	}
	return ""
}

// actions are the keys of all the actions that the fault has.
func (f *Fault) actions() []string {
	var keys []string
	for _, a := range []struct {
		key string
		has bool
	}{
		{"spotInterruption", f.SpotInterruption != nil},
		{"vanish", f.Vanish != nil},
		{"capacityShortage", f.CapacityShortage != nil},
		{"imagePull", f.ImagePull != nil},
		{"crash", f.Crash != nil},
		{"neverReady", f.NeverReady != nil},
		{"kubeletDown", f.KubeletDown != nil},
		{"runtimeDown", f.RuntimeDown != nil},
		{"zoneOutage", f.ZoneOutage != nil},
		{"reboot", f.Reboot != nil},
		{"shutdown", f.Shutdown != nil},
		{"memoryLeak", f.MemoryLeak != nil},
		{"volumeStuck", f.VolumeStuck != nil},
		{"ipExhaustion", f.IPExhaustion != nil},
		{"createWorkload", f.CreateWorkload != nil},
		{"scale", f.Scale != nil},
		{"cordon", f.Cordon != nil},
		{"uncordon", f.Uncordon != nil},
		{"delete", f.Delete != nil},
		{"mark", f.Mark != nil},
	} {
		if a.has {
			keys = append(keys, a.key)
		}
	}
	return keys
}

// A When is a state of the cluster: at least count nodes, or pods, are in some
// state. It has either nodes or pods.
type When struct {
	// Nodes is the state that nodes are in; terminated counts all that were there.
	Nodes NodeState `yaml:"nodes"`
	// Pods is the state that pods are in; evicted counts all that were.
	Pods PodState `yaml:"pods"`
	// Count is the least number.
	Count int `yaml:"count" default:"1" min:"1" max:"3500000"`
	// Group whose nodes count; absent: all. Of pods, those on the group's nodes.
	Group string `yaml:"group" form:"label"`
	// Workload whose pods count; absent: all.
	Workload string `yaml:"workload" form:"workload"`
	// Delay between that state and the fault.
	Delay time.Duration `yaml:"delay" default:"0s" max:"240h"`
}

// A NodeState is a state of a node in a roll, by the feed's words.
type NodeState string

// The states of nodes.
const (
	NodeJoining    NodeState = "joining"
	NodeOnline     NodeState = "online"
	NodeDraining   NodeState = "draining"
	NodeNotReady   NodeState = "notready"
	NodeTerminated NodeState = "terminated"
)

func (NodeState) values() []string {
	return []string{"joining", "online", "draining", "notready", "terminated"}
}

// A PodState is a state of a pod.
type PodState string

// The states of pods.
const (
	PodPending PodState = "pending" // has no node
	PodEvicted PodState = "evicted" // has left a draining node
)

func (PodState) values() []string { return []string{"pending", "evicted"} }

// An After is another fault, and the time since it has happened.
type After struct {
	// Fault is the name of the other one.
	Fault string `yaml:"fault" need:"true" form:"label"`
	// Delay since the other one has happened.
	Delay time.Duration `yaml:"delay" default:"0s" max:"240h"`
}

// Victims are the nodes that a fault hits. Which ones is drawn; where there
// are fewer than that, all of them.
type Victims struct {
	// Node is the name of the one node; absent: those below.
	Node string `yaml:"node" form:"node"`
	// Group of the nodes; absent: any.
	Group string `yaml:"group" form:"label"`
	// Nodes is the number of nodes.
	Nodes int `yaml:"nodes" default:"1" min:"1" max:"100000"`
	// Which nodes to choose from: those with the group's old image, those with its new one, or any.
	Which Which `yaml:"which" default:"any"`
}

// Which nodes of a group, by their image.
type Which string

// The choices.
const (
	WhichAny Which = "any"
	WhichOld Which = "old"
	WhichNew Which = "new"
)

func (Which) values() []string { return []string{"any", "old", "new"} }

// A SpotInterruption takes spot instances back. The group has to be of the
// capacity type SPOT.
type SpotInterruption struct {
	Victims `yaml:",inline"`
	// RebalanceLead is the time from the rebalance recommendation to the interruption notice; 0 is none.
	RebalanceLead time.Duration `yaml:"rebalanceLead" default:"0s" max:"240h"`
}

// A Vanish ends instances without a word.
type Vanish struct {
	Victims `yaml:",inline"`
	// Terminated says whether the cloud reports the instances as terminated, or as running still.
	Terminated bool `yaml:"terminated" default:"true"`
}

// A CapacityShortage leaves the cloud without instances.
type CapacityShortage struct {
	// Zone without instances; absent: all.
	Zone string `yaml:"zone" form:"place"`
	// Group that gets none; absent: all.
	Group string `yaml:"group" form:"label"`
	// For is its duration; 0 is until the tape ends.
	For time.Duration `yaml:"for" default:"0s" max:"240h"`
}

// An ImagePull makes pulls fail. It has one of Image and Workload.
type ImagePull struct {
	// Image that can't be pulled.
	Image string `yaml:"image" form:"image"`
	// Workload of whose first container the image can't be pulled.
	Workload string `yaml:"workload" form:"workload"`
	// On is where pulls fail: on nodes that are launched from then on, or on all.
	On PullOn `yaml:"on" default:"all"`
	// Reason is the end of the container runtime's message.
	Reason string `yaml:"reason" default:"not found" form:"line"`
	// For is its duration; 0 is until the tape ends.
	For time.Duration `yaml:"for" default:"0s" max:"240h"`
}

// PullOn is where pulls fail.
type PullOn string

// The places.
const (
	PullOnNew PullOn = "new"
	PullOnAll PullOn = "all"
)

func (PullOn) values() []string { return []string{"new", "all"} }

// A Crash makes containers exit by themselves. It has one of Workload and Image.
type Crash struct {
	// Workload whose pods crash, once each; they are started again.
	Workload string `yaml:"workload" form:"workload"`
	// Container of the workload's pods that crashes; absent: the first.
	Container string `yaml:"container" form:"label"`
	// Pods is the number of the workload's pods.
	Pods int `yaml:"pods" default:"1" min:"1" max:"3500000"`
	// Image of which every container crashes that starts from then on, again and again.
	Image string `yaml:"image" form:"image"`
	// For is the duration of that state; 0 is until the tape ends.
	For time.Duration `yaml:"for" default:"0s" max:"240h"`
}

// A NeverReady keeps nodes from getting Ready.
type NeverReady struct {
	// Group of the nodes; absent: any.
	Group string `yaml:"group" form:"label"`
	// Cause of it: cni (registers, stays NotReady), userdata (never registers), kubelet (registers, then falls silent).
	Cause NeverReadyCause `yaml:"cause" default:"cni"`
	// Nodes is the number of affected nodes among those that are launched from then on; the default is all.
	Nodes int `yaml:"nodes" default:"100000" min:"1" max:"100000"`
}

// A NeverReadyCause is why a node never gets Ready.
type NeverReadyCause string

// The causes.
const (
	CauseCNI      NeverReadyCause = "cni"
	CauseUserdata NeverReadyCause = "userdata"
	CauseKubelet  NeverReadyCause = "kubelet"
)

func (NeverReadyCause) values() []string { return []string{"cni", "userdata", "kubelet"} }

// A Down stops a component of some nodes (the kubelet, or the container
// runtime), once or repeatedly on the same nodes.
type Down struct {
	Victims `yaml:",inline"`
	// For is the duration of each outage; 0 is until the tape ends.
	For time.Duration `yaml:"for" default:"0s" max:"240h"`
	// Times is the number of outages.
	Times int `yaml:"times" default:"1" min:"1" max:"1000"`
	// Every is the time from one start to the next, longer than for. Default: twice that.
	Every time.Duration `yaml:"every" max:"240h"`
}

// A ZoneOutage cuts a zone off: its nodes fall silent, and no new ones start.
type ZoneOutage struct {
	// Zone that is cut off.
	Zone string `yaml:"zone" need:"true" form:"place"`
	// For is its duration; 0 is until the tape ends.
	For time.Duration `yaml:"for" default:"0s" max:"240h"`
	// Terminated says whether the cloud reports the zone's instances as terminated, or as running still.
	Terminated bool `yaml:"terminated" default:"false"`
}

// A MemoryLeak makes pods use more and more memory, until their node is under pressure.
type MemoryLeak struct {
	// Workload that leaks.
	Workload string `yaml:"workload" need:"true" form:"workload"`
	// PerMinute is the growth of each pod's memory, in bytes per minute.
	PerMinute resource.Quantity `yaml:"perMinute" default:"64Mi" min:"1" max:"1Ti"`
}

// A VolumeStuck makes volumes stay attached where they no longer belong.
type VolumeStuck struct {
	// Workload whose volumes stay; absent: all volumes.
	Workload string `yaml:"workload" form:"workload"`
	// For is the time by which they stay longer than usual.
	For time.Duration `yaml:"for" default:"6m" min:"1s" max:"240h"`
}

// An IPExhaustion leaves a group's subnets with few addresses.
type IPExhaustion struct {
	// Group whose subnets they are.
	Group string `yaml:"group" need:"true" form:"label"`
	// Free is the number of addresses left for pods.
	Free int `yaml:"free" default:"0" max:"1000000"`
}

// A CreateWorkload creates one of the file's workloads.
type CreateWorkload struct {
	// Workload that is created.
	Workload string `yaml:"workload" need:"true" form:"workload"`
}

// A Scale changes how many replicas a workload wants.
type Scale struct {
	// Workload that is scaled; a DaemonSet or a Pod can't be.
	Workload string `yaml:"workload" need:"true" form:"workload"`
	// Replicas that are wanted then.
	Replicas int `yaml:"replicas" need:"true" max:"3500000"`
}

// A Mark is a named moment of the tape.
type Mark struct {
	// Name of the moment.
	Name string `yaml:"name" need:"true" form:"line"`
}
