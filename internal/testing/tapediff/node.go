package tapediff

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/timeline"
)

// kubeletConditions are posted by the kubelet in one write (pkg/kubelet/kubelet_node_status.go,
// defaultNodeStatusFuncs), and taken over in one write by the node lifecycle controller.
var kubeletConditions = map[corev1.NodeConditionType]bool{
	corev1.NodeReady: true, corev1.NodeMemoryPressure: true, corev1.NodeDiskPressure: true, corev1.NodePIDPressure: true,
}

// lifecycleTaints are the keys of the node lifecycle controller (pkg/controller/nodelifecycle/
// node_lifecycle_controller.go, nodeConditionToTaintKeyStatusMap and the two taint templates). Admission puts the
// first not-ready on a node, inside of its creation.
var lifecycleTaints = map[string]bool{
	corev1.TaintNodeNotReady: true, corev1.TaintNodeUnreachable: true, corev1.TaintNodeUnschedulable: true,
	corev1.TaintNodeMemoryPressure: true, corev1.TaintNodeDiskPressure: true, corev1.TaintNodePIDPressure: true,
	corev1.TaintNodeNetworkUnavailable: true,
}

func (in *reading) node(ev timeline.Event) error {
	var node corev1.Node
	if err := decode(ev, &node); err != nil {
		return err
	}
	h := in.of("Node", ev, &in.nodes)
	if h.created.IsZero() {
		h.created = node.CreationTimestamp.Time
	}
	life := facts{"added": ""}
	switch {
	case ev.Type == timeline.Deleted:
		life["deleted"] = ""
	case node.DeletionTimestamp != nil:
		life["deleting"] = ""
	}
	h.write("life", ev.At, life)
	delete(in.cordoned, ev.Name)
	if ev.Type == timeline.Deleted {
		h.gone, h.written = true, nil
		return nil // what it carries is the last state again
	}
	cordon := facts{}
	if node.Spec.Unschedulable {
		cordon["unschedulable"] = ""
		in.cordoned[ev.Name] = true
		in.tellBlocking(ev.At)
	}
	h.write("cordon", ev.At, cordon)
	labels := facts{}
	if value, ok := node.Labels[corev1.LabelNodeExcludeBalancers]; ok {
		labels[corev1.LabelNodeExcludeBalancers] = value
	}
	h.write("labels", ev.At, labels)
	in.conditions(h, ev.At, node.Status.Conditions)
	in.taints(h, ev.At, node.Spec.Taints)
	h.together(ev.At)
	return nil
}

func (in *reading) conditions(h *history, at time.Duration, list []corev1.NodeCondition) {
	kubelet, others := facts{}, map[string]facts{}
	for _, c := range list {
		if in.excluded.excludesCondition("Node", string(c.Type), c.Reason) {
			continue
		}
		says := in.says(string(c.Status), c.Reason, c.Message)
		if kubeletConditions[c.Type] {
			kubelet[string(c.Type)] = says
		} else {
			others[string(c.Type)] = facts{string(c.Type): says}
		}
	}
	h.write("conditions", at, kubelet)
	h.writeEach("condition ", at, others)
}

// says is a condition in short.
func (in *reading) says(status, reason, message string) string {
	text := status
	if reason != "" {
		text += " " + reason
	}
	if message != "" {
		text += fmt.Sprintf(" %q", class(message, in.named))
	}
	return text
}

func (in *reading) taints(h *history, at time.Duration, list []corev1.Taint) {
	lifecycle := map[string]facts{
		string(corev1.TaintEffectNoSchedule): {}, string(corev1.TaintEffectNoExecute): {},
	}
	others := map[string]facts{}
	for _, t := range list {
		effect := string(t.Effect)
		if in.excluded.excludes("Node", t.Key+":"+effect, Taints) {
			continue
		}
		var says []string
		if t.Value != "" {
			says = append(says, digits.ReplaceAllString(t.Value, "#"))
		}
		if t.TimeAdded != nil {
			says = append(says, "timeAdded")
		}
		into := lifecycle[effect]
		if !lifecycleTaints[t.Key] || into == nil {
			if into = others[t.Key]; into == nil {
				into = facts{}
				others[t.Key] = into
			}
		}
		into[t.Key+":"+effect] = strings.Join(says, " ")
	}
	for effect, now := range lifecycle {
		h.write("taints "+effect, at, now)
	}
	h.writeEach("taint ", at, others)
}

// writeEach writes tracks of which there may be any number, and those that hold nothing any more.
func (h *history) writeEach(prefix string, at time.Duration, now map[string]facts) {
	for track := range h.now {
		if name, ok := strings.CutPrefix(track, prefix); ok && now[name] == nil {
			h.write(track, at, facts{})
		}
	}
	for name, held := range now {
		h.write(prefix+name, at, held)
	}
}
