package api

import (
	"net/http"
	"strings"
)

// routes registers handlers by path and verb.
type routes struct{ mux *http.ServeMux }

// handle serves one path, and redirects the path with a slash more, or less if it ends in one.
func (r routes) handle(path string, h http.Handler, methods ...string) {
	exact, other, redirect := path, path+"/{$}", withoutSlash
	if strings.HasSuffix(path, "/") {
		exact, other, redirect = path+"{$}", strings.TrimSuffix(path, "/"), withSlash
	}
	for _, method := range methods {
		r.mux.Handle(method+" "+exact, h)
		r.mux.HandleFunc(method+" "+other, redirect)
	}
}

// both serves a path with and without a slash at its end.
func (r routes) both(path string, h http.Handler) {
	r.mux.Handle("GET "+path, h)
	r.mux.Handle("GET "+path+"/{$}", h)
}

func withoutSlash(w http.ResponseWriter, r *http.Request) {
	redirect(w, r, strings.TrimRight(r.URL.EscapedPath(), "/"))
}

func withSlash(w http.ResponseWriter, r *http.Request) { redirect(w, r, r.URL.EscapedPath()+"/") }

func redirect(w http.ResponseWriter, r *http.Request, path string) {
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, path, http.StatusMovedPermanently)
}
