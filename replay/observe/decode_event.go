package observe

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// event hands an Event to the feed, of either of its two APIs.
func (f *Follower) event(ev *timeline.Event) ([]noderoll.Entry, error) {
	if ev.Type == timeline.Deleted {
		return f.feed.DeleteEvent(f.at, ev.Namespace, ev.Name), nil
	}
	var o corev1.Event
	if rawjson.Text(ev.Object, "apiVersion") == eventsv1.SchemeGroupVersion.String() {
		var e eventsv1.Event
		if err := json.Unmarshal(ev.Object, &e); err != nil {
			return nil, unreadable(ev, err)
		}
		o = coreEvent(&e)
	} else if err := json.Unmarshal(ev.Object, &o); err != nil {
		return nil, unreadable(ev, err)
	}
	return f.feed.SetEvent(f.at, noderoll.EventRecordFrom(&o)), nil
}

// coreEvent returns what the API server makes of a v1 Event where it is asked for a
// core one (pkg/apis/events/v1/conversion.go of Kubernetes), as far as a roll
// looks at it.
func coreEvent(e *eventsv1.Event) corev1.Event {
	o := corev1.Event{
		ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note, Type: e.Type,
		EventTime: e.EventTime, Source: e.DeprecatedSource, FirstTimestamp: e.DeprecatedFirstTimestamp,
		LastTimestamp: e.DeprecatedLastTimestamp, Count: e.DeprecatedCount, Action: e.Action,
		ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
	}
	if e.Series != nil {
		o.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return o
}
