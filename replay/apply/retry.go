package apply

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/retry"
)

// retrier decorates a server: it asks again where another time may help, until
// the context ends.
type retrier struct {
	server
	clock clock.Clock
	warn  func(error) // told of each request that is about to be tried again
	tries atomic.Int64
	made  atomic.Int64
}

const (
	// patience is the time one attempt may take.
	patience = 30 * time.Second
	// A write that the server answers with an internal error may be one that it
	// will never do (a webhook that is gone, say); after so many attempts it
	// counts as refused.
	internalMost = 10
	pauseFirst   = 100 * time.Millisecond
	pauseMost    = 5 * time.Second
)

func (s *retrier) do(ctx context.Context, r request) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		s.made.Add(1)
		bounded, cancel := context.WithTimeout(ctx, patience)
		body, err := s.server.do(bounded, r)
		cancel()
		if err == nil {
			return body, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !passing(err) || apierrors.IsInternalError(err) && attempt >= internalMost {
			return nil, err
		}
		s.tries.Add(1)
		s.warn(err)
		if err := s.pause(ctx, attempt, err); err != nil {
			return nil, err
		}
	}
}

// pause waits twice as long after each failure in a row, and as long as the
// server asks.
func (s *retrier) pause(ctx context.Context, failures int, err error) error {
	d := retry.Doubling{First: pauseFirst, Most: pauseMost}.After(failures)
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		d = max(d, time.Duration(seconds)*time.Second)
	}
	return retry.Pause(ctx, s.clock, d)
}

// passing reports whether an error may go away by itself: the network's, and
// the server's own. What the server says about the request itself doesn't.
func passing(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true // no answer at all
	}
	switch code := status.Status().Code; {
	case code == http.StatusTooManyRequests, code >= 500 && code != http.StatusNotImplemented:
		return true
	}
	return false
}
