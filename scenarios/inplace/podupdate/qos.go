package podupdate

import corev1 "k8s.io/api/core/v1"

// qosClass is a pod's quality-of-service class by its containers' cpu and memory (k8s.io/kubernetes,
// pkg/apis/core/v1/helper/qos, ComputePodQOS). Resources of the pod itself decide alone where there are any.
func qosClass(pod *corev1.Pod) corev1.PodQOSClass {
	var all []corev1.ResourceRequirements
	if pod.Spec.Resources != nil {
		all = append(all, *pod.Spec.Resources)
	} else {
		for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for _, c := range list {
				all = append(all, c.Resources)
			}
		}
	}
	guaranteed := true
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, r := range all {
		for _, of := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			add(requests, r.Requests, of)
			if !add(limits, r.Limits, of) {
				guaranteed = false
			}
		}
	}
	if len(requests) == 0 && len(limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	for of, request := range requests {
		limit := limits[of]
		guaranteed = guaranteed && limit.Cmp(request) == 0
	}
	if guaranteed && len(requests) == len(limits) {
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// add sums up a resource, and says whether there was any of it.
func add(sum, list corev1.ResourceList, of corev1.ResourceName) bool {
	quantity, ok := list[of]
	if !ok || quantity.Sign() <= 0 {
		return false
	}
	total := sum[of]
	total.Add(quantity)
	sum[of] = total
	return true
}
