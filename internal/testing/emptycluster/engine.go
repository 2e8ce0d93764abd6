// Package emptycluster is a cluster in which nothing happens by itself, but that a
// pod which is given time to end is gone after that time: a replay.Engine for tests
// of what clients write.
package emptycluster

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// Engine implements replay.Engine. It is for one goroutine.
type Engine struct {
	header  *timeline.Header
	version int
	now     time.Duration
	made    []timeline.Event
	ends    []timeline.Event // in the order of the writes
}

// New returns a cluster with these objects, all ADDED at 0s, which is at a version.
func New(h *timeline.Header, version int, objects ...timeline.Event) *Engine {
	e := &Engine{header: h, version: version, made: objects}
	for _, r := range h.Resources {
		e.made = append(e.made, timeline.Event{Type: timeline.Sync, Resource: r.String(), RV: strconv.Itoa(version)})
	}
	return e
}

// Header implements replay.Engine, as the following do.
func (e *Engine) Header() *timeline.Header { return e.header }

// Close does nothing.
func (e *Engine) Close() error { return nil }

// Made returns the objects of 0s, and then the ends of pods.
func (e *Engine) Made() (ev timeline.Event, ok bool) {
	if len(e.made) == 0 {
		return ev, false
	}
	ev, e.made = e.made[0], e.made[1:]
	return ev, true
}

// Due returns the next end of a pod.
func (e *Engine) Due() (at time.Duration, ok bool) {
	for _, ev := range e.ends {
		if !ok || ev.At < at {
			at, ok = ev.At, true
		}
	}
	return at, ok
}

// Advance ends the pods whose time is up.
func (e *Engine) Advance(to time.Duration) error {
	e.now = to
	waits := e.ends
	e.ends = nil
	for _, ev := range waits {
		if ev.At > to {
			e.ends = append(e.ends, ev)
			continue
		}
		ev.RV = e.next()
		e.made = append(e.made, ev)
	}
	return nil
}

// Put takes a write. A pod that it gives time to end has that from now on.
func (e *Engine) Put(ev timeline.Event) (string, error) {
	e.ends = slices.DeleteFunc(e.ends, func(end timeline.Event) bool {
		return end.Resource == ev.Resource && end.Namespace == ev.Namespace && end.Name == ev.Name
	})
	grace, err := strconv.Atoi(string(rawjson.Get(ev.Object, "metadata", "deletionGracePeriodSeconds")))
	if err == nil && grace > 0 {
		at := e.now + time.Duration(grace)*time.Second
		e.ends = append(e.ends, timeline.Event{At: at, Type: timeline.Deleted, Resource: ev.Resource, Namespace: ev.Namespace, Name: ev.Name})
	}
	return e.next(), nil
}

func (e *Engine) next() string { e.version++; return strconv.Itoa(e.version) }
