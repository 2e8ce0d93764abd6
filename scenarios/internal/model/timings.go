package model

// Timings says how long everything in a cluster takes, each part as a Dist: the durations that a provider's machines,
// its kubelets, pods, control plane and roller have. DefaultTimings fills them in; a scenario overrides some by name.
// TimingNames says what each one means, its default and the source of that.
//
// A Timings is a value of some kilobytes: one for each simulation, and one for each group whose machines differ.
type Timings struct {
	// The cloud: machines come and go.
	CapacityRequest  Dist // a group wants one machine more until the cloud launches it
	CapacityRetry    Dist // a refused launch (no capacity) until the group asks again
	Boot             Dist // the launch of a machine until its kubelet starts
	Terminate        Dist // a termination is asked for until the cloud says terminated, without what a graceful shutdown takes
	TerminateSilence Dist // a termination is asked for until the kubelet is stopped, without a graceful shutdown
	InterruptionLead Dist // the notice of a spot interruption until the machine is taken
	Reboot           Dist // a reboot in place until the kubelet starts again
	VolumeAttach     Dist // the attachment of a volume that is free
	VolumeDetach     Dist // the detachment of a volume that its node has unmounted

	// A node: its kubelet and what starts on it.
	Register                Dist // the start of the kubelet until its Node exists
	CloudInitialize         Dist // the Node exists until the cloud node controller has removed the taint uninitialized and filled in zone and type
	KubeProxyStart          Dist // the Node exists until kube-proxy reports its start
	BecomeReady             Dist // the Node exists until it is ready, which is when the network plugin is up
	CSIRegister             Dist // the node is ready until its CSI driver has registered
	StatusSync              Dist // one look of the kubelet at its own status until the next; a changed status is posted at once
	StatusReport            Dist // one post of an unchanged status until the next
	StatusReportAfterChange Dist // a changed status until the next unchanged one is posted: five minutes and up to half of them more or less
	NodeNotSchedulable      Dist // a cordon until the kubelet's event says so: its next look at its status
	PressureSync            Dist // one look of the eviction manager at memory and disk until the next
	PressureTransition      Dist // the end of memory, disk or PID pressure until its condition ends
	ShutdownGrace           Dist // what a graceful node shutdown may take in all
	ShutdownGraceCritical   Dist // what of a graceful node shutdown is kept for critical pods, at its end

	// A pod on its node.
	Sandbox        Dist // the kubelet sees a pod until its sandbox with its network stands
	ImagePull      Dist // the pull of an image that the node doesn't have; its size comes on top, at 40 MB/s
	ImagePullFail  Dist // the pull of an image that fails
	ContainerStart Dist // the image is there until the container runs
	ContainerReady Dist // the container runs until its readiness probe succeeds, where it has one
	StatusPost     Dist // a change in a container until the pod's status shows it
	CrashRun       Dist // the run of a container that crashes
	KillDelay      Dist // a deletion until the kubelet stops the containers
	AppStop        Dist // SIGTERM until a container exits by itself; its grace ends it before
	TerminalStatus Dist // the last container exits until the pod's status says so
	FinalDelete    Dist // the last container exits until the kubelet deletes the pod
	MountTimeout   Dist // how long the kubelet waits for volumes before it reports FailedMount

	// The control plane.
	EventLag                     Dist // a change until the event that tells of it is stored
	ControllerReact              Dist // a change until the controller of a workload has answered it
	SchedulerBind                Dist // a pod that fits somewhere until it is bound
	SchedulerRetry               Dist // a pod that fits nowhere until the scheduler tries again without a cause
	MonitorPeriod                Dist // one look of the node lifecycle controller at the nodes until the next
	MonitorGrace                 Dist // the last sign of a node until it counts as unknown; 40 s before 1.32
	StartupGrace                 Dist // the creation of a node that never posted a status until it counts as unknown
	ConditionTaint               Dist // a changed condition or cordon until the node's taints follow
	EvictionTaintInterval        Dist // one node of a zone gets a NoExecute taint until the next one does
	EvictionTaintIntervalPartial Dist // the same in a zone of more than 50 nodes, most of which are not ready
	TaintToleration              Dist // how long a pod tolerates that its node is not ready or unreachable
	PodGCPeriod                  Dist // one look of the pod garbage collector until the next
	PodGCQuarantine              Dist // a missing node until its pods count as orphans
	VolumeForceDetach            Dist // a volume that its dead node never unmounted until it is detached by force
	CloudNodePeriod              Dist // one question of the cloud node lifecycle controller about nodes that aren't ready until the next

	// Who rolls and scales.
	RollerPoll          Dist // a new node is ready until the roller continues
	CordonSpacing       Dist // one cordon until the next where many nodes are cordoned at once
	EvictionRetry       Dist // a refused eviction until the next try
	ScaleDownStep       Dist // one surplus node is taken away until the next
	Reimage             Dist // the reimage of a drained machine in place until its kubelet starts
	InterruptionLatency Dist // a notice of interruption until the handler has read it
	AutoscalerScan      Dist // one look of the autoscaler at waiting pods until the next
	AutoscalerIdle      Dist // a node is no longer needed until the autoscaler takes it
	DisruptionPoll      Dist // one look of Karpenter's disruption controller until the next
	TerminationRequeue  Dist // one look at a machine that is being terminated until the next
}
