package inspect

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (d *decoder) podSpec(raw []byte) {
	s := &d.pod.Spec
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "nodeName":
			s.NodeName = d.word(value)
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
