package live

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// hangingTransport is a way to a server that takes requests and never answers.
type hangingTransport func()

func (m hangingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	m()
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A server that never answers keeps nobody from ending the live run.
func TestFrontOnAServerThatHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tail, cut := context.WithCancel(t.Context())
	defer cut()
	var once sync.Once
	p, err := New(&rest.Config{Host: "http://example.invalid", Transport: hangingTransport(func() { once.Do(cancel) })}, file(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Runner: p, apiServer: &apiServer{kubelets: newKubelets(nil, 0, 1, nil)}}
	opened := make(chan *kubeletServer, 1)
	go func() {
		opened <- r.openKubeletServer(ctx, tail, corev1listers.NewNodeLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})))
	}()
	var f *kubeletServer
	select {
	case f = <-opened:
	case <-time.After(5 * time.Minute):
		t.Error("it waits for the server although the live run is over")
		cut()
		f = <-opened
	}
	if f.top != nil {
		t.Error("found a registration, want none")
	}
	if err := f.close(context.Background(), r.again); err != nil {
		t.Error(err)
	}
}
