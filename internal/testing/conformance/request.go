package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Request holds what is put to both servers.
type Request struct {
	Topic  string // one word, for the report
	Method string // GET where empty
	Path   string // as it goes on the wire, escaped
	Query  string // the same, without the question mark
	Header [][2]string
	Body   string
	// Stream says that the answer is read to its end as a watch, which its timeoutSeconds brings about.
	Stream bool
	// Chain follows the continue tokens; the answer is all pages.
	Chain bool
	// Stranger leaves the credentials out.
	Stranger bool
}

// String is the request in one line, by which [Known] names it: "GET /api/v1/nodes?limit=2 Accept: application/yaml".
func (r Request) String() string {
	var b strings.Builder
	b.WriteString(r.method() + " " + r.Path)
	if r.Query != "" {
		b.WriteString("?" + r.Query)
	}
	for _, h := range r.Header {
		b.WriteString(" " + h[0] + ": " + h[1])
	}
	if r.Body != "" {
		b.WriteString(" with " + r.Body)
	}
	if r.Chain {
		b.WriteString(" to the last page")
	}
	if r.Stranger {
		b.WriteString(" without credentials")
	}
	return b.String()
}

func (r Request) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// accept returns the request with an Accept header.
func (r Request) accept(form string) Request { return r.header("Accept", form) }

func (r Request) header(name, value string) Request {
	r.Header = append(slices.Clone(r.Header), [2]string{name, value})
	return r
}

// with returns the request with one more parameter, escaped.
func (r Request) with(name, value string) Request {
	if r.Query != "" {
		r.Query += "&"
	}
	r.Query += url.QueryEscape(name) + "=" + url.QueryEscape(value)
	return r
}

// get is a request of the topic for a path and a query that is complete already.
func get(topic, path string) Request {
	path, query, _ := strings.Cut(path, "?")
	return Request{Topic: topic, Path: path, Query: query}
}

// watch makes a watch of the request that ends by itself.
func (r Request) watch() Request {
	r = r.with("watch", "true").with("timeoutSeconds", "1")
	r.Stream = true
	return r
}
