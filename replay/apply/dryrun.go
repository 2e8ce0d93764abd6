package apply

import (
	"context"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// dryRunServer decorates a server: what would be written is answered here, a
// create with what was to be created; what asks goes through. What the server
// would have made of it is unknown.
type dryRunServer struct{ server }

func (s *dryRunServer) do(ctx context.Context, r request) ([]byte, error) {
	switch {
	case r.writes() && r.verb == Create && r.sub == "":
		return r.body, ctx.Err()
	case r.writes():
		return []byte("{}"), ctx.Err()
	}
	return s.server.do(ctx, r)
}

// emptyCluster is an empty cluster. It can't be written to.
type emptyCluster struct{}

func (emptyCluster) do(_ context.Context, r request) ([]byte, error) {
	switch {
	case r.verb == List:
		return []byte(`{"items":[]}`), nil
	case r.writes():
		return nil, apierrors.NewGenericServerResponse(http.StatusNotImplemented, string(r.verb),
			schema.GroupResource{Group: r.resource.Group, Resource: r.resource.Resource}, r.name, "no server", 0, false)
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: r.resource.Group, Resource: r.resource.Resource}, r.name)
}

// stepReporter decorates a server: it tells of each write before it is made.
type stepReporter struct {
	server
	at   func() time.Duration
	mu   sync.Mutex
	tell func(Step)
}

func (s *stepReporter) do(ctx context.Context, r request) ([]byte, error) {
	if r.writes() {
		step := Step{At: s.at(), Verb: r.verb, Resource: r.resource.String(), Namespace: r.namespace, Name: r.name}
		if r.sub != "" {
			step.Resource += "/" + r.sub
		}
		if step.Name == "" { // a create says it inside
			o, _ := decode(r.body)
			step.Name = text(o, "metadata", "name")
		}
		s.mu.Lock()
		s.tell(step)
		s.mu.Unlock()
	}
	return s.server.do(ctx, r)
}
