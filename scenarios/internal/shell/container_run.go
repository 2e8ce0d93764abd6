package shell

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// kept is the number of heartbeats that a log keeps; older ones are rotated away.
const kept = 10_000

// A containerRun is one run of a container, from its start to its end, as its pod tells it.
type containerRun struct {
	uid       string
	container string
	heartbeat time.Duration
	start     time.Time
	over      bool
	end       time.Time // if it is over
	events    []line
}

// A line of a log. Heartbeats have a number, everything else has 0.
type line struct {
	at   time.Time
	beat int
	text string
}

// containerRunOf finds the run of a container that a log is wanted of. Its errors say what a kubelet's say
// (k8s.io/kubernetes, pkg/kubelet/kubelet_pods.go, validateContainerLogStatus).
func containerRunOf(pod *corev1.Pod, container string, o api.ContainerLogOpts, heartbeat time.Duration) (containerRun, error) {
	c, ok := status(pod, container)
	if !ok {
		return containerRun{}, badRequest(fmt.Sprintf("container %q in pod %q is not available", container, pod.Name))
	}
	l := containerRun{uid: string(pod.UID), container: container, heartbeat: heartbeat}
	ended := c.State.Terminated
	switch {
	case o.Previous:
		if ended = c.LastTerminationState.Terminated; ended == nil {
			return containerRun{}, badRequest(fmt.Sprintf("previous terminated container %q in pod %q not found", container, pod.Name))
		}
	case c.State.Running != nil:
		l.start = c.State.Running.StartedAt.Time
	case ended != nil:
	case c.LastTerminationState.Terminated != nil:
		ended = c.LastTerminationState.Terminated
	case c.State.Waiting != nil:
		return containerRun{}, badRequest(fmt.Sprintf("container %q in pod %q is waiting to start: %s", container, pod.Name, c.State.Waiting.Reason))
	default:
		return containerRun{}, badRequest(fmt.Sprintf("container %q in pod %q is waiting to start - no logs yet", container, pod.Name))
	}
	if ended != nil {
		l.over, l.start, l.end = true, ended.StartedAt.Time, ended.FinishedAt.Time
	}
	if l.start.IsZero() {
		l.start = pod.CreationTimestamp.Time
	}
	if l.over && l.end.Before(l.start) {
		l.end = l.start
	}
	l.say(l.start, fmt.Sprintf("started %s as container %s of pod %s/%s on node %s", c.Image, container, pod.Namespace, pod.Name, pod.Spec.NodeName))
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			l.say(condition.LastTransitionTime.Time, "ready")
		}
	}
	if pod.DeletionTimestamp != nil {
		grace := time.Duration(0)
		if pod.DeletionGracePeriodSeconds != nil {
			grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
		}
		l.say(pod.DeletionTimestamp.Add(-grace), fmt.Sprintf("received SIGTERM, %s until SIGKILL", grace))
	}
	if ended != nil {
		l.say(l.end, strings.TrimSpace(fmt.Sprintf("ended with exit code %d %s", ended.ExitCode, ended.Reason)))
	}
	return l, nil
}

// say adds an event, if it is of this run.
func (l *containerRun) say(at time.Time, text string) {
	if at.Before(l.start) || l.over && at.After(l.end) {
		return
	}
	l.events = append(l.events, line{at: at, text: text})
}

// lines are those up to a time, in its order, with the heartbeats after the given one.
func (l containerRun) lines(after int, until time.Time) []line {
	if l.over && until.After(l.end) {
		until = l.end
	}
	var all []line
	for _, e := range l.events {
		if !e.at.After(until) {
			all = append(all, e)
		}
	}
	for k := max(after+1, l.heartbeats(until)-kept+1); k <= l.heartbeats(until); k++ {
		if b := l.heartbeatAt(k); !b.at.After(until) {
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.beat, b.beat)) })
	return all
}

// heartbeats is the number of heartbeats that may have been by a time.
func (l containerRun) heartbeats(until time.Time) int {
	return int(max(0, until.Sub(l.start)) / l.heartbeat)
}

// heartbeatAt is the heartbeat of that number, from 1, up to a quarter of the interval late.
func (l containerRun) heartbeatAt(k int) line {
	draw := hash(l.uid, l.container, "beat", fmt.Sprint(k))
	late := time.Duration(draw % uint64(l.heartbeat/4+1))
	return line{
		at: l.start.Add(time.Duration(k)*l.heartbeat + late).Truncate(time.Microsecond), beat: k,
		text: fmt.Sprintf("heartbeat %d: %d requests in %s, slowest %d ms", k, 20+draw>>8%180, l.heartbeat, 3+draw>>20%90),
	}
}

// hash draws a number for some words, the same one everywhere.
func hash(words ...string) uint64 {
	h := fnv.New64a()
	for _, w := range words {
		_, _ = h.Write([]byte(w))
		_, _ = h.Write([]byte{0})
	}
	n := h.Sum64() // whose high bits hardly depend on the last word; the finalizer of MurmurHash3 mends that
	n = (n ^ n>>33) * 0xff51afd7ed558ccd
	n = (n ^ n>>33) * 0xc4ceb9fe1a85ec53
	return n ^ n>>33
}
