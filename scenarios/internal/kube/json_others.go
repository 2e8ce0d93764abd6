package kube

import (
	"slices"
	"strconv"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// budget writes what differs between two states of a budget.
func (w *writer) budget(old, b *Budget) {
	whole := old.UID == ""
	w.metadata(&old.Meta, &b.Meta, "", "")
	w.begin("spec")
	w.intOrPercent("minAvailable", old.MinAvailable, b.MinAvailable)
	if whole {
		w.name("selector")
		w.brace()
		if len(b.Selector) > 0 || len(b.Expressions) == 0 {
			w.matchLabels(b.Selector)
		}
		if len(b.Expressions) > 0 {
			w.member("matchExpressions")
			w.requirements(b.Expressions)
		}
		w.close()
	} else {
		w.begin("selector")
		w.object("matchLabels", old.Selector, b.Selector)
		switch same := b.SameSelector(old); {
		case same:
		case len(b.Expressions) > 0:
			w.name("matchExpressions")
			w.requirements(b.Expressions)
		case len(old.Expressions) > 0:
			w.null("matchExpressions")
		}
		w.end()
	}
	w.intOrPercent("maxUnavailable", old.MaxUnavailable, b.MaxUnavailable)
	w.text("unhealthyPodEvictionPolicy", old.UnhealthyPodEvictionPolicy, b.UnhealthyPodEvictionPolicy)
	w.end()
	w.begin("status")
	w.number("observedGeneration", old.ObservedGeneration, b.ObservedGeneration)
	w.disrupted(old.DisruptedPods, b.DisruptedPods)
	w.always("disruptionsAllowed", whole, int64(old.DisruptionsAllowed), int64(b.DisruptionsAllowed))
	w.always("currentHealthy", whole, int64(old.CurrentHealthy), int64(b.CurrentHealthy))
	w.always("desiredHealthy", whole, int64(old.DesiredHealthy), int64(b.DesiredHealthy))
	w.always("expectedPods", whole, int64(old.ExpectedPods), int64(b.ExpectedPods))
	w.conditions(old.Conditions, b.Conditions, ofOthers)
	w.end()
}

func (w *writer) intOrPercent(name, old, now string) {
	if old == now {
		return
	}
	w.name(name)
	if _, err := strconv.Atoi(now); err == nil {
		w.b = append(w.b, now...)
		return
	}
	w.b = rawjson.AppendString(w.b, now)
}

func (w *writer) disrupted(old, now []Disrupted) {
	if alike(old, now) {
		return
	}
	if len(now) == 0 {
		w.null("disruptedPods")
		return
	}
	// Both are in the order of their names.
	w.begin("disruptedPods")
	i := 0
	for _, d := range now {
		for i < len(old) && old[i].Pod < d.Pod {
			w.nullAny(old[i].Pod)
			i++
		}
		if i < len(old) && old[i].Pod == d.Pod {
			same := old[i].At == d.At
			if i++; same {
				continue
			}
		}
		w.nameAny(d.Pod)
		w.stamp(d.At)
	}
	for ; i < len(old); i++ {
		w.nullAny(old[i].Pod)
	}
	w.end()
}

// custom writes what differs between two states of a provider's object.
func (w *writer) custom(old, c *Custom) {
	w.metadata(&old.Meta, &c.Meta, "", "")
	if old.Spec != c.Spec {
		w.name("spec")
		w.b = append(w.b, c.Spec...)
	}
	w.begin("status")
	for _, f := range c.Status {
		if !slices.Contains(old.Status, f) {
			w.nameAny(f.Name)
			w.b = append(w.b, f.JSON...)
		}
	}
	w.conditions(old.Conditions, c.Conditions, ofOthers)
	w.end()
}

// event writes what differs between two states of an event.
func (w *writer) event(old, e *Event) {
	whole := old.UID == ""
	w.metadata(&old.Meta, &e.Meta, "", "")
	if whole {
		w.reference("involvedObject", &e.Involved)
	}
	w.text("reason", old.Reason, e.Reason)
	w.text("message", old.Message, e.Message)
	if whole {
		w.name("source")
		w.brace()
		w.str("component", e.Component)
		w.str("host", e.Host)
		w.close()
	}
	stamp := func(name string, old, now Instant) {
		if whole || old != now {
			w.name(name)
			w.stamp(now)
		}
	}
	stamp("firstTimestamp", old.First, e.First)
	stamp("lastTimestamp", old.Last, e.Last)
	w.number("count", int64(old.Count), int64(e.Count))
	w.text("type", old.Type, e.Type)
	if whole {
		w.name("eventTime")
		w.micro(e.EventTime)
	}
	if old.SeriesCount != e.SeriesCount {
		w.name("series")
		w.brace()
		w.int("count", int64(e.SeriesCount))
		w.member("lastObservedTime")
		w.micro(e.SeriesLast)
		w.close()
	}
	w.text("action", old.Action, e.Action)
	if whole {
		w.name("reportingComponent")
		w.b = rawjson.AppendString(w.b, e.Controller)
		w.name("reportingInstance")
		w.b = rawjson.AppendString(w.b, e.Instance)
	}
}

func (w *writer) reference(name string, r *Reference) {
	w.name(name)
	w.brace()
	w.str("kind", r.Kind)
	w.str("namespace", r.Namespace)
	w.str("name", r.Name)
	w.str("uid", r.UID)
	w.str("apiVersion", r.APIVersion)
	w.str("resourceVersion", r.ResourceVersion)
	w.str("fieldPath", r.FieldPath)
	w.close()
}
