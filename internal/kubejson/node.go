package kubejson

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	corev1 "k8s.io/api/core/v1"
)

// Node decodes a Node. It reuses the lists of taints and conditions.
func (d *Decoder) Node(n *corev1.Node, raw []byte) (told Fields) {
	w := d.walk(raw)
	for name := range w.Members() {
		switch string(name) {
		case "metadata":
			told |= d.meta(&n.ObjectMeta, &w)
		case "spec":
			told |= d.nodeSpec(&n.Spec, &w)
		case "status":
			told |= d.nodeStatus(&n.Status, &w)
		default:
			w.Value()
		}
	}
	return told
}

func (d *Decoder) nodeSpec(s *corev1.NodeSpec, w *rawjson.Walker) (told Fields) {
	if !w.AtObject() {
		*s, told = corev1.NodeSpec{}, nodeSpec
	}
	for name := range w.Members() {
		switch string(name) {
		case "unschedulable":
			told |= Unschedulable
			s.Unschedulable = string(w.Value()) == "true"
		case "providerID":
			s.ProviderID = text(w)
		case "podCIDR":
			s.PodCIDR = text(w)
		case "taints":
			told |= Taints
			s.Taints = s.Taints[:0]
			for range w.Elements() {
				s.Taints = append(s.Taints, d.taint(w))
			}
		default:
			w.Value()
		}
	}
	return told
}

func (d *Decoder) taint(w *rawjson.Walker) (t corev1.Taint) {
	for name := range w.Members() {
		switch string(name) {
		case "key":
			t.Key = d.word(w)
		case "value":
			t.Value = d.word(w)
		case "effect":
			t.Effect = corev1.TaintEffect(d.word(w))
		case "timeAdded":
			t.TimeAdded = moment(w)
		default:
			w.Value()
		}
	}
	return t
}

func (d *Decoder) nodeStatus(s *corev1.NodeStatus, w *rawjson.Walker) (told Fields) {
	if !w.AtObject() {
		*s, told = corev1.NodeStatus{}, nodeStatus
	}
	for name := range w.Members() {
		switch string(name) {
		case "nodeInfo":
			told |= d.nodeInfo(&s.NodeInfo, w)
		case "conditions":
			told |= Conditions
			s.Conditions = s.Conditions[:0]
			for range w.Elements() {
				s.Conditions = append(s.Conditions, d.nodeCondition(w))
			}
		default:
			w.Value()
		}
	}
	return told
}

func (d *Decoder) nodeInfo(i *corev1.NodeSystemInfo, w *rawjson.Walker) (told Fields) {
	if !w.AtObject() {
		*i, told = corev1.NodeSystemInfo{}, nodeInfo
	}
	for name := range w.Members() {
		switch string(name) {
		case "kubeletVersion":
			told |= KubeletVersion
			i.KubeletVersion = d.word(w)
		case "osImage":
			told |= OSImage
			i.OSImage = d.word(w)
		default:
			w.Value()
		}
	}
	return told
}

func (d *Decoder) nodeCondition(w *rawjson.Walker) (c corev1.NodeCondition) {
	for name := range w.Members() {
		switch string(name) {
		case "type":
			c.Type = corev1.NodeConditionType(d.word(w))
		case "status":
			c.Status = corev1.ConditionStatus(d.word(w))
		case "reason":
			c.Reason = d.word(w)
		case "message":
			c.Message = d.word(w)
		case "lastHeartbeatTime":
			if raw := w.Value(); !d.Brief {
				c.LastHeartbeatTime.Time = Time(raw)
			}
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
