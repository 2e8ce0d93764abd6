package apply

import (
	"context"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rehearsal decorates a server: what would be written is answered here, with
// nothing in it; what asks goes through.
type rehearsal struct{ server }

func (s *rehearsal) do(ctx context.Context, r request) ([]byte, error) {
	if r.writes() {
		return []byte("{}"), ctx.Err()
	}
	return s.server.do(ctx, r)
}

// nowhere is an empty cluster. It can't be written to.
type nowhere struct{}

func (nowhere) do(_ context.Context, r request) ([]byte, error) {
	switch {
	case r.verb == List:
		return []byte(`{"items":[]}`), nil
	case r.writes():
		return nil, apierrors.NewGenericServerResponse(http.StatusNotImplemented, string(r.verb),
			schema.GroupResource{Group: r.resource.Group, Resource: r.resource.Resource}, r.name, "no server", 0, false)
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: r.resource.Group, Resource: r.resource.Resource}, r.name)
}

// narrator decorates a server: it tells of each write before it is made.
type narrator struct {
	server
	at   func() time.Duration
	mu   sync.Mutex
	tell func(Step)
}

func (s *narrator) do(ctx context.Context, r request) ([]byte, error) {
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

// whyNot is an error of the API server in a few words that don't hold the
// object's name, so that alike ones can be counted together.
func whyNot(err error) string {
	status, ok := err.(apierrors.APIStatus) //nolint:errorlint // what the client returns isn't wrapped
	if !ok {
		return err.Error()
	}
	s := status.Status()
	if s.Details == nil || len(s.Details.Causes) == 0 || s.Reason != metav1.StatusReasonInvalid {
		return string(s.Reason) + ": " + s.Message
	}
	c := s.Details.Causes[0]
	return string(s.Reason) + ": " + c.Field + ": " + c.Message
}
