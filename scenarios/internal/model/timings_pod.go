package model

import "time"

// A pod on its node.
var podTimings = []timing{
	{
		name: "sandbox", of: func(t *Timings) *Dist { return &t.Sandbox },
		doc:      "the kubelet sees a pod until its sandbox with its network stands",
		evidence: "estimate",
		usual:    Lognormal(600*time.Millisecond, 2*time.Second).Clip(100*time.Millisecond, 4*time.Minute),
		unusual: []unusual{
			{os: Windows, takes: Lognormal(4*time.Second, 12*time.Second).Clip(time.Second, 4*time.Minute)},
		},
	},
	{
		name: "imagePull", of: func(t *Timings) *Dist { return &t.ImagePull },
		doc:      "the pull of an image that the node doesn't have; its size comes on top, at 40 MB/s",
		evidence: "1.4 to 4.7 s for small images on EKS",
		usual:    Lognormal(3*time.Second, 20*time.Second).Clip(200*time.Millisecond, 30*time.Minute),
		unusual: []unusual{
			{os: Windows, takes: Lognormal(30*time.Second, 180*time.Second).Clip(time.Second, 30*time.Minute)},
		},
	},
	{
		name: "imagePullFail", of: func(t *Timings) *Dist { return &t.ImagePullFail },
		doc:      "the pull of an image that fails",
		evidence: "estimate",
		usual:    Lognormal(700*time.Millisecond, 3*time.Second).Clip(100*time.Millisecond, 2*time.Minute),
	},
	{
		name: "containerStart", of: func(t *Timings) *Dist { return &t.ContainerStart },
		doc:      "the image is there until the container runs",
		evidence: "estimate",
		usual:    Lognormal(300*time.Millisecond, time.Second).Clip(50*time.Millisecond, 2*time.Minute),
		unusual: []unusual{
			{os: Windows, takes: Lognormal(3*time.Second, 10*time.Second).Clip(500*time.Millisecond, 5*time.Minute)},
		},
	},
	{
		name: "containerReady", of: func(t *Timings) *Dist { return &t.ContainerReady },
		doc:      "the container runs until its readiness probe succeeds, where it has one",
		evidence: "estimate",
		usual:    Lognormal(4*time.Second, 15*time.Second).Clip(100*time.Millisecond, 10*time.Minute),
	},
	{
		name: "statusPost", of: func(t *Timings) *Dist { return &t.StatusPost },
		doc:      "a change in a container until the pod's status shows it",
		evidence: "k8s.io/kubernetes/pkg/kubelet/kubelet.go, genericPlegRelistPeriod 1 s; estimate",
		usual:    Uniform(50*time.Millisecond, 500*time.Millisecond),
	},
	{
		name: "crashRun", of: func(t *Timings) *Dist { return &t.CrashRun },
		doc:      "the run of a container that crashes",
		evidence: "estimate",
		usual:    Lognormal(time.Second, 5*time.Second).Clip(50*time.Millisecond, 5*time.Minute),
	},
	{
		name: "killDelay", of: func(t *Timings) *Dist { return &t.KillDelay },
		doc:      "a deletion until the kubelet stops the containers",
		evidence: "estimate",
		usual:    Uniform(100*time.Millisecond, time.Second),
	},
	{
		name: "appStop", of: func(t *Timings) *Dist { return &t.AppStop },
		doc:      "SIGTERM until a container exits by itself; its grace ends it before",
		evidence: "estimate",
		usual:    Lognormal(2*time.Second, 12*time.Second).Clip(20*time.Millisecond, 24*time.Hour),
	},
	{
		name: "terminalStatus", of: func(t *Timings) *Dist { return &t.TerminalStatus },
		doc:      "the last container exits until the pod's status says so",
		evidence: "estimate",
		usual:    Uniform(100*time.Millisecond, 600*time.Millisecond),
	},
	{
		name: "finalDelete", of: func(t *Timings) *Dist { return &t.FinalDelete },
		doc:      "the last container exits until the kubelet deletes the pod",
		evidence: "estimate",
		usual:    Uniform(500*time.Millisecond, 2*time.Second),
	},
	{
		name: "mountTimeout", of: func(t *Timings) *Dist { return &t.MountTimeout },
		doc:      "how long the kubelet waits for volumes before it reports FailedMount",
		evidence: "k8s.io/kubernetes/pkg/kubelet/volumemanager/volume_manager.go",
		usual:    Fixed(123 * time.Second),
	},
}
