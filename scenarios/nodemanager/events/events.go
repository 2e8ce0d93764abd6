// Package events tells its listeners what happened to nodes and pods. In: Emit. Out: calls of the handlers, in the
// order in which they were registered, before Emit returns. A handler that is slow holds up the emitter, and must not
// call back into the emitter. The package starts no goroutine and keeps no event.
//
// Its API may still change (docs/stability.md).
package events

import (
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// The types of events.
const (
	NodeCreated  = "node-created"  // the cloud gave the node an instance
	NodeRunning  = "node-running"  // the cloud calls the instance running
	NodeCleaning = "node-cleaning" // a pod has left the node; the node still names it
	NodePurged   = "node-purged"   // the node is gone for good
	PodEjected   = "pod-ejected"   // the pod's node has to go
)

// An Event is one thing that happened. Node and Pod are copies, nil where the event isn't about one.
type Event struct {
	Time    time.Time
	Type    string
	Source  string // who says so
	Node    *api.Node
	Pod     *api.Pod
	Message string
}

// A Handler is told of events. It may be called from many goroutines.
type Handler func(Event)

// EventSystem passes events on. A nil one drops them. Its methods may be called from any goroutine. The zero value has no
// handlers and dates events by the computer's clock.
type EventSystem struct {
	clock    clock.PassiveClock
	mu       sync.Mutex
	handlers []registration
}

type registration struct {
	kind    string
	handler Handler
}

// NewEventSystem returns a system without handlers. The clock dates the events.
func NewEventSystem(c clock.PassiveClock) *EventSystem { return &EventSystem{clock: c} }

// RegisterHandler has events of a type told to a handler from now on; the empty type stands for all.
func (s *EventSystem) RegisterHandler(eventType string, h Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers = append(s.handlers, registration{eventType, h})
}

// Emit dates an event unless it is, copies what it is about, and tells it.
func (s *EventSystem) Emit(e Event) {
	if s == nil {
		return
	}
	s.mu.Lock()
	handlers := slices.Clone(s.handlers)
	s.mu.Unlock()
	if e.Time.IsZero() {
		e.Time = s.now()
	}
	for _, r := range handlers {
		if r.kind != "" && r.kind != e.Type {
			continue
		}
		told := e
		if e.Node != nil {
			told.Node = e.Node.DeepCopy()
		}
		if e.Pod != nil {
			told.Pod = e.Pod.DeepCopy()
		}
		r.handler(told)
	}
}

// now is the moment at which events are dated.
func (s *EventSystem) now() time.Time {
	if s.clock == nil {
		return clock.RealClock{}.Now()
	}
	return s.clock.Now()
}
