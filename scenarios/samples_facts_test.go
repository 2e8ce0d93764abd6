package scenarios_test

// The stories that the samples are held against, in versions as near to those of
// the samples as a scenario can have.
var sampleStories = map[string]string{
	"eks 1.30": `
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: eks, title: a node group of one t3.medium and a new node that dies}
timeLimit: 6m
cluster: {provider: eks, kubernetesVersion: "1.30", region: us-east-2, zones: [us-east-2a, us-east-2b, us-east-2c]}
groups:
- {name: workers, nodes: 1, instanceType: t3.medium, os: al2}
roll: {strategy: plain, at: 0s}
faults:
- {when: {nodes: online, count: 2, delay: 15s}, vanish: {nodes: 1, which: new, terminated: false}}
`,
	"aks 1.27": `
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: aks, title: a node pool of one}
timeLimit: 10s
settle: 5s
cluster: {provider: aks, kubernetesVersion: "1.27"}
groups:
- {name: agentpool, nodes: 1}
`,
	"pods 1.27": `
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: pods, title: pods that can't be}
timeLimit: 5m
cluster: {provider: eks, kubernetesVersion: "1.27"}
groups:
- {name: workers, nodes: 1, os: al2}
workloads:
- {name: fine, createAt: 5s, image: bash}
- {name: bad, createAt: 5s, image: noimage.com/no-such-image}
- {name: large, createAt: 5s, requests: {cpu: 100}}
faults:
- {at: 1s, imagePull: {workload: bad}}
- {at: 2m, scale: {workload: fine, replicas: 0}}
`,
}

const (
	spec   = "a tape keeps of a pod's spec what scheduling needs, and no more (timeline.DefaultRedaction)"
	gpu    = "no scenario asks for GPUs; with cpu in its place the text agrees"
	empty  = "the sample's recorders left it empty; those of today fill it in (makeEvent of client-go/tools/record/event.go)"
	older  = "the sample is older than any version that is simulated"
	docker = "the sample's container runtime is dockershim, which no simulated version has"
)

// samples are facts of published objects; none of them is kept as it is.
var samples = []sample{
	{
		name: "a node of an EKS managed node group", origin: "robusta-dev/holmesgpt: kubectl describe node, EKS, AL2, 1.30",
		story: "eks 1.30", object: []string{"kind = Node"},
		facts: `
metadata.labels.beta.kubernetes.io/arch = amd64
metadata.labels.beta.kubernetes.io/instance-type = t3.medium
metadata.labels.beta.kubernetes.io/os = linux
metadata.labels.eks.amazonaws.com/capacityType = ON_DEMAND
metadata.labels.eks.amazonaws.com/nodegroup
metadata.labels.eks.amazonaws.com/nodegroup-image
metadata.labels.failure-domain.beta.kubernetes.io/region = us-east-2
metadata.labels.failure-domain.beta.kubernetes.io/zone
metadata.labels.k8s.io/cloud-provider-aws
metadata.labels.kubernetes.io/arch = amd64
metadata.labels.kubernetes.io/hostname
metadata.labels.kubernetes.io/os = linux
metadata.labels.node.kubernetes.io/instance-type = t3.medium
metadata.labels.topology.ebs.csi.aws.com/zone
metadata.labels.topology.k8s.aws/zone-id
metadata.labels.topology.kubernetes.io/region = us-east-2
metadata.labels.topology.kubernetes.io/zone
metadata.annotations.alpha.kubernetes.io/provided-node-ip
metadata.annotations.csi.volume.kubernetes.io/nodeid
metadata.annotations.node.alpha.kubernetes.io/ttl = 0
metadata.annotations.volumes.kubernetes.io/controller-managed-attach-detach = true
taints =
conditions = MemoryPressure DiskPressure PIDPressure Ready
condition.MemoryPressure = False KubeletHasSufficientMemory kubelet has sufficient memory available
condition.DiskPressure = False KubeletHasNoDiskPressure kubelet has no disk pressure
condition.PIDPressure = False KubeletHasSufficientPID kubelet has sufficient PID available
condition.Ready = True KubeletReady kubelet is posting ready status
addresses = InternalIP ExternalIP InternalDNS Hostname ExternalDNS
status.capacity.cpu = 2
status.capacity.ephemeral-storage = 20959212Ki
status.capacity.hugepages-1Gi = 0
status.capacity.hugepages-2Mi = 0
status.capacity.memory = 3943312Ki
status.capacity.pods = 17
status.allocatable.cpu = 1930m
status.allocatable.ephemeral-storage = 18242267924
status.allocatable.hugepages-1Gi = 0
status.allocatable.hugepages-2Mi = 0
status.allocatable.memory = 3388304Ki
status.allocatable.pods = 17
status.nodeInfo.machineID
status.nodeInfo.systemUUID
status.nodeInfo.bootID
status.nodeInfo.kernelVersion = 5.10.225-213.878.amzn2.x86_64
status.nodeInfo.osImage = Amazon Linux 2
status.nodeInfo.operatingSystem = linux
status.nodeInfo.architecture = amd64
status.nodeInfo.containerRuntimeVersion = containerd://1.7.11
status.nodeInfo.kubeletVersion
status.nodeInfo.kubeProxyVersion
spec.providerID
`,
		but: map[string]string{
			"addresses = InternalIP ExternalIP InternalDNS Hostname ExternalDNS": "the sample's subnet is public; simulated ones are private",
		},
	},
	{
		name: "a node of EKS that joins and dies", origin: "aws-samples/eks-workshop-v2: kubectl describe node of a node that died of memory",
		story: "eks 1.30", object: []string{"kind = Node", "taints = node.kubernetes.io/unreachable:NoExecute node.kubernetes.io/unreachable:NoSchedule"},
		facts: `
taints = node.kubernetes.io/unreachable:NoExecute node.kubernetes.io/unreachable:NoSchedule
conditions = MemoryPressure DiskPressure PIDPressure Ready
condition.MemoryPressure = Unknown NodeStatusUnknown Kubelet stopped posting node status.
condition.DiskPressure = Unknown NodeStatusUnknown Kubelet stopped posting node status.
condition.PIDPressure = Unknown NodeStatusUnknown Kubelet stopped posting node status.
condition.Ready = Unknown NodeStatusUnknown Kubelet stopped posting node status.
`,
		events: `
Normal Starting kube-proxy
Normal Starting kubelet Starting kubelet.
Warning InvalidDiskCapacity kubelet invalid capacity 0 on image filesystem
Normal NodeHasSufficientMemory kubelet Node NODE status is now: NodeHasSufficientMemory
Normal NodeHasNoDiskPressure kubelet Node NODE status is now: NodeHasNoDiskPressure
Normal NodeHasSufficientPID kubelet Node NODE status is now: NodeHasSufficientPID
Normal NodeAllocatableEnforced kubelet Updated Node Allocatable limit across pods
Normal RegisteredNode node-controller Node NODE event: Registered Node NODE in Controller
Normal Synced cloud-node-controller Node synced successfully
Normal ControllerVersionNotice vpc-resource-controller The node is managed by VPC resource controller version v1.6.3
Normal NodeReady kubelet Node NODE status is now: NodeReady
Normal NodeTrunkInitiated vpc-resource-controller The node has trunk interface initialized successfully
Warning SystemOOM kubelet System OOM encountered, victim process: python, pid: 4763
Normal NodeNotReady node-controller Node NODE status is now: NodeNotReady
`,
		but: map[string]string{
			"Normal ControllerVersionNotice vpc-resource-controller The node is managed by VPC resource controller version v1.6.3": "only where pods have security groups",
			"Normal NodeTrunkInitiated vpc-resource-controller The node has trunk interface initialized successfully":              "only where pods have security groups",
			"Warning SystemOOM kubelet System OOM encountered, victim process: python, pid: 4763":                                  "the simulated machine dies without running out of memory",
		},
	},
	{
		name: "a node of an AKS scale set", origin: "mobiledgex/edge-cloud: kubectl get nodes, AKS 1.18",
		story: "aks 1.27", object: []string{"kind = Node"},
		facts: `
metadata.annotations.node.alpha.kubernetes.io/ttl = 0
metadata.annotations.volumes.kubernetes.io/controller-managed-attach-detach = true
metadata.labels.agentpool = agentpool
metadata.labels.beta.kubernetes.io/arch = amd64
metadata.labels.beta.kubernetes.io/instance-type
metadata.labels.beta.kubernetes.io/os = linux
metadata.labels.failure-domain.beta.kubernetes.io/region
metadata.labels.failure-domain.beta.kubernetes.io/zone
metadata.labels.kubernetes.azure.com/node-image-version
metadata.labels.kubernetes.azure.com/os-sku = Ubuntu
metadata.labels.kubernetes.azure.com/role = agent
metadata.labels.kubernetes.io/arch = amd64
metadata.labels.kubernetes.io/hostname
metadata.labels.kubernetes.io/os = linux
metadata.labels.kubernetes.io/role = agent
metadata.labels.node-role.kubernetes.io/agent
metadata.labels.node.kubernetes.io/instance-type
metadata.labels.storageprofile = managed
metadata.labels.storagetier = Premium_LRS
metadata.labels.topology.kubernetes.io/region
metadata.labels.topology.kubernetes.io/zone
taints =
conditions = NetworkUnavailable MemoryPressure DiskPressure PIDPressure Ready
condition.NetworkUnavailable = False RouteCreated RouteController created a route
condition.MemoryPressure = False KubeletHasSufficientMemory kubelet has sufficient memory available
condition.DiskPressure = False KubeletHasNoDiskPressure kubelet has no disk pressure
condition.PIDPressure = False KubeletHasSufficientPID kubelet has sufficient PID available
condition.Ready = True KubeletReady kubelet is posting ready status. AppArmor enabled
addresses = Hostname InternalIP
status.capacity.attachable-volumes-azure-disk = 4
status.capacity.cpu = 2
status.capacity.ephemeral-storage
status.capacity.hugepages-1Gi = 0
status.capacity.hugepages-2Mi = 0
status.capacity.memory
status.capacity.pods = 110
status.allocatable.cpu = 1900m
status.allocatable.hugepages-1Gi = 0
status.allocatable.hugepages-2Mi = 0
status.allocatable.pods = 110
status.daemonEndpoints.kubeletEndpoint.Port
status.nodeInfo.architecture = amd64
status.nodeInfo.bootID
status.nodeInfo.containerRuntimeVersion
status.nodeInfo.kernelVersion
status.nodeInfo.kubeProxyVersion
status.nodeInfo.kubeletVersion
status.nodeInfo.machineID
status.nodeInfo.operatingSystem = linux
status.nodeInfo.osImage
status.nodeInfo.systemUUID
`,
		but: map[string]string{
			"metadata.labels.kubernetes.io/role = agent":                                        older + ": AKS no longer sets the label",
			"metadata.labels.node-role.kubernetes.io/agent":                                     older + ": AKS no longer sets the label",
			"conditions = NetworkUnavailable MemoryPressure DiskPressure PIDPressure Ready":     older + ": node-problem-detector posts there today, and with an overlay no route is made",
			"condition.NetworkUnavailable = False RouteCreated RouteController created a route": older + ": with an overlay no route is made",
			"addresses = Hostname InternalIP":                                                   older + ": the cloud was inside of the kubelet then",
			"status.capacity.attachable-volumes-azure-disk = 4":                                 older + ": the CSINode object has the limit today",
		},
	},
	{
		name: "a pod whose image can't be pulled", origin: "replicatedhq/troubleshoot: pod and Events, minikube, July 2023",
		story: "pods 1.27", object: []string{"kind = Pod", "status.containerStatuses[0].state.waiting.reason = ErrImagePull"},
		facts: `
metadata.ownerReferences[0].apiVersion = apps/v1
metadata.ownerReferences[0].kind = ReplicaSet
metadata.ownerReferences[0].controller = true
metadata.ownerReferences[0].blockOwnerDeletion = true
spec.tolerations[0].key = node.kubernetes.io/not-ready
spec.tolerations[0].operator = Exists
spec.tolerations[0].effect = NoExecute
spec.tolerations[0].tolerationSeconds = 300
spec.tolerations[1].key = node.kubernetes.io/unreachable
spec.tolerations[1].operator = Exists
spec.tolerations[1].effect = NoExecute
spec.tolerations[1].tolerationSeconds = 300
spec.restartPolicy = Always
spec.schedulerName = default-scheduler
spec.priority = 0
spec.preemptionPolicy = PreemptLowerPriority
spec.terminationGracePeriodSeconds = 30
spec.dnsPolicy = ClusterFirst
spec.serviceAccountName = default
spec.enableServiceLinks = true
conditions = Initialized Ready ContainersReady PodScheduled
condition.Initialized = True
condition.Ready = False ContainersNotReady containers with unready status: [bad]
condition.ContainersReady = False ContainersNotReady containers with unready status: [bad]
condition.PodScheduled = True
status.conditions[0].lastProbeTime = null
status.phase = Pending
status.hostIP
status.podIP
status.podIPs[0].ip
status.startTime
status.containerStatuses[0].name
status.containerStatuses[0].state.waiting.message
status.containerStatuses[0].ready = false
status.containerStatuses[0].restartCount = 0
status.containerStatuses[0].image = noimage.com/no-such-image
status.containerStatuses[0].imageID =
status.containerStatuses[0].started = false
status.qosClass
`,
		events: `
Normal Scheduled default-scheduler Successfully assigned default/POD to NODE
Normal Pulling kubelet Pulling image "noimage.com/no-such-image"
Warning Failed kubelet Failed to pull image "noimage.com/no-such-image": rpc error: code = Unknown desc = Error response from daemon: Get "https://noimage.com/v2/": x509: certificate is not valid for any names, but wanted to match noimage.com
Warning Failed kubelet Error: ErrImagePull
Normal BackOff kubelet Back-off pulling image "noimage.com/no-such-image"
Warning Failed kubelet Error: ImagePullBackOff
Normal SuccessfulCreate replicaset-controller Created pod: POD
Normal ScalingReplicaSet deployment-controller Scaled up replica set SET to 1
`,
		but: map[string]string{
			"spec.dnsPolicy = ClusterFirst":     spec,
			"spec.serviceAccountName = default": spec,
			"spec.enableServiceLinks = true":    spec,
			`Warning Failed kubelet Failed to pull image "noimage.com/no-such-image": rpc error: code = Unknown desc = Error response from daemon: Get "https://noimage.com/v2/": x509: certificate is not valid for any names, but wanted to match noimage.com`: docker,
		},
	},
	{
		name: "a pod that is too large", origin: "replicatedhq/troubleshoot: pod and Event, minikube, July 2023",
		story: "pods 1.27", object: []string{"kind = Pod", "conditions = PodScheduled", "status.conditions[0].reason = Unschedulable"},
		facts: `
status.phase = Pending
conditions = PodScheduled
condition.PodScheduled = False Unschedulable 0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
status.qosClass
`,
		events: `
Warning FailedScheduling default-scheduler 0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
`,
		but: map[string]string{
			"condition.PodScheduled = False Unschedulable 0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.": gpu,
			"Warning FailedScheduling default-scheduler 0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.":   gpu,
		},
	},
	{
		name: "the shape of a scheduler's Event", origin: "replicatedhq/troubleshoot: Scheduled and FailedScheduling, minikube, July 2023",
		story: "pods 1.27", object: []string{"kind = Event", "reason = FailedScheduling"},
		facts: `
involvedObject.kind = Pod
involvedObject.namespace
involvedObject.name
involvedObject.uid
involvedObject.apiVersion = v1
involvedObject.resourceVersion
type = Warning
eventTime
firstTimestamp = null
lastTimestamp = null
action = Scheduling
reportingComponent = default-scheduler
reportingInstance
`,
	},
	{
		name: "the shape of a kubelet's Event", origin: "replicatedhq/troubleshoot: Pulling, Pulled, Created, Started and Killing, minikube, July 2023",
		story: "pods 1.27", object: []string{"kind = Event", "reason = Pulling"},
		facts: `
involvedObject.kind = Pod
involvedObject.namespace
involvedObject.name
involvedObject.uid
involvedObject.apiVersion = v1
involvedObject.resourceVersion
involvedObject.fieldPath
source.component = kubelet
source.host
firstTimestamp
lastTimestamp
count = 1
type = Normal
eventTime = null
reportingComponent =
reportingInstance =
`,
		events: `
Normal Pulling kubelet Pulling image "bash"
Normal Created kubelet Created container fine
Normal Started kubelet Started container fine
Normal Killing kubelet Stopping container fine
`,
		but: map[string]string{"reportingComponent =": empty, "reportingInstance =": empty},
	},
	{
		name: "the shape of a controller's Event", origin: "replicatedhq/troubleshoot: SuccessfulCreate, minikube, July 2023",
		story: "pods 1.27", object: []string{"kind = Event", "reason = SuccessfulCreate"},
		facts: `
involvedObject.kind = ReplicaSet
involvedObject.namespace
involvedObject.name
involvedObject.uid
involvedObject.apiVersion = apps/v1
involvedObject.resourceVersion
source.component = replicaset-controller
firstTimestamp
lastTimestamp
count = 1
type = Normal
eventTime = null
reportingComponent =
reportingInstance =
`,
		but: map[string]string{"reportingComponent =": empty},
	},
}
