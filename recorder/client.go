package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/timeline"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// client asks an API server for JSON and hands out bytes. It speaks HTTP/1.1,
// so that every watch has a connection of its own: on one shared HTTP/2
// connection a slow stream holds up the others, and framing costs more than
// half again of the CPU.
type client struct {
	base  *url.URL
	http  *http.Client
	close func()
}

// newClient keeps everything that the config says about trust, identity and
// the way to the server. Its Timeout, QPS and content types are for other
// kinds of clients and are not used: a watch has no end.
func newClient(config *rest.Config) (*client, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	config.NextProtos = []string{"http/1.1"}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	tr, closeIdle, err := newTransport(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", base.Host, err)
	}
	return &client{base: base, http: &http.Client{Transport: tr}, close: closeIdle}, nil
}

// newTransport builds what client-go's transport cache would build, but for a
// larger read buffer: with the standard four kilobytes most watch events
// cost two reads.
func newTransport(config *rest.Config) (http.RoundTripper, func(), error) {
	tc, err := config.TransportConfig()
	if err != nil {
		return nil, nil, err
	}
	if config.Transport != nil {
		rt, err := transport.HTTPWrappersForConfig(tc, config.Transport)
		return rt, func() {}, err
	}
	tlsConfig, err := transport.TLSConfigFor(tc)
	if err != nil {
		return nil, nil, err
	}
	if tlsConfig != nil {
		tlsConfig.NextProtos = []string{"http/1.1"}
	}
	dial := (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	if tc.DialHolder != nil {
		dial = tc.DialHolder.Dial
	}
	proxy := http.ProxyFromEnvironment
	if tc.Proxy != nil {
		proxy = tc.Proxy
	}
	base := &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: tlsConfig, DisableCompression: tc.DisableCompression,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 90 * time.Second,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second, ReadBufferSize: 64 << 10,
	}
	rt, err := transport.HTTPWrappersForConfig(tc, base)
	return rt, base.CloseIdleConnections, err
}

// get opens a response of status 200; anything else is a *statusError, or the
// transport's own error.
func (c *client) get(ctx context.Context, path string, query url.Values, header http.Header) (*http.Response, error) {
	u := *c.base
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, shorter(err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	status := parseStatus(body)
	status.Code = resp.StatusCode
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		status.after = time.Duration(min(s, 3600)) * time.Second
	}
	return nil, status
}

// path is where a resource is listed and watched, over all namespaces.
func path(r timeline.Resource) string {
	if r.Group == "" {
		return "/api/" + r.Version + "/" + r.Resource
	}
	return "/apis/" + r.Group + "/" + r.Version + "/" + r.Resource
}

// getJSON decodes one small answer.
func (c *client) getJSON(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	resp, err := c.get(ctx, path, url.Values{}, http.Header{})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(into)
}
