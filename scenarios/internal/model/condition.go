package model

import "strings"

// Condition is one entry of a node's or a pod's conditions, without its times: those belong to the writer.
type Condition struct {
	Type    string
	Status  string
	Reason  string
	Message string
}

// What a kubelet says of a condition.
const (
	True  = "True"
	False = "False"
)

// The types of the four conditions that a kubelet owns.
const (
	MemoryPressure = "MemoryPressure"
	DiskPressure   = "DiskPressure"
	PIDPressure    = "PIDPressure"
	Ready          = "Ready"
)

// The kubelet's own texts, here and below: k8s.io/kubernetes/pkg/kubelet/nodestatus/setters.go.

// Pressure is the condition of one kind of pressure; a type that is none of the three is returned without a reason.
func Pressure(kind string, under bool) Condition {
	status := False
	if under {
		status = True
	}
	reason, message := "", ""
	switch {
	case kind == MemoryPressure && under:
		reason, message = "KubeletHasInsufficientMemory", "kubelet has insufficient memory available"
	case kind == MemoryPressure:
		reason, message = "KubeletHasSufficientMemory", "kubelet has sufficient memory available"
	case kind == DiskPressure && under:
		reason, message = "KubeletHasDiskPressure", "kubelet has disk pressure"
	case kind == DiskPressure:
		reason, message = "KubeletHasNoDiskPressure", "kubelet has no disk pressure"
	case kind == PIDPressure && under:
		reason, message = "KubeletHasInsufficientPID", "kubelet has insufficient PID available"
	case kind == PIDPressure:
		reason, message = "KubeletHasSufficientPID", "kubelet has sufficient PID available"
	}
	return Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// PressureEvent is the reason of the event that the kubelet reports when that pressure begins or ends; its message is
// "Node NAME status is now: REASON".
func PressureEvent(kind string, under bool) string {
	switch {
	case kind == MemoryPressure && under:
		return "NodeHasInsufficientMemory"
	case kind == MemoryPressure:
		return "NodeHasSufficientMemory"
	case kind == DiskPressure && under:
		return "NodeHasDiskPressure"
	case kind == DiskPressure:
		return "NodeHasNoDiskPressure"
	case kind == PIDPressure && under:
		return "NodeHasInsufficientPID"
	case kind == PIDPressure:
		return "NodeHasSufficientPID"
	}
	return ""
}

// Trouble is why a kubelet is not ready: none, one or several of the reasons below. The kubelet names them in the order
// in which they are declared.
type Trouble uint8

// The reasons of a kubelet for not being ready: k8s.io/kubernetes/pkg/kubelet/runtime.go, kubelet.go,
// pkg/volume/csi/csi_plugin.go and pkg/kubelet/nodeshutdown.
const (
	// RuntimeUnchecked: the kubelet has just started.
	RuntimeUnchecked Trouble = 1 << iota
	// PLEGUnhealthy: the kubelet has not listed its containers for three minutes.
	PLEGUnhealthy
	// NetworkPluginNotReady: no network plugin has been configured yet.
	NetworkPluginNotReady
	// CSINodeUninitialized: the node's CSINode object doesn't stand yet.
	CSINodeUninitialized
	// ShuttingDown: a graceful node shutdown is under way.
	ShuttingDown
	// DiskUnknown: the kubelet doesn't know its file system's size yet.
	DiskUnknown
)

var troubleTexts = [...]string{
	"container runtime status check may not have completed yet",
	"PLEG is not healthy: pleg was last seen active 3m1.518s ago; threshold is 3m0s",
	"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized",
	"CSINode is not yet initialized",
	"node is shutting down",
	"missing node capacity for resources: ephemeral-storage",
}

// JustRegistered lists the reasons of the kubelet's first status; StillJoining the ones that remain some seconds
// later.
const (
	JustRegistered = RuntimeUnchecked | NetworkPluginNotReady | CSINodeUninitialized | DiskUnknown
	StillJoining   = NetworkPluginNotReady
)

// ReadyCondition is Ready as the kubelet writes it: True without trouble, else False with what is wrong, one reason bare
// and several in brackets (Aggregate of k8s.io/apimachinery/pkg/util/errors).
func ReadyCondition(why Trouble) Condition {
	if why&(1<<len(troubleTexts)-1) == 0 {
		return Condition{Type: Ready, Status: True, Reason: "KubeletReady", Message: "kubelet is posting ready status"}
	}
	var parts []string
	for i, text := range troubleTexts {
		if why&(1<<i) != 0 {
			parts = append(parts, text)
		}
	}
	message := parts[0]
	if len(parts) > 1 {
		message = "[" + strings.Join(parts, ", ") + "]"
	}
	return Condition{Type: Ready, Status: False, Reason: "KubeletNotReady", Message: message}
}

// ReadyConditionOn is ReadyCondition of a node with that image: until 1.30 a kubelet on a system with AppArmor said so.
func ReadyConditionOn(v Version, os OS, why Trouble) Condition {
	out := ReadyCondition(why)
	if out.Status == True && v.AppArmorMessage() && (os == Ubuntu || os == COS) {
		out.Message += ". AppArmor enabled"
	}
	return out
}

// KwokConditions are those that kwok writes to a node that it manages, all at once and in its order
// (sigs.k8s.io/kwok/pkg/utils/gotpl/funcs.go).
func KwokConditions() [5]Condition {
	return [5]Condition{
		ReadyCondition(0), Pressure(MemoryPressure, false), Pressure(DiskPressure, false), Pressure(PIDPressure, false),
		{Type: "NetworkUnavailable", Status: False, Reason: "RouteCreated", Message: "RouteController created a route"},
	}
}
