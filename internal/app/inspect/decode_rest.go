package inspect

import (
	"encoding/json"

	"github.com/nodesim/nodesim/internal/rawjson"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func (d *decoder) budgetBody(spec, status []byte) {
	b := &d.budget
	for name, value := range rawjson.Members(spec) {
		switch string(name) {
		case "minAvailable":
			b.Spec.MinAvailable = amount(value)
		case "maxUnavailable":
			b.Spec.MaxUnavailable = amount(value)
		case "selector":
			b.Spec.Selector = d.selector(value)
		}
	}
	s := &b.Status
	for name, value := range rawjson.Members(status) {
		switch string(name) {
		case "observedGeneration":
			s.ObservedGeneration, _ = integer(value)
		case "disruptionsAllowed":
			s.DisruptionsAllowed = small(value)
		case "currentHealthy":
			s.CurrentHealthy = small(value)
		case "desiredHealthy":
			s.DesiredHealthy = small(value)
		case "expectedPods":
			s.ExpectedPods = small(value)
		case "disruptedPods":
			for pod, at := range rawjson.Members(value) {
				if s.DisruptedPods == nil {
					s.DisruptedPods = map[string]metav1.Time{}
				}
				s.DisruptedPods[string(pod)] = metav1.Time{Time: instant(at)}
			}
		case "conditions":
			for c := range rawjson.Elements(value) {
				observed, _ := integer(rawjson.Get(c, "observedGeneration"))
				s.Conditions = append(s.Conditions, metav1.Condition{
					Type: d.word(rawjson.Get(c, "type")), Status: metav1.ConditionStatus(d.word(rawjson.Get(c, "status"))), Reason: d.word(rawjson.Get(c, "reason")),
					ObservedGeneration: observed, LastTransitionTime: metav1.Time{Time: instant(rawjson.Get(c, "lastTransitionTime"))},
				})
			}
		}
	}
}

// selector reads a label selector; what is none is nil.
func (d *decoder) selector(raw []byte) *metav1.LabelSelector {
	if s, known := d.selectors[string(raw)]; known {
		return s
	}
	var s *metav1.LabelSelector
	if json.Unmarshal(raw, &s) != nil {
		s = nil
	}
	if len(d.selectors) < mostWords && len(raw) < 4096 {
		d.selectors[string(raw)] = s
	}
	return s
}

// amount reads a number or a percentage.
func amount(raw []byte) *intstr.IntOrString {
	if s, ok := rawjson.Unquote(raw); ok {
		v := intstr.FromString(s)
		return &v
	}
	if _, ok := integer(raw); !ok {
		return nil
	}
	v := intstr.FromInt32(small(raw))
	return &v
}

func (d *decoder) eventBody(raw []byte) {
	e := &d.event
	for name, value := range rawjson.Members(raw) {
		switch string(name) {
		case "involvedObject":
			e.InvolvedObject = corev1.ObjectReference{
				Kind: d.word(rawjson.Get(value, "kind")), Namespace: d.word(rawjson.Get(value, "namespace")),
				Name: rawjson.Text(value, "name"), UID: types.UID(rawjson.Text(value, "uid")),
			}
		case "reason":
			e.Reason = d.word(value)
		case "message":
			e.Message = text(value)
		case "type":
			e.Type = d.word(value)
		case "source":
			e.Source.Component = d.word(rawjson.Get(value, "component"))
		case "reportingComponent":
			e.ReportingController = d.word(value)
		case "firstTimestamp":
			e.FirstTimestamp = metav1.Time{Time: instant(value)}
		case "lastTimestamp":
			e.LastTimestamp = metav1.Time{Time: instant(value)}
		case "eventTime":
			e.EventTime = metav1.MicroTime{Time: instant(value)}
		case "count":
			e.Count = small(value)
		case "series":
			if rawjson.IsObject(value) {
				e.Series = &corev1.EventSeries{Count: small(rawjson.Get(value, "count")), LastObservedTime: metav1.MicroTime{Time: instant(rawjson.Get(value, "lastObservedTime"))}}
			}
		}
	}
}
