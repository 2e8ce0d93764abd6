package inspect

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (d *decoder) podSpec(raw []byte) {
	s := &d.pod.Spec
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "nodeName":
			s.NodeName = d.word(value)
		case "containers":
			s.Containers = d.containerSpecs(value)
		case "tolerations":
			for t := range rawjson.Elements(value) {
				s.Tolerations = append(s.Tolerations, corev1.Toleration{
					Key: d.word(rawjson.Get(t, "key")), Operator: corev1.TolerationOperator(d.word(rawjson.Get(t, "operator"))),
					Value: d.word(rawjson.Get(t, "value")), Effect: corev1.TaintEffect(d.word(rawjson.Get(t, "effect"))),
				})
			}
		}
	}
}

// containerSpecs are a pod's containers: their names, images, CPU and memory,
// which most pods have in common with others.
func (d *decoder) containerSpecs(raw []byte) []corev1.Container {
	if all, known := d.containers[string(raw)]; known {
		return all
	}
	var all []corev1.Container
	for one := range rawjson.Elements(raw) {
		resources := rawjson.Get(one, "resources")
		all = append(all, corev1.Container{
			Name: d.word(rawjson.Get(one, "name")), Image: d.word(rawjson.Get(one, "image")),
			Resources: corev1.ResourceRequirements{Requests: amounts(rawjson.Get(resources, "requests")), Limits: amounts(rawjson.Get(resources, "limits"))},
		})
	}
	if len(d.containers) < mostWords && len(raw) < 4096 {
		d.containers[string(raw)] = all
	}
	return all
}

// amounts are CPU and memory of a list of resources.
func amounts(raw []byte) corev1.ResourceList {
	var list corev1.ResourceList
	for name, value := range rawjson.Members(raw) {
		of := corev1.ResourceName(name)
		if of != corev1.ResourceCPU && of != corev1.ResourceMemory {
			continue
		}
		q, err := resource.ParseQuantity(text(value))
		if err != nil {
			continue
		}
		if list == nil {
			list = corev1.ResourceList{}
		}
		list[of] = q
	}
	return list
}

func (d *decoder) podStatus(raw []byte) {
	s := &d.pod.Status
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "phase":
			s.Phase = corev1.PodPhase(d.word(value))
		case "podIP":
			s.PodIP = text(value)
		case "observedGeneration":
			s.ObservedGeneration, _ = integer(value)
		case "startTime":
			if t := instant(value); !t.IsZero() {
				s.StartTime = &metav1.Time{Time: t}
			}
		case "conditions":
			for c := range rawjson.Elements(value) {
				s.Conditions = append(s.Conditions, d.podCondition(c))
			}
		case "containerStatuses":
			for c := range rawjson.Elements(value) {
				s.ContainerStatuses = append(s.ContainerStatuses, d.container(c))
			}
		}
	}
}

func (d *decoder) podCondition(raw []byte) (c corev1.PodCondition) {
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "type":
			c.Type = corev1.PodConditionType(d.word(value))
		case "status":
			c.Status = corev1.ConditionStatus(d.word(value))
		case "reason":
			c.Reason = d.word(value)
		case "observedGeneration":
			c.ObservedGeneration, _ = integer(value)
		case "lastTransitionTime":
			c.LastTransitionTime = metav1.Time{Time: instant(value)}
		}
	}
	return c
}

func (d *decoder) container(raw []byte) (c corev1.ContainerStatus) {
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "name":
			c.Name = d.word(value)
		case "restartCount":
			c.RestartCount = small(value)
		case "imageID":
			c.ImageID = d.word(value)
		case "containerID":
			c.ContainerID = text(value)
		case "state":
			c.State = containerState(value)
		case "lastState":
			c.LastTerminationState = containerState(value)
		}
	}
	return c
}

func containerState(raw []byte) (s corev1.ContainerState) {
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "running":
			s.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: instant(rawjson.Get(value, "startedAt"))}}
		case "terminated":
			s.Terminated = &corev1.ContainerStateTerminated{
				StartedAt:  metav1.Time{Time: instant(rawjson.Get(value, "startedAt"))},
				FinishedAt: metav1.Time{Time: instant(rawjson.Get(value, "finishedAt"))},
			}
		}
	}
	return s
}
