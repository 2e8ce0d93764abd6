package model

import "time"

// Who rolls and scales.
var rollTimings = []timing{
	{
		name: "rollerPoll", of: func(t *Timings) *Dist { return &t.RollerPoll },
		doc:      "a new node is ready until the roller continues",
		evidence: "estimate",
		usual:    Uniform(15*time.Second, 60*time.Second),
		unusual: []unusual{
			{provider: Karpenter, takes: Uniform(time.Second, 10*time.Second)},
			{provider: GKE, takes: Uniform(5*time.Second, 20*time.Second)},
			{provider: AKS, takes: Uniform(5*time.Second, 20*time.Second)},
			{provider: CAPI, takes: Uniform(time.Second, 10*time.Second)},
			{provider: KOps, takes: Fixed(15 * time.Second)},
		},
	},
	{
		name: "cordonSpacing", of: func(t *Timings) *Dist { return &t.CordonSpacing },
		doc:      "one cordon until the next where many nodes are cordoned at once",
		evidence: "estimate",
		usual:    Uniform(20*time.Millisecond, 200*time.Millisecond),
	},
	{
		name: "evictionRetry", of: func(t *Timings) *Dist { return &t.EvictionRetry },
		doc:      "a refused eviction until the next try",
		evidence: "k8s.io/kubectl/pkg/drain",
		usual:    Fixed(5 * time.Second),
		unusual: []unusual{
			{provider: Karpenter, takes: Fixed(10 * time.Second)},
			{provider: CAPI, takes: Fixed(20 * time.Second)},
		},
	},
	{
		name: "drainTimeout", of: func(t *Timings) *Dist { return &t.DrainTimeout },
		doc:      "how long a drain may take",
		evidence: "15 min: AWS documentation of managed node groups, and kOps; 30 min: AKS; 1 h: GKE; Karpenter and Cluster API wait without a limit, written as ten years",
		usual:    Fixed(15 * time.Minute),
		unusual: []unusual{
			{provider: GKE, takes: Fixed(time.Hour)},
			{provider: AKS, takes: Fixed(30 * time.Minute)},
			{provider: Karpenter, takes: Fixed(87600 * time.Hour)},
			{provider: CAPI, takes: Fixed(87600 * time.Hour)},
		},
	},
	{
		name: "drainSettle", of: func(t *Timings) *Dist { return &t.DrainSettle },
		doc:      "a drained node until it is terminated",
		evidence: "AWS documentation of managed node groups: 60 s; kOps: post-drain delay 5 s",
		usual:    Fixed(60 * time.Second),
		unusual: []unusual{
			{provider: GKE, takes: Fixed(0)},
			{provider: AKS, takes: Fixed(0)},
			{provider: Karpenter, takes: Fixed(5 * time.Second)},
			{provider: CAPI, takes: Fixed(0)},
			{provider: KOps, takes: Fixed(5 * time.Second)},
		},
	},
	{
		name: "joinTimeout", of: func(t *Timings) *Dist { return &t.JoinTimeout },
		doc:      "how long new nodes may take to join before the roll fails",
		evidence: "AWS documentation: NodeCreationFailure after 15 minutes, later in reports; Karpenter: registration 15 min; kOps: validation 15 min",
		usual:    Lognormal(15*time.Minute, 20*time.Minute).Clip(15*time.Minute, 40*time.Minute),
		unusual: []unusual{
			{provider: Karpenter, takes: Fixed(15 * time.Minute)},
			{provider: KOps, takes: Fixed(15 * time.Minute)},
			{provider: GKE, takes: Fixed(30 * time.Minute)},
			{provider: AKS, takes: Fixed(30 * time.Minute)},
			{provider: CAPI, takes: Fixed(20 * time.Minute)},
		},
	},
	{
		name: "launchTimeout", of: func(t *Timings) *Dist { return &t.LaunchTimeout },
		doc:      "how long a NodeClaim may take to launch",
		evidence: "kubernetes-sigs/karpenter, nodeclaim/lifecycle",
		usual:    Fixed(5 * time.Minute),
	},
	{
		name: "scaleDownStep", of: func(t *Timings) *Dist { return &t.ScaleDownStep },
		doc:      "one surplus node is taken away until the next",
		evidence: "one node a step at the end of an update: awslabs/amazon-eks-ami#1619",
		usual:    Uniform(30*time.Second, 90*time.Second),
	},
	{
		name: "lifecycleHookTimeout", of: func(t *Timings) *Dist { return &t.LifecycleHookTimeout },
		doc:      "how long a machine of a managed node group waits for its drain before it is terminated",
		evidence: "HeartbeatTimeout 1800 s of Terminate-LC-Hook",
		usual:    Fixed(30 * time.Minute),
	},
	{
		name: "reimage", of: func(t *Timings) *Dist { return &t.Reimage },
		doc:      "the reimage of a drained machine in place until its kubelet starts",
		evidence: "estimate",
		usual:    Lognormal(150*time.Second, 240*time.Second).Clip(30*time.Second, 30*time.Minute),
	},
	{
		name: "soak", of: func(t *Timings) *Dist { return &t.Soak },
		doc:      "an upgraded node until the next one is taken",
		evidence: "AKS documentation: no soak, up to 30 minutes; GKE blue-green: 1 h after the last batch",
		usual:    Fixed(0),
		unusual: []unusual{
			{provider: GKE, takes: Fixed(time.Hour)},
		},
	},
	{
		name: "interruptionLatency", of: func(t *Timings) *Dist { return &t.InterruptionLatency },
		doc:      "a notice of interruption until the handler has read it",
		evidence: "two seconds between polls of aws-node-termination-handler; a queue for Karpenter: estimate",
		usual:    Uniform(time.Second, 5*time.Second),
	},
	{
		name: "autoscalerScan", of: func(t *Timings) *Dist { return &t.AutoscalerScan },
		doc:      "one look of the autoscaler at waiting pods until the next",
		evidence: "kubernetes/autoscaler: scan-interval",
		usual:    Fixed(10 * time.Second),
		unusual: []unusual{
			{provider: Karpenter, takes: Uniform(time.Second, 10*time.Second)},
		},
	},
	{
		name: "autoscalerIdle", of: func(t *Timings) *Dist { return &t.AutoscalerIdle },
		doc:      "a node is no longer needed until the autoscaler takes it",
		evidence: "kubernetes/autoscaler: scale-down-unneeded-time",
		usual:    Fixed(10 * time.Minute),
		unusual: []unusual{
			{provider: Karpenter, takes: Fixed(15 * time.Second)},
		},
	},
	{
		name: "disruptionPoll", of: func(t *Timings) *Dist { return &t.DisruptionPoll },
		doc:      "one look of Karpenter's disruption controller until the next",
		evidence: "kubernetes-sigs/karpenter, controllers/disruption",
		usual:    Fixed(10 * time.Second),
	},
	{
		name: "terminationRequeue", of: func(t *Timings) *Dist { return &t.TerminationRequeue },
		doc:      "one look at a machine that is being terminated until the next",
		evidence: "kubernetes-sigs/karpenter, controllers/node/termination",
		usual:    Fixed(5 * time.Second),
	},
}
