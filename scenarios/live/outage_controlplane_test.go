//go:build controlplane

package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/live"
)

// flakyServer is an API server that answers some writes as a busy one does: with 429,
// 500, 503 and conflicts, in turn.
type flakyServer struct {
	http.RoundTripper
	writes, answered *atomic.Int64
}

// WrappedRoundTripper tells client-go whose connections it may close.
func (m flakyServer) WrappedRoundTripper() http.RoundTripper { return m.RoundTripper }

func (m flakyServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || m.writes.Add(1)%6 != 0 {
		return m.RoundTripper.RoundTrip(r)
	}
	thing := schema.GroupResource{Resource: "things"}
	errs := []*apierrors.StatusError{
		apierrors.NewTooManyRequests("the server is busy", 0),
		apierrors.NewInternalError(io.ErrUnexpectedEOF),
		apierrors.NewServiceUnavailable("the server is starting"),
		apierrors.NewConflict(thing, "one", io.ErrUnexpectedEOF),
	}
	if r.Method == http.MethodDelete {
		errs = errs[:3] // a conflict says there that the object meant is gone
	}
	status := errs[int(m.answered.Add(1))%len(errs)].ErrStatus
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	body, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	if r.Body != nil {
		_ = r.Body.Close() // as a transport has to
	}
	return &http.Response{
		StatusCode: int(status.Code), Status: http.StatusText(int(status.Code)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// An API server that is away for a while and refuses every sixth write for now delays a roll and doesn't change how it ends.
func TestOutage(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	config := plane(t).Config()
	proxy := testcluster.ProxyTo(t, config.Host)
	through := proxy.Config(config)
	var writes, answered atomic.Int64
	through.Wrap(func(rt http.RoundTripper) http.RoundTripper { return flakyServer{rt, &writes, &answered} })
	file := scenario(t, "surge", append(small, "strategy=plain")...)
	check(t, config)
	swept(t, file)
	began := make(chan struct{})
	p, err := live.New(through, file, live.Speed(20),
		live.BeforeBegin(func(context.Context) error { close(began); return nil }),
		live.OnWarning(func(err error) { t.Logf("%.200s", err) }))
	if err != nil {
		t.Fatal(err)
	}
	done := begin(ctx, t, p, began)
	// An eviction that is cut off in the middle would hold its budget for two minutes,
	// whatever the speed (DeletionTimeout of the disruption controller): so the server
	// goes before the first drain.
	if err := proxy.Refuse(); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, "the cluster has noticed", func() (bool, error) {
		return !slices.ContainsFunc(nodesNow(ctx, t), ready), nil
	})
	if err := proxy.Resume(); err != nil {
		t.Fatal(err)
	}
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Logf("%s", r.report)
	if !slices.Equal(r.report.Outcomes, []string{""}) {
		t.Errorf("outcomes %q: want one that is complete", r.report.Outcomes)
	}
	if answered.Load() == 0 {
		t.Error("the server was never busy")
	}
	nothingLeft(ctx, t)
}

func ready(n corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
