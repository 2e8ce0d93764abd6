package replay

import (
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/timeline"
)

// Event is one event of a watch.
type Event struct {
	Type watch.EventType
	// Object is the state; of a BOOKMARK an object of the watched kind with
	// nothing but a version. Nil for ERROR.
	Object *Object
	// Status says what an ERROR means. Nothing comes after an ERROR.
	Status *metav1.Status
}

// Watch is an open watch. It reads the cluster's history at its own pace.
// Methods may be called from any goroutine, Next from one at a time.
type Watch struct {
	cluster *Cluster
	kind    *kind
	request *request
	done    chan struct{}
	// resource is that of the kind, in the version that was asked for.
	resource timeline.Resource

	mu      sync.Mutex
	filter  StreamFilter // nil for none
	queue   []Event      // made of the last entry
	ready   int          // the next of the queue
	initial []*Object    // still to be sent before the first entry
	endMark *Object      // the bookmark after them
	cursor  cursor
	log     *log   // that the cursor is in
	from    string // the future version that a watch waits for in silence
	version string // of the last event that Next has returned
	waiting bool   // inside Next, with nothing to return
	idle    chan struct{}
	fail    error // ends the stream with an ERROR
	ended   bool
}

// Watch opens a watch, with the API server's meaning of the options:
//
//   - resourceVersion "" or "0": ADDED for all that is there, then what comes;
//   - any other: what has come since that version; 410 if the history doesn't
//     reach back; from the future, silence until then, as a real server does;
//   - sendInitialEvents (KEP-3157): ADDED for all, and where bookmarks are
//     allowed one with the annotation k8s.io/initial-events-end after them.
//     False: only what comes, even at version "" or "0";
//   - allowWatchBookmarks: each SYNC of the tape is a BOOKMARK;
//   - an object that leaves the selector is DELETED, with its old state and
//     the new version; one that enters is ADDED.
//
// timeoutSeconds is the caller's business: cancel Next's context.
func (c *Cluster) Watch(gvr schema.GroupVersionResource, namespace string, opts metav1.ListOptions) (*Watch, error) {
	of := c.lookUp(gvr)
	if of == nil {
		return nil, unknownResource(gvr)
	}
	k := of.kind
	opts.Watch = true
	q, err := c.newRequest(k.resource, namespace, opts)
	if err != nil {
		return nil, err
	}
	name, _ := q.named()
	ask := Request{Verb: "watch", Resource: gvr, Namespace: namespace, Name: name, Options: opts}
	answer := c.ask(ask)
	if answer.Err != nil {
		return nil, answer.Err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	k.told()
	w := &Watch{cluster: c, kind: k, resource: of.Resource, log: k.log, request: q, done: make(chan struct{})}
	if err := w.begin(c.base, answer.Version); err != nil {
		return nil, err
	}
	if c.faultInjector != nil {
		w.filter = c.faultInjector.Filter(ask)
	}
	c.watching.Lock()
	c.watches[w] = struct{}{}
	c.watching.Unlock()
	return w, nil
}

// begin places the cursor and gathers the initial events; past is the older
// version at which a watch that begins with them is to begin.
func (w *Watch) begin(base, past string) error {
	k, opts := w.kind, w.request.opts
	version := ""
	if rv := opts.ResourceVersion; strings.Trim(rv, "0") != "" {
		v, ok := parseVersion(rv)
		if !ok || !k.reachable(v, base) {
			return badVersion(rv)
		}
		version = v
	}
	initial := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	state := k.inOrder
	w.cursor, w.version = k.log.end(), k.version(base)
	if from, ok := k.log.after(past); ok && past != "" && initial {
		state = func() []*Object { return k.past(from) }
		w.cursor, w.version, version = from, past, ""
	}
	if initial && version != "" && k.future(version, base) {
		w.fail = k.tooLarge(version, k.version(base)) // in the stream, as a real server says it, three seconds later
		w.log, w.cursor, w.version = k.log, k.log.end(), version
		return nil
	}
	if version != "" && !initial {
		p, ok := k.log.after(version)
		if !ok {
			return expired(version, k.log.floor)
		}
		w.cursor, w.version = p, version
		if k.future(version, base) {
			w.from = version
		}
		return nil
	}
	if !initial {
		return nil
	}
	for _, o := range state() {
		if w.request.matches(o) {
			w.initial = append(w.initial, o)
		}
	}
	if opts.AllowWatchBookmarks {
		w.endMark = bookmarkWith(w.resource, w.version, metav1.InitialEventsAnnotationKey)
	}
	return nil
}

// Resource returns the watched resource.
func (w *Watch) Resource() timeline.Resource { return w.resource }

// fails ends the stream. Called with mu held.
func (w *Watch) fails(err error) Event {
	w.finish()
	return Event{Type: watch.Error, Status: asStatus(err)}
}

// finish releases the history. Called with mu held.
func (w *Watch) finish() {
	if w.ended {
		return
	}
	w.ended = true
	w.cursor, w.queue, w.initial, w.endMark = cursor{}, nil, nil, nil
	close(w.done)
	if w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	c := w.cluster
	c.watching.Lock()
	delete(c.watches, w)
	c.watching.Unlock()
	w.progress()
}

// Fail ends the watch with an ERROR event, before anything that still waits to
// be read: for servers that close slow or faulty streams.
func (w *Watch) Fail(err error) {
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return
	}
	w.fail = err
	w.cursor, w.queue, w.initial, w.endMark = cursor{}, nil, nil, nil
	w.progress()
	w.mu.Unlock()
	w.kind.wake()
}

// Stop ends the watch. It may be called more than once.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finish()
}

// Done is closed when the watch has ended.
func (w *Watch) Done() <-chan struct{} { return w.done }

// Version is the version of the last event that Next has returned, or that
// the watch began at.
func (w *Watch) Version() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}
