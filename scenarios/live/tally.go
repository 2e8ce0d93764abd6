package live

import (
	"context"
	"net/http"
	"sync/atomic"
)

// A tally counts writes that the API server has taken: those of requests whose
// context it is in.
type tally struct{ taken atomic.Int64 }

type tallyKey struct{}

func (t *tally) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, tallyKey{}, t)
}

// tallied is a transport that tells tallies.
type tallied struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t tallied) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode/100 != 2 {
		return answer, err
	}
	if tally, is := r.Context().Value(tallyKey{}).(*tally); is && r.Method != http.MethodGet {
		tally.taken.Add(1)
	}
	return answer, nil
}

// WrappedRoundTripper returns the wrapped transport: client-go finds idle connections by it, to close them.
func (t tallied) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
