package trigger

import (
	"bytes"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
)

var (
	marksDisruption = []byte(`"` + corev1.DisruptionTarget + `"`)
	marksDeletion   = []byte(`"deletionTimestamp"`)
)

// window is the time in which evictions are counted.
const window = time.Minute

// pod takes an event of a pod. Nearly all of them are of pods that nobody evicts.
func (d *Decider) pod(at time.Time, ev *timeline.Event) {
	nodeOf, known := d.pods[ev.UID]
	if ev.Type == timeline.Deleted {
		if known {
			delete(d.pods, ev.UID)
		} else {
			nodeOf = rawjson.Text(ev.Object, "spec", "nodeName")
		}
		if n := d.nodes[nodeOf]; n != nil && n.underWay() {
			d.happened(at, n.group)
		}
		return
	}
	if known {
		return
	}
	evicted := bytes.Contains(ev.Object, marksDisruption)
	if !evicted && !bytes.Contains(ev.Object, marksDeletion) {
		return
	}
	reason, when := disruption(ev.Object)
	if reason == "" && rawjson.Text(ev.Object, "metadata", "deletionTimestamp") == "" {
		return
	}
	nodeOf = rawjson.Text(ev.Object, "spec", "nodeName")
	d.pods[ev.UID] = nodeOf
	n := d.nodes[nodeOf]
	if n == nil || !d.synced[ev.Resource] {
		return
	}
	if reason == "" || reason == corev1.PodReasonPreemptionByScheduler {
		if n.underWay() {
			d.happened(at, n.group)
		}
		return
	}
	who := fmt.Sprintf("pod %s/%s of node %s was evicted", ev.Namespace, ev.Name, nodeOf)
	if n.underWay() {
		d.begin(at, n.group, n.found, trigger(ev, Evictions, when, who))
		return
	}
	recent := append(since(d.recent[n.group], at.Add(-window)), at)
	if d.recent[n.group] = recent; len(recent) >= d.options.Evictions {
		d.begin(at, n.group, false, trigger(ev, Evictions, when, fmt.Sprintf("%s, number %d of the group within a minute", who, len(recent))))
		delete(d.recent, n.group)
	}
}

// since leaves out the times up to one.
func since(times []time.Time, from time.Time) []time.Time {
	for len(times) > 0 && !times[0].After(from) {
		times = times[1:]
	}
	return times
}

// disruption returns why a pod is about to be ended, "" where nothing says so (KEP-3329, condition DisruptionTarget).
func disruption(pod []byte) (reason string, when time.Time) {
	for c := range rawjson.Elements(rawjson.Get(pod, "status", "conditions")) {
		if rawjson.Text(c, "type") == string(corev1.DisruptionTarget) && rawjson.Text(c, "status") == string(corev1.ConditionTrue) {
			when, _ = time.Parse(time.RFC3339, rawjson.Text(c, "lastTransitionTime")) // zero where it isn't one
			return rawjson.Text(c, "reason"), when
		}
	}
	return "", time.Time{}
}
