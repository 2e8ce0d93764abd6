package kubejson

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Pod decodes a Pod. It reuses the lists of conditions and of containers' statuses.
func (d *Decoder) Pod(p *corev1.Pod, raw []byte) (told Fields) {
	w := d.walk(raw)
	for name := range w.Members() {
		switch string(name) {
		case "metadata":
			told |= d.meta(&p.ObjectMeta, &w)
		case "spec":
			told |= d.podSpec(&p.Spec, &w)
		case "status":
			told |= d.podStatus(&p.Status, &w)
		default:
			w.Value()
		}
	}
	return told
}

func (d *Decoder) podSpec(s *corev1.PodSpec, w *rawjson.Walker) (told Fields) {
	if !w.AtObject() {
		*s, told = corev1.PodSpec{}, NodeName
	}
	for name := range w.Members() {
		if string(name) == "nodeName" {
			told |= NodeName
			s.NodeName = d.word(w)
			continue
		}
		if d.Brief {
			w.Value()
			continue
		}
		switch string(name) {
		case "containers":
			s.Containers = share(&d.containers, w.Value(), d.containerSpecs)
		case "initContainers":
			s.InitContainers = share(&d.containers, w.Value(), d.containerSpecs)
		case "tolerations":
			s.Tolerations = nil
			for range w.Elements() {
				s.Tolerations = append(s.Tolerations, d.toleration(w))
			}
		default:
			w.Value()
		}
	}
	return told
}

func (d *Decoder) toleration(w *rawjson.Walker) (t corev1.Toleration) {
	for name := range w.Members() {
		switch string(name) {
		case "key":
			t.Key = d.word(w)
		case "operator":
			t.Operator = corev1.TolerationOperator(d.word(w))
		case "value":
			t.Value = d.word(w)
		case "effect":
			t.Effect = corev1.TaintEffect(d.word(w))
		default:
			w.Value()
		}
	}
	return t
}

// containerSpecs are a pod's containers: their names, images, CPU and memory,
// which most pods have in common with others.
func (d *Decoder) containerSpecs(raw []byte) (all []corev1.Container) {
	w := rawjson.Walk(raw)
	for range w.Elements() {
		all = append(all, d.containerSpec(&w))
	}
	return all
}

func (d *Decoder) containerSpec(w *rawjson.Walker) (c corev1.Container) {
	for name := range w.Members() {
		switch string(name) {
		case "name":
			c.Name = d.word(w)
		case "image":
			c.Image = d.word(w)
		case "resources":
			c.Resources = resources(w)
		case "restartPolicy":
			if policy := corev1.ContainerRestartPolicy(d.word(w)); policy != "" {
				c.RestartPolicy = &policy
			}
		default:
			w.Value()
		}
	}
	return c
}

func resources(w *rawjson.Walker) (r corev1.ResourceRequirements) {
	for name := range w.Members() {
		switch string(name) {
		case "requests":
			r.Requests = amounts(w)
		case "limits":
			r.Limits = amounts(w)
		default:
			w.Value()
		}
	}
	return r
}

// amounts are CPU and memory of a list of resources.
func amounts(w *rawjson.Walker) (list corev1.ResourceList) {
	for name := range w.Members() {
		of := corev1.ResourceName(name)
		raw := w.Value()
		if of != corev1.ResourceCPU && of != corev1.ResourceMemory {
			continue
		}
		s, ok := rawjson.Unquote(raw)
		if !ok {
			s = string(raw) // a number
		}
		q, err := resource.ParseQuantity(s)
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

func (d *Decoder) podStatus(s *corev1.PodStatus, w *rawjson.Walker) (told Fields) {
	if !w.AtObject() {
		*s, told = corev1.PodStatus{}, podStatus
	}
	for name := range w.Members() {
		switch string(name) {
		case "phase":
			told |= Phase
			s.Phase = corev1.PodPhase(d.word(w))
			continue
		case "conditions":
			told |= Conditions
			s.Conditions = s.Conditions[:0]
			for range w.Elements() {
				s.Conditions = append(s.Conditions, d.podCondition(w))
			}
			continue
		}
		if d.Brief {
			w.Value()
			continue
		}
		switch string(name) {
		case "podIP":
			s.PodIP = text(w)
		case "observedGeneration":
			s.ObservedGeneration = number(w)
		case "startTime":
			s.StartTime = moment(w)
		case "containerStatuses":
			s.ContainerStatuses = d.containerStatuses(s.ContainerStatuses[:0], w)
		case "initContainerStatuses":
			s.InitContainerStatuses = d.containerStatuses(s.InitContainerStatuses[:0], w)
		default:
			w.Value()
		}
	}
	return told
}

func (d *Decoder) podCondition(w *rawjson.Walker) (c corev1.PodCondition) {
	for name := range w.Members() {
		switch string(name) {
		case "type":
			c.Type = corev1.PodConditionType(d.word(w))
		case "status":
			c.Status = corev1.ConditionStatus(d.word(w))
		case "reason":
			c.Reason = d.word(w)
		case "message":
			c.Message = d.word(w)
		case "observedGeneration":
			c.ObservedGeneration = number(w)
		case "lastTransitionTime":
			if raw := w.Value(); !d.Brief {
				c.LastTransitionTime.Time = Time(raw)
			}
		default:
			w.Value()
		}
	}
	return c
}

func (d *Decoder) containerStatuses(all []corev1.ContainerStatus, w *rawjson.Walker) []corev1.ContainerStatus {
	for range w.Elements() {
		all = append(all, d.containerStatus(w))
	}
	return all
}

func (d *Decoder) containerStatus(w *rawjson.Walker) (c corev1.ContainerStatus) {
	for name := range w.Members() {
		switch string(name) {
		case "name":
			c.Name = d.word(w)
		case "ready":
			c.Ready = string(w.Value()) == "true"
		case "restartCount":
			c.RestartCount = small(w)
		case "image":
			c.Image = d.word(w)
		case "imageID":
			c.ImageID = d.word(w)
		case "containerID":
			c.ContainerID = text(w)
		case "state":
			c.State = d.containerState(w)
		case "lastState":
			c.LastTerminationState = d.containerState(w)
		case "resources":
			if w.AtObject() {
				r := resources(w)
				c.Resources = &r
			} else {
				w.Value()
			}
		default:
			w.Value()
		}
	}
	return c
}

func (d *Decoder) containerState(w *rawjson.Walker) (s corev1.ContainerState) {
	for name := range w.Members() {
		if !w.AtObject() {
			w.Value()
			continue
		}
		var one struct {
			reason, message   string
			started, finished []byte
		}
		state := string(name)
		for name := range w.Members() {
			switch string(name) {
			case "reason":
				one.reason = d.word(w)
			case "message":
				one.message = d.word(w)
			case "startedAt":
				one.started = w.Value()
			case "finishedAt":
				one.finished = w.Value()
			default:
				w.Value()
			}
		}
		switch state {
		case "running":
			s.Running = &corev1.ContainerStateRunning{}
			s.Running.StartedAt.Time = Time(one.started)
		case "waiting":
			s.Waiting = &corev1.ContainerStateWaiting{Reason: one.reason, Message: one.message}
		case "terminated":
			s.Terminated = &corev1.ContainerStateTerminated{Reason: one.reason, Message: one.message}
			s.Terminated.StartedAt.Time, s.Terminated.FinishedAt.Time = Time(one.started), Time(one.finished)
		}
	}
	return s
}
