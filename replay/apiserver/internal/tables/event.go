package tables

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func coreEvents() *Printer { return typed(coreEventCells, eventColumns()...) }

// newerEvents is the printer of events.k8s.io: the same objects under other names of fields, and the same rows.
func newerEvents() *Printer { return typed(newerEventCells, eventColumns()...) }

func eventColumns() []metav1.TableColumnDefinition {
	event := corev1.Event{}
	return []metav1.TableColumnDefinition{
		text("Last Seen", doc(event, "lastTimestamp")),
		text("Type", doc(event, "type")),
		text("Reason", doc(event, "reason")),
		text("Object", doc(event, "involvedObject")),
		wide(text("Subobject", doc(corev1.ObjectReference{}, "fieldPath"))),
		wide(text("Source", doc(event, "source"))),
		text("Message", doc(event, "message")),
		wide(text("First Seen", doc(event, "firstTimestamp"))),
		wide(text("Count", doc(event, "count"))),
		wide(nameColumn()),
	}
}

// coreEventCells tells of an event with a series by the series, and of one without times of its own by eventTime.
func coreEventCells(event *corev1.Event, now time.Time) []any {
	first := since(event.FirstTimestamp, now)
	if event.FirstTimestamp.IsZero() {
		first = sinceMicro(event.EventTime, now)
	}
	last := since(event.LastTimestamp, now)
	if event.LastTimestamp.IsZero() {
		last = first
	}
	count := event.Count
	switch {
	case event.Series != nil:
		last, count = sinceMicro(event.Series.LastObservedTime, now), event.Series.Count
	case count == 0: // an event that happened once, as the newer API counts
		count = 1
	}
	object := strings.ToLower(event.InvolvedObject.Kind)
	if event.InvolvedObject.Name != "" {
		object += "/" + event.InvolvedObject.Name
	}
	return []any{
		last, event.Type, event.Reason, object, event.InvolvedObject.FieldPath, eventSource(event),
		strings.TrimSpace(event.Message), first, int64(count), event.Name,
	}
}

// eventSource is the component that reported the event, and where it runs.
func eventSource(event *corev1.Event) string {
	component := cmp.Or(event.Source.Component, event.ReportingController)
	instance := cmp.Or(event.Source.Host, event.ReportingInstance)
	if instance == "" {
		return component
	}
	return component + ", " + instance
}

// newerEventCells gives the fields their older names (pkg/apis/events/v1/conversion.go).
func newerEventCells(event *eventsv1.Event, now time.Time) []any {
	core := corev1.Event{
		ObjectMeta: event.ObjectMeta, InvolvedObject: event.Regarding, Reason: event.Reason, Message: event.Note, Type: event.Type,
		Source: event.DeprecatedSource, FirstTimestamp: event.DeprecatedFirstTimestamp, LastTimestamp: event.DeprecatedLastTimestamp,
		Count: event.DeprecatedCount, EventTime: event.EventTime,
		ReportingController: event.ReportingController, ReportingInstance: event.ReportingInstance,
	}
	if event.Series != nil {
		core.Series = &corev1.EventSeries{Count: event.Series.Count, LastObservedTime: event.Series.LastObservedTime}
	}
	return coreEventCells(&core, now)
}
