package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// lines is a log of that text.
func lines(text string) ContainerLogsHandlerFunc {
	return func(context.Context, string, string, string, ContainerLogOpts) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

func TestLogs(t *testing.T) {
	broken := func(before string) ContainerLogsHandlerFunc {
		return func(context.Context, string, string, string, ContainerLogOpts) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(before), failing{})), nil
		}
	}
	refused := func(context.Context, string, string, string, ContainerLogOpts) (io.ReadCloser, error) {
		return nil, typed{notFound: true}
	}
	for name, c := range map[string]struct {
		logs   ContainerLogsHandlerFunc
		query  string
		status int
		body   string
	}{
		"whole":            {lines("one\ntwo\n"), "", 200, "one\ntwo\n"},
		"limited":          {lines("one\ntwo\n"), "?limitBytes=5", 200, "one\nt"},
		"no lines":         {lines("one\ntwo\n"), "?tailLines=0", 200, ""},
		"refused":          {refused, "?tailLines=0", 404, "typed"},
		"fails at once":    {broken(""), "", 500, "the disk is gone"},
		"fails in between": {broken("one\n"), "", 200, "one\nthe disk is gone"},
		"nothing, no errors": {func(context.Context, string, string, string, ContainerLogOpts) (io.ReadCloser, error) {
			return nil, nil
		}, "", 200, ""},
	} {
		w := ask(PodHandler(PodHandlerConfig{GetContainerLogs: c.logs}, false), "GET", "/containerLogs/shop/web-0/app"+c.query)
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s: %d %q, want %d %q", name, w.Code, w.Body, c.status, c.body)
		}
	}
}

// A writer that can't flush, as that of http.TimeoutHandler, gets the whole log.
func TestLogsBehindAMiddleware(t *testing.T) {
	long := strings.Repeat("a line of the log\n", 10_000)
	w := httptest.NewRecorder()
	PodHandler(PodHandlerConfig{GetContainerLogs: lines(long)}, false).ServeHTTP(plain{w}, httptest.NewRequest("GET", "/containerLogs/shop/web-0/app", nil))
	if w.Code != 200 || w.Body.String() != long {
		t.Errorf("found %d and %d bytes, want %d", w.Code, w.Body.Len(), len(long))
	}
}

// plain hides what else a ResponseWriter can.
type plain struct{ to http.ResponseWriter }

func (p plain) Header() http.Header         { return p.to.Header() }
func (p plain) Write(b []byte) (int, error) { return p.to.Write(b) }
func (p plain) WriteHeader(code int)        { p.to.WriteHeader(code) }

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

// A log that is followed arrives line by line, and is closed when its reader goes.
func TestFollowedLog(t *testing.T) {
	r, w := io.Pipe()
	asked, closed := make(chan ContainerLogOpts, 1), make(chan struct{})
	server := httptest.NewServer(PodHandler(PodHandlerConfig{
		GetContainerLogs: func(_ context.Context, namespace, pod, container string, o ContainerLogOpts) (io.ReadCloser, error) {
			if namespace != "shop" || pod != "web-0" || container != "app" {
				return nil, typed{notFound: true}
			}
			asked <- o
			return readCloser{r, func() error { close(closed); return r.Close() }}, nil
		},
	}, false))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/containerLogs/shop/web-0/app?follow=true&tailLines=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request) // returns although nothing is written yet
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if o := <-asked; !o.Follow || !o.NoTail {
		t.Errorf("options %+v, want Follow and NoTail", o)
	}
	in := bufio.NewReader(response.Body)
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(w, line); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); got != line || err != nil {
			t.Fatalf("read %q, %v, want %q", got, err, line)
		}
	}
	cancel()
	<-closed
}

type readCloser struct {
	io.Reader
	close func() error
}

func (r readCloser) Close() error { return r.close() }
