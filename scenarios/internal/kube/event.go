package kube

// Event is a v1 Event. Those that were written through events.k8s.io have an
// EventTime, an Action and a reporting controller, and no source, times or count.
type Event struct {
	Meta
	Involved              Reference
	Type, Reason, Message string
	Component, Host       string // source
	First, Last           Instant
	Count                 int
	EventTime             Instant // microseconds
	Action                string
	Controller, Instance  string // reportingComponent and reportingInstance
	SeriesCount           int
	SeriesLast            Instant
}

// Reference names the object that an event is about, as far as its reporter
// fills it in.
type Reference struct {
	APIVersion, Kind, Namespace, Name, UID, ResourceVersion, FieldPath string
}
