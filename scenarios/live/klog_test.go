package live

import (
	"errors"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/scenarios"
)

// brokenTransport is a way to a server that answers nothing.
type brokenTransport func(*http.Request)

var errNoServer = errors.New("no server")

func (a brokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	a(r)
	return nil, errNoServer
}

// What client-go has to say doesn't go to the terminal.
func TestClientsAreQuiet(t *testing.T) {
	requests := 0
	way := brokenTransport(func(r *http.Request) {
		requests++
		if log := klog.FromContext(r.Context()); log.GetSink() != nil {
			t.Errorf("%s %s: its context has a log that writes", r.Method, r.URL)
		}
	})
	surge, err := scenarios.Find("surge")
	if err != nil {
		t.Fatal(err)
	}
	file, err := surge.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(&rest.Config{Host: "http://example.invalid", Transport: way}, file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context()); !errors.Is(err, errNoServer) || requests == 0 {
		t.Errorf("Run: %v after %d requests, want %v", err, requests, errNoServer)
	}
}
