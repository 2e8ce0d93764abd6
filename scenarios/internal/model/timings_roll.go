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
		name: "scaleDownStep", of: func(t *Timings) *Dist { return &t.ScaleDownStep },
		doc:      "one surplus node is taken away until the next",
		evidence: "one node a step at the end of an update: awslabs/amazon-eks-ami#1619",
		usual:    Uniform(30*time.Second, 90*time.Second),
	},
	{
		name: "reimage", of: func(t *Timings) *Dist { return &t.Reimage },
		doc:      "the reimage of a drained machine in place until its kubelet starts",
		evidence: "estimate",
		usual:    Lognormal(150*time.Second, 240*time.Second).Clip(30*time.Second, 30*time.Minute),
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
