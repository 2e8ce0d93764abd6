package inspect

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (d *decoder) nodeSpec(raw []byte) {
	s := &d.node.Spec
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "unschedulable":
			s.Unschedulable = string(value) == "true"
		case "providerID":
			s.ProviderID = text(value)
		case "podCIDR":
			s.PodCIDR = text(value)
		case "taints":
			for t := range rawjson.Elements(value) {
				s.Taints = append(s.Taints, d.taint(t))
			}
		}
	}
}

func (d *decoder) taint(raw []byte) (t corev1.Taint) {
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "key":
			t.Key = d.word(value)
		case "value":
			t.Value = d.word(value)
		case "effect":
			t.Effect = corev1.TaintEffect(d.word(value))
		case "timeAdded":
			if at := instant(value); !at.IsZero() {
				t.TimeAdded = &metav1.Time{Time: at}
			}
		}
	}
	return t
}

func (d *decoder) nodeStatus(raw []byte) {
	s := &d.node.Status
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "nodeInfo":
			s.NodeInfo.KubeletVersion = d.word(rawjson.Get(value, "kubeletVersion"))
			s.NodeInfo.OSImage = d.word(rawjson.Get(value, "osImage"))
		case "conditions":
			for c := range rawjson.Elements(value) {
				s.Conditions = append(s.Conditions, d.nodeCondition(c))
			}
		}
	}
}

func (d *decoder) nodeCondition(raw []byte) (c corev1.NodeCondition) {
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "type":
			c.Type = corev1.NodeConditionType(d.word(value))
		case "status":
			c.Status = corev1.ConditionStatus(d.word(value))
		case "reason":
			c.Reason = d.word(value)
		case "lastHeartbeatTime":
			c.LastHeartbeatTime = metav1.Time{Time: instant(value)}
		case "lastTransitionTime":
			c.LastTransitionTime = metav1.Time{Time: instant(value)}
		}
	}
	return c
}
