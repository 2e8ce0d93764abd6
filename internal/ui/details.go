package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/replay"
)

// resources that the details of a node are read from.
var (
	nodes  = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	pods   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	events = schema.GroupVersionResource{Version: "v1", Resource: "events"}
)

// nodeDetails reads what a cluster has of a node at a moment, without asking a fault injector: a user who looks changes
// nothing for its clients.
func nodeDetails(c *replay.Cluster, node string, now time.Time) *render.Details {
	r := detailsReader{cluster: c, now: now, details: &render.Details{Node: node}}
	r.node(node)
	mine := r.pods(node)
	r.events(node, mine)
	return r.details
}

type detailsReader struct {
	cluster *replay.Cluster
	decoder kubejson.Decoder
	now     time.Time
	details *render.Details
}

// since spells an age as kubectl's columns do (printers.go, translateTimestampSince).
func (r *detailsReader) since(t metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(r.now.Sub(t.Time), 0))
}

func (r *detailsReader) node(name string) {
	d := r.details
	o, _, err := r.cluster.GetUnfaulted(nodes, "", name)
	if err != nil {
		d.Lacks = append(d.Lacks, "no such node now")
		return
	}
	var n corev1.Node
	r.decoder.Node(&n, o.Raw())
	n.Labels = o.Labels()
	add := func(what, is string) {
		if is != "" {
			d.Facts = append(d.Facts, what+is)
		}
	}
	add("", n.Labels[corev1.LabelInstanceTypeStable])
	add("", n.Labels[corev1.LabelTopologyZone])
	add("kubelet ", n.Status.NodeInfo.KubeletVersion)
	add("age ", r.since(n.CreationTimestamp))
	if n.DeletionTimestamp != nil {
		add("deleted for ", r.since(*n.DeletionTimestamp))
	}
	if n.Spec.Unschedulable {
		add("", "unschedulable")
	}
	for _, t := range n.Spec.Taints {
		d.Taints = append(d.Taints, t.ToString())
	}
	for _, c := range n.Status.Conditions {
		well := corev1.ConditionFalse // of what is a trouble where it is true, such as MemoryPressure
		if c.Type == corev1.NodeReady {
			well = corev1.ConditionTrue
		}
		d.Conditions = append(d.Conditions, render.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
			For: r.since(c.LastTransitionTime), Trouble: c.Status != well,
		})
	}
	slices.SortStableFunc(d.Conditions, func(a, b render.Condition) int {
		ready := func(c render.Condition) int {
			if c.Type == string(corev1.NodeReady) {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(ready(a), ready(b)), strings.Compare(a.Type, b.Type))
	})
}

// pods lists the pods on a node, and returns the names by which Events call them.
func (r *detailsReader) pods(node string) map[string]bool {
	mine := map[string]bool{}
	list, err := r.cluster.ListUnfaulted(pods, "", metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String()})
	if err != nil {
		r.details.Lacks = append(r.details.Lacks, "the tape has no pods")
		return mine
	}
	for _, o := range list.Items {
		var p corev1.Pod
		r.decoder.Pod(&p, o.Raw())
		name := o.Namespace() + "/" + o.Name()
		mine[name] = true
		v := render.Pod{Name: name, Status: podStatus(&p), For: r.since(p.CreationTimestamp)}
		ready := 0
		for i := range p.Status.ContainerStatuses {
			if c := &p.Status.ContainerStatuses[i]; c.Ready {
				ready++
			}
			v.Restarts += int(p.Status.ContainerStatuses[i].RestartCount)
		}
		if reported := len(p.Status.ContainerStatuses); reported > 0 { // else the tape doesn't say
			v.Ready = fmt.Sprintf("%d/%d", ready, max(len(p.Spec.Containers), reported))
		}
		v.Trouble = v.Status != "Running" && v.Status != "Completed" && v.Status != "Succeeded"
		r.details.Pods = append(r.details.Pods, v)
	}
	return mine
}

// podStatus is a pod in a word, a short form of kubectl's column STATUS (pkg/printers/internalversion/printers.go,
// printPod): its deletion, else why its first container that isn't well waits or has ended, else its own reason or phase.
func podStatus(p *corev1.Pod) string {
	status := cmp.Or(p.Status.Reason, string(p.Status.Phase), "Unknown")
	if p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded {
		return "Terminating"
	}
	for i := range p.Status.ContainerStatuses {
		switch s := &p.Status.ContainerStatuses[i].State; {
		case s.Waiting != nil && s.Waiting.Reason != "":
			return s.Waiting.Reason
		case s.Terminated != nil && s.Terminated.Reason != "":
			return s.Terminated.Reason
		}
	}
	return status
}

// mostEvents bounds the Events of a node that are shown: the latest.
const mostEvents = 100

// events lists the Events about a node and its pods, the latest first.
func (r *detailsReader) events(node string, mine map[string]bool) {
	list, err := r.cluster.ListUnfaulted(events, "", metav1.ListOptions{})
	if err != nil {
		r.details.Lacks = append(r.details.Lacks, "the tape has no Events")
		return
	}
	type dated struct {
		at time.Time
		render.Event
	}
	var all []dated
	for _, o := range list.Items {
		var e corev1.Event
		r.decoder.Event(&e, o.Raw())
		about := e.InvolvedObject.Kind == "Node" && e.InvolvedObject.Name == node
		if !about && (e.InvolvedObject.Kind != "Pod" || !mine[e.InvolvedObject.Namespace+"/"+e.InvolvedObject.Name]) {
			continue
		}
		last := e.LastTimestamp
		if e.Series != nil {
			last = metav1.Time(e.Series.LastObservedTime)
		}
		if last.IsZero() {
			last = metav1.Time(e.EventTime)
		}
		if last.IsZero() {
			last = e.CreationTimestamp
		}
		shown := render.Event{Ago: r.since(last), Reason: e.Reason, Message: e.Message, Warning: e.Type == corev1.EventTypeWarning}
		if !about {
			shown.Object = e.InvolvedObject.Namespace + "/" + e.InvolvedObject.Name
		}
		all = append(all, dated{last.Time, shown})
	}
	slices.SortStableFunc(all, func(a, b dated) int { return b.at.Compare(a.at) })
	for _, e := range all[:min(len(all), mostEvents)] {
		r.details.Events = append(r.details.Events, e.Event)
	}
}
