package conformance

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Peer is one of the two servers.
type Peer struct {
	Base string // https://127.0.0.1:6443
	// Client carries the credentials, follows no redirects and decompresses nothing; Stranger is the same without
	// credentials.
	Client, Stranger *http.Client
	// Now is the clock that the server computes ages by, where it isn't the Date of its answers.
	Now time.Time
}

// Answer holds what came back.
type Answer struct {
	Status int
	Header http.Header
	// Bodies are decoded: the object, the pages of a chain, or the events of a stream in their order. Text that is no
	// JSON, YAML or protobuf is a string.
	Bodies []any
	Stream bool // the bodies are events
	Now    time.Time
	// Took is how long it took until all was read: an age in an event of a stream may be that much later than Now.
	Took time.Duration
}

// longestChain is the number of pages followed.
const longestChain = 500

// Ask puts a request to the peer.
func (p *Peer) Ask(ctx context.Context, r Request) (*Answer, error) {
	a, err := p.ask(ctx, r)
	if err != nil || !r.Chain {
		return a, err
	}
	for next := token(a); next != ""; next = token(a) {
		q := r
		q.Query = withoutVersion(r.Query)
		page, err := p.ask(ctx, q.with("continue", next))
		if err != nil {
			return nil, err
		}
		page.Bodies = append(a.Bodies, page.Bodies...)
		a = page
		if len(a.Bodies) > longestChain {
			return nil, fmt.Errorf("%s: found no end after %d pages", r, longestChain)
		}
	}
	return a, nil
}

// token is the continue token of the last page.
func token(a *Answer) string {
	if a.Status != http.StatusOK || len(a.Bodies) == 0 {
		return ""
	}
	page, _ := a.Bodies[len(a.Bodies)-1].(map[string]any)
	metadata, _ := page["metadata"].(map[string]any)
	next, _ := metadata["continue"].(string)
	return next
}

// withoutVersion drops what may not be beside a continue token.
func withoutVersion(query string) string {
	parts := strings.Split(query, "&")
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return strings.HasPrefix(s, "resourceVersion") }), "&")
}

func (p *Peer) ask(ctx context.Context, r Request) (*Answer, error) {
	base, err := url.Parse(p.Base)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if r.Body != "" {
		body = strings.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method(), p.Base, body)
	if err != nil {
		return nil, err
	}
	// Opaque goes on the wire as it is: the paths that are wrong must arrive so.
	req.URL = &url.URL{Scheme: base.Scheme, Host: base.Host, Opaque: "//" + base.Host + r.Path, RawQuery: r.Query}
	req.Header.Set("User-Agent", "nodesim")
	for _, h := range r.Header {
		req.Header.Set(h[0], h[1])
	}
	if req.Header.Get("Accept-Encoding") == "" {
		req.Header.Set("Accept-Encoding", "identity")
	}
	client := p.Client
	if r.Stranger {
		client = p.Stranger
	}
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	content, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("%s: read the answer: %w", r, err)
	}
	a := &Answer{Status: resp.StatusCode, Header: resp.Header, Now: p.Now, Took: time.Since(began)}
	if a.Now.IsZero() {
		if a.Now, err = http.ParseTime(resp.Header.Get("Date")); err != nil {
			return nil, fmt.Errorf("%s: the Date of the answer: %w", r, err)
		}
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		zip, err := gzip.NewReader(bytes.NewReader(content))
		if err == nil {
			content, err = io.ReadAll(zip)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: unzip the answer: %w", r, err)
		}
	}
	a.Stream = r.Stream && resp.StatusCode == http.StatusOK && looksLikeEvents(resp.Header.Get("Content-Type"), content)
	if a.Bodies, err = decode(resp.Header.Get("Content-Type"), content, a.Stream); err != nil {
		return nil, fmt.Errorf("%s: decode the answer: %w\n%.300q", r, err, content)
	}
	return a, nil
}

// looksLikeEvents tells a stream from the single object that a request answered with which didn't ask for a stream
// after all: watch=0.
func looksLikeEvents(form string, content []byte) bool {
	if strings.Contains(form, "protobuf") {
		return !bytes.HasPrefix(content, protobufMagic)
	}
	if len(content) == 0 {
		return true
	}
	var event struct {
		Type   *string          `json:"type"`
		Object *json.RawMessage `json:"object"`
	}
	return json.NewDecoder(bytes.NewReader(content)).Decode(&event) == nil && event.Type != nil && event.Object != nil
}
