package invariant

import (
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	corev1 "k8s.io/api/core/v1"
)

// What holds for an Event.
var (
	countGrows = &Invariant{
		Name:     "count-grows",
		Sentence: "The count of an Event never decreases, nor does that of its series.",
		Source:   "client-go, tools/record/events_cache.go, eventObserve; tools/events/event_broadcaster.go",
	}
	eventTimes = &Invariant{
		Name:     "event-times",
		Sentence: "firstTimestamp isn't after lastTimestamp, which never goes back; a series is observed after its first eventTime.",
		Source:   "client-go, tools/record/events_cache.go, eventObserve; api, events/v1/types.go, EventSeries",
	}
	eventNamespace = &Invariant{
		Name:     "event-namespace",
		Sentence: "An Event is in the namespace of its object, or in default where that has none.",
		Source:   "client-go, tools/record/event.go, makeEvent; kubernetes, pkg/apis/core/validation/events.go",
	}
	scheduledAsTold = &Invariant{
		Name:     "scheduled-as-told",
		Sentence: "A pod of which the scheduler says that it is assigned to a node is bound to that node within 1 s.",
		Source:   "kube-scheduler, pkg/scheduler/schedule_one.go, bindingCycle: the Event follows the binding",
	}
)

var eventInvariants = []*Invariant{countGrows, eventTimes, eventNamespace, scheduledAsTold}

// trackedEvent holds what is remembered of an Event.
type trackedEvent struct {
	count, series int32
	last          time.Time
}

func (c *Checker) event(h *trackedObject, o *corev1.Event, s *step) {
	e := h.event
	if e == nil {
		e = c.memory.events.take()
		*e = trackedEvent{}
		h.event = e
	}
	if !s.first && o.Count < e.count {
		c.report(h, countGrows, "count "+strconv.Itoa(int(o.Count))+" after "+strconv.Itoa(int(e.count)), "no less")
	}
	series := int32(0)
	if o.Series != nil {
		series = o.Series.Count
		if seen := o.Series.LastObservedTime.Time; !seen.IsZero() {
			c.notFuture(h, "series.lastObservedTime", "", seen)
			if seen.Before(o.EventTime.Time) {
				c.report(h, eventTimes, "series.lastObservedTime "+stamp(seen)+" before eventTime "+stamp(o.EventTime.Time), "it not before")
			}
		}
	}
	if !s.first && series != 0 && series < e.series {
		c.report(h, countGrows, "series.count "+strconv.Itoa(int(series))+" after "+strconv.Itoa(int(e.series)), "no less")
	}
	first, last := o.FirstTimestamp.Time, o.LastTimestamp.Time
	c.notFuture(h, "lastTimestamp", "", last)
	c.notFuture(h, "eventTime", "", o.EventTime.Time)
	if !first.IsZero() && !last.IsZero() && first.After(last) {
		c.report(h, eventTimes, "firstTimestamp "+stamp(first)+" after lastTimestamp "+stamp(last), "it not after")
	}
	if !last.IsZero() && last.Before(e.last) {
		c.report(h, eventTimes, "lastTimestamp "+stamp(last)+" after "+stamp(e.last), "no earlier one")
	}
	e.count, e.series, e.last = o.Count, series, last
	about := &o.InvolvedObject
	want := about.Namespace
	if want == "" {
		want = corev1.NamespaceDefault
	}
	// The events.k8s.io API takes kube-system for cluster-scoped objects as well.
	if o.Namespace != want && (about.Namespace != "" || o.Namespace != "kube-system") {
		c.report(h, eventNamespace, "namespace "+orNone(o.Namespace)+" for "+about.Kind+"/"+about.Name, "namespace "+want)
	}
	if s.Type == ChangeDeleted {
		return
	}
	switch about.Kind {
	case "Node":
		c.nodeEvent(h, o, s)
	case "Pod":
		if o.Reason == "Scheduled" && !s.jump && s.first {
			c.scheduled(h, o)
		}
	}
}

// scheduled compares "Successfully assigned shop/web-1 to ip-10-0-1-10" with
// the pod.
func (c *Checker) scheduled(h *trackedObject, o *corev1.Event) {
	by := o.ReportingController
	if by == "" {
		by = o.Source.Component
	}
	text, assigned := strings.CutPrefix(o.Message, "Successfully assigned ")
	i := strings.LastIndex(text, " to ")
	if !assigned || i < 0 || by != corev1.DefaultSchedulerName {
		return
	}
	node := text[i+len(" to "):]
	key, began := objectKey{noderoll.Pods, o.InvolvedObject.Namespace, o.InvolvedObject.Name}, c.here
	uid := string(o.InvolvedObject.UID)
	if _, no := c.elsewhere(key, uid, node); !no {
		return
	}
	c.later(reaction, func() {
		if is, no := c.elsewhere(key, uid, node); no && !h.gone {
			c.reportAt(began, h, scheduledAsTold, "pod on node "+orNone(is), node+", as the message says")
		}
	})
}

// elsewhere reports whether a pod is on another node, and on which. One that is gone already, or not in scope, isn't.
func (c *Checker) elsewhere(pod objectKey, uid, node string) (is string, other bool) {
	p := c.objects[pod]
	if p == nil || p.pod == nil || uid != "" && p.uid != uid {
		return "", false
	}
	return p.pod.node, p.pod.node != node
}
