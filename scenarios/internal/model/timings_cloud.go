package model

import "time"

// The cloud: machines come and go.
var cloudTimings = []timing{
	{
		name: "capacityRequest", of: func(t *Timings) *Dist { return &t.CapacityRequest },
		doc:      "a group wants one machine more until the cloud launches it",
		evidence: "estimate",
		usual:    Lognormal(8*time.Second, 30*time.Second).Clip(time.Second, 10*time.Minute),
		unusual: []unusual{
			{provider: Karpenter, takes: Lognormal(3*time.Second, 8*time.Second).Clip(time.Second, 5*time.Minute)},
		},
	},
	{
		name: "capacityRetry", of: func(t *Timings) *Dist { return &t.CapacityRetry },
		doc:      "a refused launch (no capacity) until the group asks again",
		evidence: "estimate",
		usual:    Uniform(30*time.Second, 90*time.Second),
	},
	{
		name: "boot", of: func(t *Timings) *Dist { return &t.Boot },
		doc:      "the launch of a machine until its kubelet starts",
		evidence: "34 to 39 s on Amazon Linux 2 (awslabs/amazon-eks-ami#1099), slower on 2023, where nodeadm takes 20 s and 10 s of its own (awslabs/amazon-eks-ami#1696); others: estimate",
		usual:    Lognormal(38*time.Second, 65*time.Second).Clip(10*time.Second, 15*time.Minute),
		unusual: []unusual{
			{os: AL2, takes: Lognormal(35*time.Second, 55*time.Second).Clip(10*time.Second, 15*time.Minute)},
			{os: Bottlerocket, takes: Lognormal(28*time.Second, 50*time.Second).Clip(10*time.Second, 15*time.Minute)},
			{os: NVIDIA, takes: Lognormal(150*time.Second, 300*time.Second).Clip(30*time.Second, 15*time.Minute)},
			{os: Windows, takes: Lognormal(240*time.Second, 480*time.Second).Clip(60*time.Second, 30*time.Minute)},
			{os: AzureLinux, takes: Lognormal(60*time.Second, 100*time.Second).Clip(10*time.Second, 15*time.Minute)},
			{provider: AKS, takes: Lognormal(70*time.Second, 120*time.Second).Clip(10*time.Second, 15*time.Minute)},
			{os: COS, takes: Lognormal(35*time.Second, 60*time.Second).Clip(10*time.Second, 15*time.Minute)},
		},
	},
	{
		name: "terminate", of: func(t *Timings) *Dist { return &t.Terminate },
		doc:      "a termination is asked for until the cloud says terminated, without what a graceful shutdown takes",
		evidence: "40 to 55 s until the node is removed (kubernetes-sigs/aws-ebs-csi-driver#833)",
		usual:    Lognormal(30*time.Second, 75*time.Second).Clip(5*time.Second, 10*time.Minute),
	},
	{
		name: "terminateSilence", of: func(t *Timings) *Dist { return &t.TerminateSilence },
		doc:      "a termination is asked for until the kubelet is stopped, without a graceful shutdown",
		evidence: "estimate",
		usual:    Uniform(time.Second, 5*time.Second),
	},
	{
		name: "interruptionLead", of: func(t *Timings) *Dist { return &t.InterruptionLead },
		doc:      "the notice of a spot interruption until the machine is taken",
		evidence: "AWS documents two minutes; Google Cloud and Azure 30 s",
		usual:    Fixed(120 * time.Second),
		unusual: []unusual{
			{provider: GKE, takes: Fixed(30 * time.Second)},
			{provider: AKS, takes: Fixed(30 * time.Second)},
		},
	},
	{
		name: "reboot", of: func(t *Timings) *Dist { return &t.Reboot },
		doc:      "a reboot in place until the kubelet starts again",
		evidence: "estimate",
		usual:    Lognormal(45*time.Second, 90*time.Second).Clip(10*time.Second, 15*time.Minute),
		unusual: []unusual{
			{os: Windows, takes: Lognormal(120*time.Second, 300*time.Second).Clip(30*time.Second, 30*time.Minute)},
		},
	},
	{
		name: "volumeAttach", of: func(t *Timings) *Dist { return &t.VolumeAttach },
		doc:      "the attachment of a volume that is free",
		evidence: "estimate",
		usual:    Lognormal(3*time.Second, 10*time.Second).Clip(time.Second, 10*time.Minute),
	},
	{
		name: "volumeDetach", of: func(t *Timings) *Dist { return &t.VolumeDetach },
		doc:      "the detachment of a volume that its node has unmounted",
		evidence: "estimate",
		usual:    Lognormal(15*time.Second, 40*time.Second).Clip(time.Second, 6*time.Minute),
	},
}
