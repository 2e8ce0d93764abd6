package replay

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/replay/internal/option"
	"github.com/nodesim/nodesim/timeline"
)

// FaultInjector makes things go wrong between a Cluster and its clients:
// package replay/fault is one. The Cluster asks it at fixed moments and does
// what it says; so what goes wrong is a function of the tape and of the order
// of requests, and never of a clock.
//
// All but Request are called with the Cluster's lock held: they must be quick
// and must not call it. Request is called from any goroutine.
type FaultInjector interface {
	// Before is told of each event of the tape before anything of it shows.
	Before(c Change) Rewrite
	// Due is the next position at which something happens although no event
	// comes; ok is false where there is none.
	Due() (at time.Duration, ok bool)
	// Pass lets time pass to a position that Due has named, or to End after
	// the last event.
	Pass(at time.Duration) []StreamMarker
	// Rewound says that the tape starts over, with nothing alive. A Player with
	// a FaultInjector rewinds to the beginning and goes forward from there.
	Rewound()
	// Request is asked before a request is answered.
	Request(r Request) Verdict
	// Filter returns what is in the way of a watch that opens, or nil.
	Filter(r Request) StreamFilter
}

// Change is an event of the tape on its way into the Cluster.
type Change struct {
	Event timeline.Event
	// Live says that it takes effect by itself: it isn't part of an initial
	// list, nor of what was found by listing again after a GAP.
	Live bool
	// Version holds what a list of the resource is stamped with before the event,
	// as clients see it.
	Version string
}

// Rewrite is the outcome of a Change.
type Rewrite struct {
	// Events are applied in place of the one that was asked about; nil for that
	// one as it is. Their positions are its position.
	Events []timeline.Event
	// Before and After are before and after them in the watches' order.
	Before, After []StreamMarker
}

// StreamMarker is something that watches of a resource come by in their order,
// between two events. Only a StreamFilter sees it.
//
// A watch that is opened from an older version comes by the signals since
// then, as it does by the events: a StreamFilter that closes its stream for a signal
// wherever it meets it would never let a client past it.
type StreamMarker struct {
	// Resource is whose watches get it.
	Resource timeline.Resource
	Value    any
}

// StreamFilter is in the way of one watch. Its methods are called one at a time.
type StreamFilter interface {
	// Event takes what the watch would deliver, and returns what it delivers in
	// its place: nothing, the same, or other events. initial says that it
	// belongs to the state that the watch began with, its end bookmark included.
	Event(ev Event, initial bool) []Event
	// StreamMarker takes a signal, and returns what the watch delivers now.
	StreamMarker(value any) []Event
}

// Closed as the type of a StreamFilter's Event ends the stream without an ERROR, as a
// server does whose time is up.
const Closed watch.EventType = "CLOSED"

// Request is a client's request.
type Request struct {
	// Verb is one of RBAC's: get, list, watch, create, update, patch, delete,
	// deletecollection.
	Verb                         string
	Resource                     schema.GroupVersionResource
	Subresource, Namespace, Name string
	// Options are those of a list or watch.
	Options metav1.ListOptions
}

// Verdict is the outcome of a Request.
type Verdict struct {
	// Err is answered in place of everything else, where it isn't nil: an error
	// of apimachinery's api/errors.
	Err error
	// Version makes a get, a list, or a watch that begins with what is there,
	// show the state at an older version, for as long as the history reaches
	// back. It is stronger than the request's own version.
	Version string
}

// WithFaultInjector puts i between the Cluster and its clients.
func WithFaultInjector(i FaultInjector) ClusterOption {
	return func(c *Cluster) { c.faultInjector = i }
}

// WithFaultInjectorFor is [WithFaultInjector] for a FaultInjector that is made from the tape's
// header. Its error is NewPlayer's.
func WithFaultInjectorFor(make func(*timeline.Header) (FaultInjector, error)) Option {
	return option.New("replay.WithFaultInjectorFor", func(p *Player) { p.newFaultInjector = make })
}
