package conformance

import (
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// Connect makes a Peer of a server's configuration. now is the clock that the server computes ages by; zero for that of
// its answers.
func Connect(config *rest.Config, now time.Time) (*Peer, error) {
	known, err := client(config)
	if err != nil {
		return nil, err
	}
	stranger, err := client(rest.AnonymousClientConfig(config))
	if err != nil {
		return nil, err
	}
	return &Peer{Base: config.Host, Client: known, Stranger: stranger, Now: now}, nil
}

// client sends and receives as it is told: no compression of its own, no redirects, and HTTP/1.1, whose connections
// don't share one window among a hundred watches.
func client(config *rest.Config) (*http.Client, error) {
	c := rest.CopyConfig(config)
	c.DisableCompression = true
	c.NextProtos = []string{"http/1.1"}
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, err
	}
	client.Timeout = 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client, nil
}

// Close releases the connections.
func (p *Peer) Close() {
	p.Client.CloseIdleConnections()
	p.Stranger.CloseIdleConnections()
}
