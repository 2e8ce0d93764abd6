package invariant

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What holds for a pod.
var (
	terminalPhase = &Invariant{
		Name:     "terminal-phase",
		Sentence: "A pod that is Succeeded or Failed stays so.",
		Source:   "kubelet, pkg/kubelet/kubelet_pods.go, generateAPIPodStatus; Kubernetes documentation, Pod Lifecycle",
	}
	readyRuns = &Invariant{
		Name:     "ready-runs",
		Sentence: "A Pending pod isn't Ready.",
		Source:   "kubelet, pkg/kubelet/status/generate.go, GeneratePodReadyCondition",
	}
	runningIsBound = &Invariant{
		Name:     "running-is-bound",
		Sentence: "A Running pod has a node, and so has one whose condition PodScheduled is True.",
		Source:   "kubernetes, pkg/registry/core/pod/storage/storage.go, BindingREST.setPodNodeAndMetadata",
	}
	startAfterCreation = &Invariant{
		Name:     "start-after-creation",
		Sentence: "status.startTime isn't before the pod's creation, but for static pods.",
		Source:   "kubelet, pkg/kubelet/kubelet_pods.go: set when the kubelet first sees the pod",
	}
)

var podInvariants = []*Invariant{terminalPhase, readyRuns, runningIsBound, startAfterCreation}

// trackedPod holds what is remembered of a pod.
type trackedPod struct {
	node       string
	host       *host // of node; nil while there is none
	phase      string
	conditions []trackedCondition
	ready      bool
	daemon     bool
	mirror     bool
	disrupted  string // reason of DisruptionTarget while it is True
	containers []trackedContainer
	spec       trackedSpec
	ip         string
	rebuilt    bool      // the sandbox was seen down since the address was noted
	ending     time.Time // deletionTimestamp for which DELETED was asked
	covering   covering
	moves      bool // a drain has to move it; counted only under RollLimits
	reported   bool // and it has been told to go
}

func (p *trackedPod) ended() bool {
	return p.phase == string(corev1.PodSucceeded) || p.phase == string(corev1.PodFailed)
}

func (c *Checker) pod(h *trackedObject, o *corev1.Pod, s *step) {
	p := h.pod
	if p == nil {
		p = c.memory.pods.take()
		*p = trackedPod{conditions: p.conditions[:0], containers: p.containers[:0], covering: covering{by: p.covering.by[:0]}}
		h.pod = p
	}
	_, p.mirror = o.Annotations[corev1.MirrorPodAnnotationKey]
	p.daemon = false
	for i := range o.OwnerReferences {
		p.daemon = p.daemon || o.OwnerReferences[i].Kind == "DaemonSet"
	}
	wasEnded, wasReady, wasPhase, wasDisrupted := p.ended(), p.ready, p.phase, p.disrupted
	p.phase = string(o.Status.Phase)
	if wasEnded && p.phase != wasPhase {
		c.report(h, terminalPhase, "phase "+p.phase+" after "+wasPhase, "it to stay")
	}
	c.podConditions(h, o, s)
	if p.ready && p.phase == string(corev1.PodPending) {
		c.report(h, readyRuns, "Ready while "+p.phase, "Ready False until it runs")
	}
	c.containers(h, o, s)
	c.inPlace(h, o)
	if t := timeOf(o.Status.StartTime); !t.IsZero() {
		c.notFuture(h, "startTime", "", t)
		if !p.mirror && t.Before(h.created.Add(-time.Second-c.opts.Slack)) {
			c.report(h, startAfterCreation, "startTime "+stamp(t)+", created "+stamp(h.created), "it not before the creation")
		}
	}
	c.bind(h, o, s)
	if s.Type != ChangeDeleted {
		c.endingPod(h)
	}
	if p.node == "" && p.phase == string(corev1.PodRunning) {
		c.report(h, runningIsBound, "phase Running without spec.nodeName", "a node")
	}
	if p.node == "" {
		if k := findCondition(p.conditions, string(corev1.PodScheduled)); k != nil && k.status == string(corev1.ConditionTrue) {
			c.report(h, runningIsBound, "PodScheduled True without spec.nodeName", "a node")
		}
	}
	if p.disrupted != wasDisrupted && p.disrupted != "" && !s.first && !s.jump {
		running := wasPhase == string(corev1.PodRunning) && wasReady
		c.disruption(h, o, running)
	}
	c.rollPod(h)
	c.cover(h, o.Labels)
}

func (c *Checker) podConditions(h *trackedObject, o *corev1.Pod, s *step) {
	now := c.room[:0]
	p := h.pod
	p.ready, p.disrupted = false, ""
	for i := range o.Status.Conditions {
		k := &o.Status.Conditions[i]
		now = append(now, trackedCondition{typ: string(k.Type), status: string(k.Status), transition: k.LastTransitionTime.Time})
		if k.ObservedGeneration > h.generation {
			c.report(h, observedNotAhead, "observedGeneration "+itoa(k.ObservedGeneration)+" of "+string(k.Type)+" at generation "+itoa(h.generation), "no greater one")
		}
		if k.Status != corev1.ConditionTrue {
			if k.Type == corev1.PodReadyToStartContainers {
				p.rebuilt = true
			}
			continue
		}
		switch k.Type {
		case corev1.PodReady:
			p.ready = true
		case corev1.DisruptionTarget:
			p.disrupted = k.Reason
		}
	}
	if o.Status.ObservedGeneration > h.generation {
		c.report(h, observedNotAhead, "status.observedGeneration "+itoa(o.Status.ObservedGeneration)+" at generation "+itoa(h.generation), "no greater one")
	}
	c.room = now
	p.conditions = c.conditions(h, s.jump, p.conditions, now)
}
