package tapediff

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// podHistory holds what only pods have.
type podHistory struct {
	workload string // "ReplicaSet default/web"
	fate     string
	passed   bool // its end isn't compared

	ready time.Duration // when it was ready first, where it has a start
	began bool          // its run has begun
	ends  time.Duration // when its end began
	ended bool

	started time.Duration // when a container was started last

	told map[string]bool // the Events of its first start, by type and reason
}

// schedulerConditions are those of the scheduler; every other condition but DisruptionTarget is the kubelet's.
var schedulerConditions = map[corev1.PodConditionType]bool{corev1.PodScheduled: true}

func (in *reading) podEvent(ev timeline.Event) error {
	var pod corev1.Pod
	if err := decode(ev, &pod); err != nil {
		return err
	}
	h := in.of("Pod", ev, &in.pods)
	if h.pod == nil {
		hash := pod.Labels["pod-template-hash"]
		if hash != "" {
			in.hashes[hash] = true
		}
		h.pod = &podHistory{workload: workload(&pod, hash), fate: "kept"}
		h.chapter = start
		if h.there {
			h.chapter, h.pod.began = run, true
		}
	}
	in.enterEnd(h, ev, &pod)
	h.gone = ev.Type == timeline.Deleted
	if ev.Type != timeline.Deleted {
		kubelet, scheduler := in.podFacts(&pod)
		h.write("kubelet", ev.At, kubelet)
		h.write("scheduler", ev.At, scheduler)
	}
	h.write("end", ev.At, in.ending(ev, &pod))
	h.together(ev.At)
	if h.chapter == start && podReady(&pod) {
		h.chapter, h.pod.began, h.pod.ready = run, true, ev.At
		// The run begins with the state in which the start has left the pod.
		for _, track := range []string{"kubelet", "scheduler"} {
			now := h.now[track]
			h.now[track] = nil
			h.write(track, ev.At, now)
		}
		h.written = nil
	}
	return nil
}

// enterEnd opens the last chapter of a pod that is on its way out, and names its fate.
func (in *reading) enterEnd(h *history, ev timeline.Event, pod *corev1.Pod) {
	target := condition(pod, corev1.DisruptionTarget)
	leaving := target != nil && target.Status == corev1.ConditionTrue
	if h.pod.ended || !leaving && pod.DeletionTimestamp == nil && ev.Type != timeline.Deleted {
		return
	}
	h.chapter, h.pod.ended, h.pod.ends = end, true, ev.At
	h.pod.fate = "deleted"
	switch {
	case leaving:
		h.pod.fate = fateOf(target.Reason)
	case pod.Spec.NodeName == "":
		h.pod.fate = Unbound
		h.pod.passed = in.excluded.excludes("Pod", Unbound, Ends)
	}
}

// fateOf puts the reason of a DisruptionTarget into a word.
func fateOf(reason string) string {
	switch reason {
	case corev1.PodReasonTerminationByKubelet:
		return "ended by the kubelet"
	case "EvictionByEvictionAPI": // pkg/registry/core/pod/storage/eviction.go
		return "evicted"
	case "DeletionByTaintManager": // pkg/controller/tainteviction/taint_eviction.go
		return "evicted by a taint"
	case "DeletionByPodGC": // pkg/controller/podgc/gc_controller.go
		return "lost with the node"
	case corev1.PodReasonPreemptionByScheduler:
		return "preempted"
	}
	return "ended by " + reason
}

func (in *reading) podFacts(pod *corev1.Pod) (kubelet, scheduler facts) {
	kubelet, scheduler = facts{"phase": string(pod.Status.Phase)}, facts{}
	if pod.Spec.NodeName != "" {
		scheduler["bound"] = ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget || in.excluded.excludesCondition("Pod", string(c.Type), c.Reason) {
			continue
		}
		into := kubelet
		if schedulerConditions[c.Type] {
			into = scheduler
		}
		into[string(c.Type)] = in.says(string(c.Status), c.Reason, c.Message)
	}
	return kubelet, scheduler
}

func (in *reading) ending(ev timeline.Event, pod *corev1.Pod) facts {
	now := facts{}
	target := condition(pod, corev1.DisruptionTarget)
	if target != nil && !in.excluded.excludesCondition("Pod", string(target.Type), target.Reason) {
		now[string(target.Type)] = in.says(string(target.Status), target.Reason, target.Message)
	}
	if pod.DeletionTimestamp != nil {
		now["deleting"] = ""
		if grace := pod.DeletionGracePeriodSeconds; grace != nil {
			now["deleting"] = fmt.Sprintf("grace %ds", *grace)
		}
	}
	if ev.Type == timeline.Deleted {
		now["deleted"] = ""
	}
	return now
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func podReady(pod *corev1.Pod) bool {
	ready := condition(pod, corev1.PodReady)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

// workload is the kind, namespace and name of a pod's controller. A ReplicaSet goes by the name of its Deployment,
// since the hash after it says nothing; a pod without controller goes by its own name.
func workload(pod *corev1.Pod, hash string) string {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return "Pod " + pod.Namespace + "/" + pod.Name
	}
	name := owner.Name
	if hash != "" {
		name = strings.TrimSuffix(name, "-"+hash)
	}
	return owner.Kind + " " + pod.Namespace + "/" + name
}
