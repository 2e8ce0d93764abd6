package calibrate

// A trace is what on a tape tells of a timing.
type trace struct {
	timing string
	// from and until are where a sample begins and ends.
	from, until string
	// wants is what a tape has to have for it.
	wants string
}

// The traces, in the order of model.TimingNames. All other timings stay as they are: nothing on a tape tells of them, or they
// are settings that their source states.
var traces = []trace{
	{"boot", "a NodeClaim is Launched, or a Machine is created", "the Event of the kubelet that starts, or its Node", "NodeClaims or Machines whose nodes join"},
	{"terminate", "a NodeClaim's condition InstanceTerminating, or a Machine's reason WaitingForInfrastructureDeletion; later, the last end of a pod", "the NodeClaim is gone, or a Machine's reason DeletingNode", "NodeClaims or Machines that are terminated"},
	{"register", "the Event of the kubelet that starts", "its Node is created", "Events of nodes that join"},
	{"cloudInitialize", "the Node is created", "the taint uninitialized is gone", "nodes that join with the taint uninitialized"},
	{"kubeProxyStart", "the Node is created", "the Event of its kube-proxy", "Events of nodes that join"},
	{"becomeReady", "the Node is created", "its condition Ready is True", "nodes that join"},
	{"sandbox", "the first status of a pod without a claim, on a node that is ready", "the first Event of a container's image", "Events of pods that start"},
	{"imagePull", "the message of the Event Pulled says it, less the image's size", "", "Events of pods that pull images on nodes that are ready"},
	{"containerStart", "the Event Pulled", "the Event Started", "Events of pods that start"},
	{"containerReady", "the Event Started; on nodes of kwok, the pod's binding", "the pod's status has the container ready, later than it has it running; on nodes of kwok, at once", "Events of pods with readiness probes that start"},
	{"killDelay", "a pod's deletionTimestamp", "the first Event Killing", "Events of pods that are deleted"},
	{"appStop", "the Event Killing; on nodes of kwok, the pod's deletionTimestamp", "the pod's status has the container terminated; on nodes of kwok, the Pod is gone", "Events of pods that are deleted"},
	{"finalDelete", "the status of a deleted pod has its last container terminated", "the Pod is gone", "Events of pods that are deleted"},
	{"controllerReact", "the deletion of a pod of a ReplicaSet that lacks none", "its next pod is created", "pods of ReplicaSets that are deleted"},
	{"conditionTaint", "a cordon", "the taint unschedulable", "nodes that are cordoned"},
	{"rollerPoll", "a new node is ready, none joins and none that is ready is cordoned", "the next cordon in the group, which stays the only one until another new node is ready", "nodes that are replaced one at a time, each cordoned once a new one is ready"},
	{"evictionRetry", "an eviction that was refused", "the next one of the pod", "refused evictions, which tapes made of audit logs have"},
}
