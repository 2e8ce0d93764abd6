package live

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/internal/retry"
)

// clients are the ways to one API server.
type clients struct {
	kube    kubeclient.Interface
	dynamic dynamic.Interface
	http    *http.Client
	slowest longest
	close   func()
}

// connect makes the clients, on connections of their own, and asks the server who
// it is: the first request, which isn't repeated, so that a cluster that can't be
// reached is an error at once.
func (p *Runner) connect(ctx context.Context) (*clients, error) {
	config := rest.CopyConfig(p.config)
	c := &clients{}
	config.Wrap(func(to http.RoundTripper) http.RoundTripper { return countingTransport{to, &c.slowest} })
	over, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, &UnreachableError{p.config.Host, err}
	}
	proto := rest.CopyConfig(p.config)
	proto.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	proto.ContentType = "application/vnd.kubernetes.protobuf"
	c.http, c.close = over, func() { utilnet.CloseIdleConnectionsFor(over.Transport) }
	if c.kube, err = kubeclient.New(proto, over); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", p.config.Host, err)
	}
	if c.dynamic, err = dynamic.NewForConfigAndClient(p.config, over); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", p.config.Host, err)
	}
	ctx, cancel := context.WithTimeout(ctx, attemptMost)
	defer cancel()
	text, err := c.kube.CoreV1().RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	if err == nil {
		err = checkVersion(text)
	}
	if err != nil {
		c.close()
		return nil, &UnreachableError{p.config.Host, err}
	}
	return c, nil
}

// again makes a request until the server has taken or refused it.
func (p *Runner) again(ctx context.Context, do func(context.Context) error) error {
	return p.attempts(ctx, 0, do)
}

// attempts is again, and gives up after a number of attempts; 0 is no bound.
func (p *Runner) attempts(ctx context.Context, most int, do func(context.Context) error) error {
	for n := 1; ; n++ {
		bounded, cancel := context.WithTimeout(ctx, attemptMost)
		err := do(bounded)
		cancel()
		if err == nil || !passing(err) || ctx.Err() != nil {
			return err
		}
		if n == most {
			return fmt.Errorf("%w (tried %d times)", err, n)
		}
		p.warn(fmt.Errorf("%w; trying again", err))
		if err := retry.Pause(ctx, p.clock, retry.Doubling{First: pauseFirst, Most: pauseMost}.After(n)); err != nil {
			return err
		}
	}
}

// againAfterConflict makes a write again that another client's has come before, a few times: client-go's RetryOnConflict
// with its DefaultBackoff.
func againAfterConflict(write func() error) (err error) {
	backoff := wait.Backoff{Steps: 4, Duration: 10 * time.Millisecond, Factor: 5, Jitter: 0.1}
	_ = wait.ExponentialBackoff(backoff, func() (bool, error) {
		err = write()
		return !apierrors.IsConflict(err), nil
	})
	return err
}

// A writeCounter counts writes that the API server has taken: those of requests whose
// context it is in.
type writeCounter struct{ taken atomic.Int64 }

type writeCounterKey struct{}

func (t *writeCounter) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, writeCounterKey{}, t)
}

// longest is the longest of several times, for several goroutines.
type longest struct{ nanoseconds atomic.Int64 }

func (s *longest) took(d time.Duration) {
	for {
		most := s.nanoseconds.Load()
		if int64(d) <= most || s.nanoseconds.CompareAndSwap(most, int64(d)) {
			return
		}
	}
}

// restart forgets what was.
func (s *longest) restart() { s.nanoseconds.Store(0) }

func (s *longest) time() time.Duration { return time.Duration(s.nanoseconds.Load()) }

// countingTransport is a transport that counts writes, and notes how long the slowest took.
type countingTransport struct {
	http.RoundTripper
	slowest *longest
}

// RoundTrip implements [http.RoundTripper].
func (t countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	from := time.Now()
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode/100 != 2 {
		return answer, err
	}
	if r.Method != http.MethodGet { // a watch is answered when there is something to tell
		t.slowest.took(time.Since(from))
	}
	if tally, is := r.Context().Value(writeCounterKey{}).(*writeCounter); is && r.Method != http.MethodGet {
		tally.taken.Add(1)
	}
	return answer, nil
}

// WrappedRoundTripper returns the wrapped transport: client-go finds idle connections by it, to close them.
func (t countingTransport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
