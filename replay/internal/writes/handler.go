package writes

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/internal/crd"
	"github.com/nodesim/nodesim/timeline"
)

// Handler takes writes to a replay. It is safe for concurrent use; two writes that
// come at once are answered one after the other.
type Handler struct {
	cluster *replay.Cluster
	header  *timeline.Header
	record  func(Entry)
	player  *replay.Player // whose cluster keeps what is written; nil where nothing is kept

	mu          sync.Mutex
	definitions map[string]readDefinition // as far as they were asked for, by name
	converters  map[*crd.Definition]managedfields.TypeConverter
	created     int // objects made so far
	named       int // names made so far
	recent      recent
}

// New makes a Handler for the cluster that a tape with this header is played to.
// record, where it isn't nil, is told of each write, accepted or not, in the
// order in which they were answered, one at a time; it must not call the Handler.
func New(c *replay.Cluster, h *timeline.Header, record func(Entry)) *Handler {
	limitCopies()
	return &Handler{cluster: c, header: h, record: record}
}

// called is the name of the object that a request is about: a create has it in its body.
func (r *Request) called() string {
	if r.Verb == "create" && r.Name == "" && r.Subresource == "" {
		return rawjson.Text(r.Body, "metadata", "name")
	}
	return r.Name
}

// Handle answers a write as an API server would whose state is the tape's at this
// moment, and logs it. Nothing that anybody reads changes, unless the Handler is
// of [Keep].
//
// Its errors are those of apimachinery's api/errors, with the server's codes,
// reasons and messages, or the context's; the Answer then holds the warnings
// that go with one, and the Entry.
func (d *Handler) Handle(ctx context.Context, r Request) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	err := d.cluster.Admit(replay.Request{
		Verb: r.Verb, Resource: r.Resource, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.called(), Options: r.Selector,
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &write{Request: r, handler: d, at: d.position()}
	var reply Answer
	if err == nil {
		w.kind, err = d.kind(r)
	}
	if err == nil {
		if w.keeps() {
			reply, err = d.transact(w)
		} else {
			reply, err = w.do()
		}
	}
	reply.Warnings = w.warnings
	if err != nil {
		err = apiError(err)
		reply = Answer{Code: int(statusOf(err).Code), Warnings: w.warnings}
	}
	reply.Entry = w.entry(reply)
	reply.Entry.Reason = statusOf(err).Reason
	if d.record != nil {
		d.record(reply.Entry)
	}
	return reply, err
}

// statusOf is the Status of an error of apimachinery's, or an empty one.
func statusOf(err error) metav1.Status {
	if s := apierrors.APIStatus(nil); errors.As(err, &s) {
		return s.Status()
	}
	return metav1.Status{}
}

// write is one write on its way through the Handler.
type write struct {
	Request
	handler  *Handler
	kind     kind
	warnings []string
	named    string // what a create was named, where the URL doesn't say
	at       time.Duration
	tx       *replay.Tx     // nil where nothing is kept
	stored   bool           // something was
	newest   *replay.Object // that was stored
	charged  []*corev1.ResourceQuota
}

// position is the present.
func (d *Handler) position() time.Duration {
	if d.player != nil {
		return d.player.Position()
	}
	return d.cluster.At()
}

// do finds who answers.
func (w *write) do() (Answer, error) {
	if err := w.checkOptions(); err != nil {
		return Answer{}, err
	}
	if w.keeps() && !w.kind.onTape {
		return Answer{}, notFound() // it can't be kept
	}
	switch w.Subresource {
	case "":
		switch w.Verb {
		case Create:
			if w.Name != "" && w.kind.builtIn { // custom resources are created at any path
				return Answer{}, notAllowed()
			}
			return w.create()
		case Update:
			return w.update(w.main())
		case Patch:
			return w.patch(w.main())
		case Delete:
			return w.delete()
		case DeleteCollection:
			if w.kind.is("namespaces") {
				return Answer{}, notAllowed()
			}
			return w.deleteCollection()
		}
	case "status":
		if !w.kind.hasStatus() {
			return Answer{}, w.without()
		}
		return w.updateOrPatch(w.status())
	case "scale":
		if !w.kind.scales() {
			return Answer{}, w.without()
		}
		return w.updateOrPatch(w.scale())
	case "eviction":
		if w.kind.isPod() {
			return w.onCreate(w.evict)
		}
	case "binding":
		if w.kind.isPod() {
			return w.onCreate(w.bind)
		}
	case "finalize":
		if w.keeps() && w.kind.is("namespaces") {
			if w.Verb != Update {
				return Answer{}, notAllowed()
			}
			return w.update(w.finalize())
		}
	}
	switch w.Subresource {
	case "ephemeralcontainers", "resize", "exec", "attach", "portforward", "proxy", "token", "finalize", "approval":
		return Answer{}, Refuse(w.handler.header, w.keeps(), w.Verb+" "+w.Subresource, w.kind.groupResource(), "of subresources it takes writes to status, scale, eviction and binding")
	}
	if w.Subresource == "" {
		return Answer{}, notAllowed()
	}
	return Answer{}, w.without()
}

// without is 404 for a subresource that there isn't.
func (w *write) without() error {
	if w.kind.definition != nil || !w.kind.builtIn {
		return apierrors.NewNotFound(w.kind.groupResource(), w.Name)
	}
	return notFound()
}

func (w *write) onCreate(f func() (Answer, error)) (Answer, error) {
	if w.Verb != Create {
		return Answer{}, notAllowed()
	}
	return f()
}

func (w *write) updateOrPatch(v view) (Answer, error) {
	switch w.Verb {
	case Update:
		return w.update(v)
	case Patch:
		return w.patch(v)
	}
	if !w.kind.builtIn {
		return Answer{}, apierrors.NewMethodNotSupported(w.kind.groupResource(), w.Verb)
	}
	return Answer{}, notAllowed()
}

// notAllowed returns what a server's router says to a verb that a path doesn't take.
func notAllowed() error {
	return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "", 0, false)
}

// notFound is the answer to a path that there isn't.
func notFound() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, false)
}

// live returns the object that the write is about, and the newest version of
// its resource. Where the tape doesn't hold the resource there is neither.
func (w *write) live() (*object, error) {
	if !w.kind.onTape {
		return nil, nil
	}
	return w.look(w.Name)
}

func (w *write) look(name string) (*object, error) {
	o, version, err := w.handler.cluster.GetUnfaulted(w.Resource, w.Namespace, name)
	if err != nil {
		return nil, err
	}
	if !w.keeps() {
		return w.kind.parse(o, version)
	}
	return w.known(o)
}

// now is the wall time of the tape's position, to the second, as the API's
// times are. A tape that doesn't say when it begins begins in 1970.
func (w *write) now() metav1.Time {
	begin := w.handler.header.Metadata.Start.Time
	if begin.IsZero() {
		begin = time.Unix(0, 0)
	}
	return metav1.NewTime(begin.Add(w.at).UTC()).Rfc3339Copy()
}
