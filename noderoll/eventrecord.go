package noderoll

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// EventRecord holds what a roll needs to know of an Event object, of core/v1 or
// events.k8s.io.
type EventRecord struct {
	Namespace string // of the Event itself; Events about nodes live in "default"
	Name      string
	UID       string
	Type      string // "Warning", "Normal", or empty

	Kind            string // of the involved object
	ObjectNamespace string
	ObjectName      string
	// Host is the node from which the Event was sent: source.host, or the
	// reporting instance where the new API leaves the source empty.
	Host string

	Reason  string
	Message string
	// Time is when it happened last: the latest of the series' last
	// observation, lastTimestamp and eventTime. Zero if the Event has none.
	Time time.Time
}

// EventRecordFrom extracts what a roll needs from an Event object.
func EventRecordFrom(o *corev1.Event) EventRecord {
	r := EventRecord{
		Namespace:       o.Namespace,
		Name:            o.Name,
		UID:             string(o.UID),
		Type:            o.Type,
		Kind:            o.InvolvedObject.Kind,
		ObjectNamespace: o.InvolvedObject.Namespace,
		ObjectName:      o.InvolvedObject.Name,
		Host:            o.Source.Host,
		Reason:          o.Reason,
		Message:         o.Message,
		Time:            o.LastTimestamp.Time,
	}
	if r.Host == "" {
		r.Host = o.ReportingInstance
	}
	if o.EventTime.After(r.Time) {
		r.Time = o.EventTime.Time
	}
	if o.Series != nil && o.Series.LastObservedTime.After(r.Time) {
		r.Time = o.Series.LastObservedTime.Time
	}
	return r
}

// Warning reports whether the Event is one to show: of type Warning, or of none.
func (r *EventRecord) Warning() bool {
	return r.Type == corev1.EventTypeWarning || r.Type == ""
}

// Node is the name of the node that the Event is about, or else came from.
func (r *EventRecord) Node() string {
	if r.Kind == "Node" {
		return r.ObjectName
	}
	return r.Host
}

// Object is "Kind/name" of the involved object.
func (r *EventRecord) Object() string { return r.Kind + "/" + r.ObjectName }

// path is Object with the namespace in it, where there is one.
func (r *EventRecord) path() string {
	if r.ObjectNamespace == "" || r.Kind == "Node" {
		return r.Object()
	}
	return r.Kind + "/" + r.ObjectNamespace + "/" + r.ObjectName
}
