package model

import "time"

// A node: its kubelet and what starts on it.
var nodeTimings = []timing{
	{
		name: "register", of: func(t *Timings) *Dist { return &t.Register },
		doc:      "the start of the kubelet until its Node exists",
		evidence: "4, 4 and 3 s on EKS with Amazon Linux 2023",
		usual:    Triangular(time.Second, 4*time.Second, 6*time.Second),
	},
	{
		name: "cloudInitialize", of: func(t *Timings) *Dist { return &t.CloudInitialize },
		doc:      "the Node exists until the cloud node controller has removed the taint uninitialized and filled in zone and type",
		evidence: "0 to 1 s on EKS",
		usual:    Uniform(50*time.Millisecond, time.Second),
	},
	{
		name: "kubeProxyStart", of: func(t *Timings) *Dist { return &t.KubeProxyStart },
		doc:      "the Node exists until kube-proxy reports its start",
		evidence: "9 to 13 s after the start of the kubelet on EKS",
		usual:    Uniform(5*time.Second, 9*time.Second),
	},
	{
		name: "becomeReady", of: func(t *Timings) *Dist { return &t.BecomeReady },
		doc:      "the Node exists until it is ready, which is when the network plugin is up",
		evidence: "11, 12, 13, 13 and 17 s on EKS",
		usual:    Lognormal(12*time.Second, 25*time.Second).Clip(time.Second, 10*time.Minute),
		unusual: []unusual{
			{provider: GKE, takes: Lognormal(8*time.Second, 20*time.Second).Clip(time.Second, 10*time.Minute)},
			{provider: AKS, takes: Lognormal(10*time.Second, 25*time.Second).Clip(time.Second, 10*time.Minute)},
			{os: Windows, takes: Lognormal(30*time.Second, 90*time.Second).Clip(time.Second, 15*time.Minute)},
			{os: NVIDIA, takes: Lognormal(20*time.Second, 60*time.Second).Clip(time.Second, 15*time.Minute)},
		},
	},
	{
		name: "csiRegister", of: func(t *Timings) *Dist { return &t.CSIRegister },
		doc:      "the node is ready until its CSI driver has registered",
		evidence: "30 to 60 s on EKS",
		usual:    Uniform(30*time.Second, 60*time.Second),
	},
	{
		name: "statusSync", of: func(t *Timings) *Dist { return &t.StatusSync },
		doc:      "one look of the kubelet at its own status until the next; a changed status is posted at once",
		evidence: "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1/defaults.go",
		usual:    Fixed(10 * time.Second),
	},
	{
		name: "statusReport", of: func(t *Timings) *Dist { return &t.StatusReport },
		doc:      "one post of an unchanged status until the next",
		evidence: "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1/defaults.go",
		usual:    Fixed(5 * time.Minute),
	},
	{
		name: "statusReportAfterChange", of: func(t *Timings) *Dist { return &t.StatusReportAfterChange },
		doc:      "a changed status until the next unchanged one is posted: five minutes and up to half of them more or less",
		evidence: "k8s.io/kubernetes/pkg/kubelet/kubelet_node_status.go",
		usual:    Uniform(150*time.Second, 450*time.Second),
	},
	{
		name: "nodeNotSchedulable", of: func(t *Timings) *Dist { return &t.NodeNotSchedulable },
		doc:      "a cordon until the kubelet's event says so: its next look at its status",
		evidence: "k8s.io/kubernetes/pkg/kubelet/kubelet_node_status.go",
		usual:    Uniform(0, 10*time.Second),
	},
	{
		name: "pressureSync", of: func(t *Timings) *Dist { return &t.PressureSync },
		doc:      "one look of the eviction manager at memory and disk until the next",
		evidence: "k8s.io/kubernetes/pkg/kubelet/kubelet.go, evictionMonitoringPeriod",
		usual:    Fixed(10 * time.Second),
	},
	{
		name: "pressureTransition", of: func(t *Timings) *Dist { return &t.PressureTransition },
		doc:      "the end of memory, disk or PID pressure until its condition ends",
		evidence: "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1/defaults.go",
		usual:    Fixed(5 * time.Minute),
	},
	{
		name: "shutdownGrace", of: func(t *Timings) *Dist { return &t.ShutdownGrace },
		doc:      "what a graceful node shutdown may take in all",
		evidence: "nodeadm of awslabs/amazon-eks-ami: 2m30s from 1.34 on; 30 s on GKE: estimate",
		usual:    Fixed(150 * time.Second),
		unusual: []unusual{
			{provider: GKE, takes: Fixed(30 * time.Second)},
		},
	},
	{
		name: "shutdownGraceCritical", of: func(t *Timings) *Dist { return &t.ShutdownGraceCritical },
		doc:      "what of a graceful node shutdown is kept for critical pods, at its end",
		evidence: "nodeadm of awslabs/amazon-eks-ami: 30s from 1.34 on; 15 s on GKE: estimate",
		usual:    Fixed(30 * time.Second),
		unusual: []unusual{
			{provider: GKE, takes: Fixed(15 * time.Second)},
		},
	},
}
