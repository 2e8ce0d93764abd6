package kubejson

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Event decodes an Event of either of its two APIs, as the API server converts one
// of v1 into a core one (pkg/apis/events/v1/conversion.go of Kubernetes).
func (d *Decoder) Event(e *corev1.Event, raw []byte) {
	w := d.walk(raw)
	for name := range w.Members() {
		switch string(name) {
		case "metadata":
			d.meta(&e.ObjectMeta, &w)
		case "involvedObject", "regarding":
			e.InvolvedObject = d.reference(&w)
		case "reason":
			e.Reason = d.word(&w)
		case "message", "note":
			e.Message = text(&w)
		case "type":
			e.Type = d.word(&w)
		case "source", "deprecatedSource":
			e.Source = d.source(&w)
		case "reportingComponent", "reportingController":
			e.ReportingController = d.word(&w)
		case "reportingInstance":
			e.ReportingInstance = d.word(&w)
		case "firstTimestamp", "deprecatedFirstTimestamp":
			e.FirstTimestamp = instant(&w)
		case "lastTimestamp", "deprecatedLastTimestamp":
			e.LastTimestamp = instant(&w)
		case "eventTime":
			e.EventTime.Time = Time(w.Value())
		case "count", "deprecatedCount":
			e.Count = small(&w)
		case "series":
			e.Series = series(&w)
		default:
			w.Value()
		}
	}
}

func (d *Decoder) reference(w *rawjson.Walker) (o corev1.ObjectReference) {
	for name := range w.Members() {
		switch string(name) {
		case "kind":
			o.Kind = d.word(w)
		case "namespace":
			o.Namespace = d.word(w)
		case "name":
			o.Name = d.word(w)
		case "uid":
			o.UID = types.UID(text(w))
		default:
			w.Value()
		}
	}
	return o
}

func (d *Decoder) source(w *rawjson.Walker) (s corev1.EventSource) {
	for name := range w.Members() {
		switch string(name) {
		case "component":
			s.Component = d.word(w)
		case "host":
			s.Host = d.word(w)
		default:
			w.Value()
		}
	}
	return s
}

func series(w *rawjson.Walker) *corev1.EventSeries {
	if !w.AtObject() {
		w.Value()
		return nil
	}
	s := &corev1.EventSeries{}
	for name := range w.Members() {
		switch string(name) {
		case "count":
			s.Count = small(w)
		case "lastObservedTime":
			s.LastObservedTime.Time = Time(w.Value())
		default:
			w.Value()
		}
	}
	return s
}
