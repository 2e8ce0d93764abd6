package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nodesim/nodesim/internal/app/control"
)

// Client talks to one server. It may be used by several goroutines. Close it.
type Client struct {
	http *http.Client
	base *url.URL
}

// Load finds the server in a kubeconfig.
func Load(file string) (*Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w: want the file that nodesim serve has printed", file, err)
	}
	return New(config)
}

// New returns a Client of the server that a configuration leads to.
func New(config *rest.Config) (*Client, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	return &Client{http: client, base: base}, nil
}

// Close releases the connection that is kept for the next request: a server that
// ends cleanly gives clients a second to do so. A Client can be used again.
func (c *Client) Close() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// Status asks where the replay is.
func (c *Client) Status(ctx context.Context) (control.Status, error) {
	return ask[control.Status](ctx, c, http.MethodGet, "status", nil)
}

// Pause stops the tape between two events.
func (c *Client) Pause(ctx context.Context) (control.Status, error) {
	return ask[control.Status](ctx, c, http.MethodPost, "pause", nil)
}

// Resume lets it continue.
func (c *Client) Resume(ctx context.Context) (control.Status, error) {
	return ask[control.Status](ctx, c, http.MethodPost, "resume", nil)
}

// Step moves it on.
func (c *Client) Step(ctx context.Context, s control.Steps) (control.Stepped, error) {
	return ask[control.Stepped](ctx, c, http.MethodPost, "step", s)
}

// Seek goes to a position, such as T+1m32s, or by a distance, such as +30s or -30s.
func (c *Client) Seek(ctx context.Context, to string) (control.Status, error) {
	return ask[control.Status](ctx, c, http.MethodPost, "seek", control.Seek{To: to})
}

// Speed changes the pace, such as 20x.
func (c *Client) Speed(ctx context.Context, speed string) (control.Status, error) {
	return ask[control.Status](ctx, c, http.MethodPost, "speed", control.Speed{Speed: speed})
}

// Mark sets a marker at the present position.
func (c *Client) Mark(ctx context.Context, name string) (control.Status, error) {
	return ask[control.Status](ctx, c, http.MethodPost, "mark", control.Mark{Name: name})
}

// Fault has a fault happen in the cluster, such as {vanish: {group: workers}}.
func (c *Client) Fault(ctx context.Context, fault string) (control.Status, error) {
	return ask[control.Status](ctx, c, http.MethodPost, "fault", control.Do{Fault: fault})
}

// mostBytes bounds how long an answer may be.
const mostBytes = 64 << 20

// ask puts one request.
func ask[T any](ctx context.Context, c *Client, method, verb string, body any) (answer T, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return answer, err
		}
	}
	at := *c.base
	at.Path = strings.TrimSuffix(at.Path, "/") + control.Path + verb
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(text))
	if err != nil {
		return answer, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		var reason *url.Error
		if errors.As(err, &reason) {
			err = reason.Err
		}
		return answer, fmt.Errorf("%s: %w: is nodesim serve still running?", c.base.Host, err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	text, err = io.ReadAll(io.LimitReader(res.Body, mostBytes))
	if err != nil {
		return answer, fmt.Errorf("%s: %w", c.base.Host, err)
	}
	return answer, c.understand(res, text, &answer)
}

// understand reads an answer, and finds out whose it is.
func (c *Client) understand(res *http.Response, text []byte, into any) error {
	var is struct {
		metav1.TypeMeta `json:",inline"`
		Message         string `json:"message"`
	}
	// What isn't JSON is of no kind that is known.
	_ = json.Unmarshal(text, &is)
	switch {
	case is.APIVersion == control.APIVersion && res.StatusCode == http.StatusOK:
		return json.Unmarshal(text, into)
	case res.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%s: the token isn't the one of this server: want the kubeconfig that nodesim serve has printed last", c.base.Host)
	case is.Kind == "Status" && res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusForbidden && is.Message != "":
		return errors.New(is.Message)
	}
	return fmt.Errorf("%s: this server is no replay of nodesim (%s): want the kubeconfig that nodesim serve has printed", c.base.Host, res.Status)
}
