package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// inMemory is a Server's answering of requests of this process, until Close.
type inMemory struct {
	mu       sync.Mutex
	shut     bool
	handling sync.WaitGroup
}

// RESTConfig returns how clients in this process reach the server without a socket,
// TLS or token: a clientset, an informer, controller-runtime's manager. Each call
// returns a new one that may be changed. Requests go to the server's handler
// directly, and wait for nothing but the server and one another: it works inside of
// a testing/synctest bubble, if the Server is made there. Close ends it.
func (s *Server) RESTConfig() *rest.Config {
	return &rest.Config{
		Host: "http://localhost", Transport: s.RoundTripper(), QPS: -1,
		// What goes around the Transport, exec and port-forward, finds no network.
		Dial: func(context.Context, string, string) (net.Conn, error) { return nil, noNetwork },
	}
}

// RoundTripper returns what answers requests to any host as the server does,
// without a connection: the Transport of [Server.RESTConfig].
//
// A body is read as it comes. Of a watch whose client doesn't read, little is kept;
// after the time of [CutOff] it ends. The end of a request's context ends its watch,
// as does closing the body.
func (s *Server) RoundTripper() http.RoundTripper { return roundTripper{s} }

type roundTripper struct{ server *Server }

var (
	errShut   = errors.New("the server of this replay is closed")
	noNetwork = &net.OpError{Op: "dial", Net: "memory", Err: errors.New("the server in memory takes requests, and no connections")} //nolint:errname // an error of package net
)

// RoundTrip implements http.RoundTripper.
func (t roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	s := t.server
	if !s.inMemory.enter() {
		closeBody(req)
		// Not net.ErrClosed, after which client-go tries ten times.
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: errShut}
	}
	if _, has := req.Header["User-Agent"]; !has { // the one that http.Transport sends then: it names who manages the fields written
		req = req.Clone(req.Context())
		req.Header.Set("User-Agent", "Go-http-client/1.1")
	}
	ctx, cancel := context.WithCancel(req.Context())
	r := newReply(ctx, req, cancel)
	go func() {
		defer s.inMemory.handling.Done()
		defer context.AfterFunc(s.open, cancel)()
		defer cancel()
		defer closeBody(req)
		s.serve(ctx, r, req)
	}()
	select {
	case <-r.head:
		return r.response()
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
}

// serve has the request answered.
func (s *Server) serve(ctx context.Context, r *reply, req *http.Request) {
	defer func() {
		v := recover()
		if v != nil && v != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
			_, _ = fmt.Fprintf(os.Stderr, "http: panic serving %s: %v\n%s", req.URL.Path, v, debug.Stack())
		}
		r.finish(v != nil)
	}()
	if headerBytes(req) > mostHeaderBytes {
		http.Error(r, "431 Request Header Fields Too Large", http.StatusRequestHeaderFieldsTooLarge)
		return
	}
	_ = r.SetWriteDeadline(time.Now().Add(requestTimeout))
	s.ServeHTTP(r, received(ctx, req))
}

// received is a request as a server sees it.
func received(ctx context.Context, req *http.Request) *http.Request {
	in := req.WithContext(ctx)
	url := *req.URL
	if in.Host == "" {
		in.Host = url.Host
	}
	url.Scheme, url.Host, url.User = "", "", nil
	in.URL, in.RequestURI, in.RemoteAddr = &url, url.RequestURI(), "memory"
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Method == "" {
		in.Method = http.MethodGet
	}
	if in.Header == nil {
		in.Header = http.Header{}
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in
}

// headerBytes is about the length of a request's header on the wire.
func headerBytes(req *http.Request) int {
	n := len(req.Method) + len(req.URL.Path) + len(req.URL.RawQuery)
	for name, values := range req.Header {
		for _, v := range values {
			n += len(name) + len(v) + 4
		}
	}
	return n
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// enter reports whether a request may still be answered; handling is told then.
func (m *inMemory) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shut {
		return false
	}
	m.handling.Add(1)
	return true
}

// end refuses what comes, and waits for what is being answered.
func (m *inMemory) end() {
	m.mu.Lock()
	m.shut = true
	m.mu.Unlock()
	m.handling.Wait()
}
