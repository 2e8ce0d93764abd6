package convert

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// event is found by its name: its reporters hold no object of it.
func (o *Observed) event(ev *timeline.Event, old, e *kube.Event) metav1.Object {
	name := eventName{ev.Namespace, ev.Name}
	to := o.eventsNamed[name]
	if to == nil || ev.Type == timeline.Added {
		if to == nil {
			to = o.events.take()
			o.eventsNamed[name] = to
		}
		*to = corev1.Event{ObjectMeta: begin(ev)}
	}
	to.ResourceVersion = ev.RV
	if ev.Type == timeline.Deleted {
		delete(o.eventsNamed, name)
		o.events.drop(to)
	}
	if e == nil {
		return to
	}
	to.CreationTimestamp.Time = second(e.Created)
	to.Reason, to.Message, to.Type, to.Count = e.Reason, e.Message, e.Type, small(e.Count)
	to.FirstTimestamp.Time, to.LastTimestamp.Time = second(e.First), second(e.Last)
	if old == nil {
		about := &e.Involved
		to.InvolvedObject = corev1.ObjectReference{Kind: about.Kind, Namespace: about.Namespace, Name: about.Name, UID: types.UID(about.UID)}
		to.Source = corev1.EventSource{Component: e.Component, Host: e.Host}
		to.EventTime, to.ReportingController, to.ReportingInstance = micro(e.EventTime), e.Controller, e.Instance
		old = &noEvent
	}
	if old.SeriesCount != e.SeriesCount {
		to.Series = &corev1.EventSeries{Count: small(e.SeriesCount), LastObservedTime: micro(e.SeriesLast)}
	}
	return to
}

// noEvent is what an event was before it came.
var noEvent kube.Event
