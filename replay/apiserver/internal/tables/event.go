package tables

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
)

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
