package kubedefaults

import corev1 "k8s.io/api/core/v1"

// A QOS finds the quality of service class of a pod (ComputePodQOS of pkg/apis/core/v1/helper/qos). The zero value is of a
// pod without containers.
type QOS struct{ asks, less bool }

// Add counts what a container asks for, init containers and sidecars included, or the pod as a whole where that says so
// itself. 0 is nothing.
func (q *QOS) Add(cpu, memory, cpuLimit, memoryLimit int64) {
	q.asks = q.asks || cpu|memory|cpuLimit|memoryLimit != 0
	q.less = q.less || cpuLimit == 0 || memoryLimit == 0 || cpu != cpuLimit || memory != memoryLimit
}

// Class is guaranteed where all are limited to what they request of both, and best effort where none asks for anything.
func (q QOS) Class() corev1.PodQOSClass {
	switch {
	case !q.asks:
		return corev1.PodQOSBestEffort
	case q.less:
		return corev1.PodQOSBurstable
	}
	return corev1.PodQOSGuaranteed
}

// QOSOf is that of a pod.
func QOSOf(spec *corev1.PodSpec) corev1.PodQOSClass {
	var q QOS
	add := func(r *corev1.ResourceRequirements) {
		cpu, memory := quantity(r.Limits, corev1.ResourceCPU), quantity(r.Limits, corev1.ResourceMemory)
		asked := func(n corev1.ResourceName, limit int64) int64 {
			if _, says := r.Requests[n]; !says {
				return limit // SetDefaults_Pod of pkg/apis/core/v1/defaults.go
			}
			return quantity(r.Requests, n)
		}
		q.Add(asked(corev1.ResourceCPU, cpu), asked(corev1.ResourceMemory, memory), cpu, memory)
	}
	if spec.Resources != nil {
		add(spec.Resources)
		return q.Class()
	}
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			add(&list[i].Resources)
		}
	}
	return q.Class()
}

// quantity is a quantity of a list: CPU in thousandths, since a server takes none that is finer, and all else whole.
func quantity(list corev1.ResourceList, n corev1.ResourceName) int64 {
	q := list[n]
	if n == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}
