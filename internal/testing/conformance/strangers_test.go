package conformance_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/testing/conformance"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
)

// No request without the token reaches an object: every one of those that are
// put to kube-apiserver is answered with the same 401, whatever it asks for.
func TestNobodyWithoutTheTokenReachesAnything(t *testing.T) {
	header, requests := everything(t)
	// Nothing after the token may even be asked.
	var reached atomic.Int64
	player, err := replay.NewPlayer(replay.Events(header, nil), replay.WithCluster(replay.WithFaultInjector(&requestCounter{reached: &reached})))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = player.Close() }() // it was only read
	server, err := apiserver.New(player, apiserver.Mount("/mounted/", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) })))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- listener.Serve(ctx) }()
	peer, err := conformance.Connect(listener.RESTConfig(), header.Metadata.Start.Time)
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	queue := make(chan conformance.Request)
	wrong := make(chan error, len(requests)+1)
	for range 4 {
		asking.Go(func() {
			for r := range queue {
				wrong <- turnedAway(ctx, peer, r)
			}
		})
	}
	for i, r := range append(requests, conformance.Request{Path: "/mounted/pause"}) {
		r.Stranger, r.Chain = true, false
		if i%2 == 0 {
			r.Header = append(r.Header, [2]string{"Authorization", "Bearer " + listener.RESTConfig().BearerToken + "x"})
		}
		queue <- r
	}
	close(queue)
	asking.Wait()
	close(wrong)
	for err := range wrong {
		if err != nil {
			t.Error(err)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests got through", n)
	}
	peer.Close()
	server.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// everything returns the requests that are put to kube-apiserver, about the example.
func everything(t *testing.T) (*timeline.Header, []conformance.Request) {
	t.Helper()
	header, inventory := surveyed(t)
	return header, conformance.Requests(inventory)
}

func turnedAway(ctx context.Context, peer *conformance.Peer, r conformance.Request) error {
	a, err := peer.Ask(ctx, r)
	if err != nil {
		return err
	}
	want := []any{map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": "Unauthorized", "reason": "Unauthorized", "code": 401.0,
	}}
	if r.Method == http.MethodHead {
		want = nil
	}
	if d := cmp.Diff(want, a.Bodies); a.Status != http.StatusUnauthorized || d != "" {
		return errors.New(r.String() + ": found another answer than 401 Unauthorized:\n" + d)
	}
	return nil
}

// requestCounter counts the requests that the cluster is asked.
type requestCounter struct {
	replay.FaultInjector
	reached *atomic.Int64
}

func (b *requestCounter) Request(replay.Request) replay.Verdict {
	b.reached.Add(1)
	return replay.Verdict{}
}
