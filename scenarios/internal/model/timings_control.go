package model

import "time"

// The control plane.
var controlTimings = []timing{
	{
		name: "eventLag", of: func(t *Timings) *Dist { return &t.EventLag },
		doc:      "a change until the event that tells of it is stored",
		evidence: "estimate",
		usual:    Uniform(5*time.Millisecond, 150*time.Millisecond),
	},
	{
		name: "controllerReact", of: func(t *Timings) *Dist { return &t.ControllerReact },
		doc:      "a change until the controller of a workload has answered it",
		evidence: "estimate",
		usual:    Uniform(50*time.Millisecond, time.Second),
	},
	{
		name: "schedulerBind", of: func(t *Timings) *Dist { return &t.SchedulerBind },
		doc:      "a pod that fits somewhere until it is bound",
		evidence: "estimate",
		usual:    Uniform(5*time.Millisecond, 80*time.Millisecond),
	},
	{
		name: "schedulerRetry", of: func(t *Timings) *Dist { return &t.SchedulerRetry },
		doc:      "a pod that fits nowhere until the scheduler tries again without a cause",
		evidence: "k8s.io/kubernetes/pkg/scheduler/backend/queue/scheduling_queue.go",
		usual:    Fixed(5 * time.Minute),
	},
	{
		name: "monitorPeriod", of: func(t *Timings) *Dist { return &t.MonitorPeriod },
		doc:      "one look of the node lifecycle controller at the nodes until the next",
		evidence: "k8s.io/kubernetes/pkg/controller/nodelifecycle/node_lifecycle_controller.go",
		usual:    Fixed(5 * time.Second),
	},
	{
		name: "monitorGrace", of: func(t *Timings) *Dist { return &t.MonitorGrace },
		doc:      "the last sign of a node until it counts as unknown; 40 s before 1.32",
		evidence: "k8s.io/kubernetes/pkg/controller/nodelifecycle/config/v1alpha1/defaults.go",
		usual:    Fixed(50 * time.Second),
	},
	{
		name: "startupGrace", of: func(t *Timings) *Dist { return &t.StartupGrace },
		doc:      "the creation of a node that never posted a status until it counts as unknown",
		evidence: "k8s.io/kubernetes/pkg/controller/nodelifecycle/config/v1alpha1/defaults.go",
		usual:    Fixed(60 * time.Second),
	},
	{
		name: "conditionTaint", of: func(t *Timings) *Dist { return &t.ConditionTaint },
		doc:      "a changed condition or cordon until the node's taints follow",
		evidence: "6 to 26 ms in the recordings below examples/: the node lifecycle controller is woken by the node's update",
		usual:    Uniform(5*time.Millisecond, 60*time.Millisecond),
	},
	{
		name: "evictionTaintInterval", of: func(t *Timings) *Dist { return &t.EvictionTaintInterval },
		doc:      "one node of a zone gets a NoExecute taint until the next one does",
		evidence: "k8s.io/kubernetes/cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go, node-eviction-rate 0.1",
		usual:    Fixed(10 * time.Second),
	},
	{
		name: "evictionTaintIntervalPartial", of: func(t *Timings) *Dist { return &t.EvictionTaintIntervalPartial },
		doc:      "the same in a zone of more than 50 nodes, most of which are not ready",
		evidence: "k8s.io/kubernetes/cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go, secondary-node-eviction-rate 0.01",
		usual:    Fixed(100 * time.Second),
	},
	{
		name: "taintToleration", of: func(t *Timings) *Dist { return &t.TaintToleration },
		doc:      "how long a pod tolerates that its node is not ready or unreachable",
		evidence: "k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds",
		usual:    Fixed(5 * time.Minute),
	},
	{
		name: "podGCPeriod", of: func(t *Timings) *Dist { return &t.PodGCPeriod },
		doc:      "one look of the pod garbage collector until the next",
		evidence: "k8s.io/kubernetes/pkg/controller/podgc/gc_controller.go",
		usual:    Fixed(20 * time.Second),
	},
	{
		name: "podGCQuarantine", of: func(t *Timings) *Dist { return &t.PodGCQuarantine },
		doc:      "a missing node until its pods count as orphans",
		evidence: "k8s.io/kubernetes/pkg/controller/podgc/gc_controller.go",
		usual:    Fixed(40 * time.Second),
	},
	{
		name: "volumeForceDetach", of: func(t *Timings) *Dist { return &t.VolumeForceDetach },
		doc:      "a volume that its dead node never unmounted until it is detached by force",
		evidence: "k8s.io/kubernetes/pkg/controller/volume/attachdetach/attach_detach_controller.go",
		usual:    Fixed(6 * time.Minute),
	},
	{
		name: "cloudNodePeriod", of: func(t *Timings) *Dist { return &t.CloudNodePeriod },
		doc:      "one question of the cloud node lifecycle controller about nodes that aren't ready until the next",
		evidence: "k8s.io/cloud-provider/controllers/nodelifecycle: node-monitor-period",
		usual:    Fixed(5 * time.Second),
	},
}
