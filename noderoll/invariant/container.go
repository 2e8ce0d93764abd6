package invariant

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// What holds for the containers of a pod.
var (
	restartsGrow = &Invariant{
		Name:     "restarts-grow",
		Sentence: "The restartCount of a container never decreases.",
		Source:   "kubelet, pkg/kubelet/kuberuntime/kuberuntime_container.go, startContainer: the count of before plus one",
	}
	podIPKept = &Invariant{
		Name:     "pod-ip-kept",
		Sentence: "A pod keeps its address while one of its containers goes on running: another address comes only with a new sandbox, for which all containers end.",
		Source:   "kubelet, pkg/kubelet/kuberuntime/kuberuntime_manager.go, SyncPod and determinePodSandboxIPs",
	}
	containerTimes = &Invariant{
		Name:     "container-times",
		Sentence: "A container finishes no earlier than it starts, and starts no earlier than its pod is created.",
		Source:   "api, core/v1/types.go, ContainerStateTerminated; kubelet, pkg/kubelet/kuberuntime/kuberuntime_container.go",
	}
)

var containerInvariants = []*Invariant{restartsGrow, podIPKept, containerTimes}

type trackedContainer struct {
	name     string
	restarts int32
	ran      int32 // restartCount of the run
	run      trackedRun
}

func (c *Checker) containers(h *trackedObject, o *corev1.Pod, s *step) {
	p := h.pod
	// goesOn is a container that goes on running as it did. No other one shows that the sandbox lives: after a reboot the others
	// may wait for init containers, with the counts of before.
	goesOn := ""
	var room [4]trackedContainer
	now := room[:0]
	old := indexed(p.containers, func(k *trackedContainer) string { return k.name })
	for i := range o.Status.ContainerStatuses {
		k := &o.Status.ContainerStatuses[i]
		is := trackedContainer{name: k.Name, restarts: k.RestartCount}
		var before trackedContainer
		if was := old.find(k.Name); was != nil {
			before = *was
			if k.RestartCount < was.restarts {
				c.report(h, restartsGrow, "restartCount "+strconv.Itoa(int(k.RestartCount))+" of "+k.Name+" after "+strconv.Itoa(int(was.restarts)), "no less")
			}
		}
		is.run, is.ran = c.renewed(h, k, &before)
		if before.name != "" && k.State.Running != nil && is.run == before.run && k.RestartCount == before.restarts {
			goesOn = k.Name
		}
		now = append(now, is)
		c.containerState(h, k.Name, &k.State)
		c.containerState(h, k.Name, &k.LastTerminationState)
	}
	p.containers = append(p.containers[:0], now...)
	ip := o.Status.PodIP
	if ip != "" && p.ip != "" && ip != p.ip && goesOn != "" && !p.rebuilt && !s.jump {
		c.report(h, podIPKept, "podIP "+ip+" after "+p.ip+", while "+goesOn+" goes on running", "it to stay while the sandbox lives")
	}
	if ip != "" && ip != p.ip {
		p.ip, p.rebuilt = ip, false
	}
}

func (c *Checker) containerState(h *trackedObject, name string, k *corev1.ContainerState) {
	if k.Running != nil {
		c.notFuture(h, "startedAt", name, k.Running.StartedAt.Time)
		started := k.Running.StartedAt.Time
		if early := !started.IsZero() && started.Before(h.created.Add(-c.opts.tolerance())); early && !h.pod.mirror {
			c.report(h, containerTimes, name+" started "+stamp(started)+" in a pod of "+stamp(h.created), "it not before the pod")
		}
	}
	if t := k.Terminated; t != nil {
		c.notFuture(h, "finishedAt", name, t.FinishedAt.Time)
		if !t.StartedAt.IsZero() && !t.FinishedAt.IsZero() && t.FinishedAt.Before(&t.StartedAt) {
			c.report(h, containerTimes, name+" finished "+stamp(t.FinishedAt.Time)+", started "+stamp(t.StartedAt.Time), "it to finish later")
		}
	}
}
