package daemon_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// api is an API server of nodes and pods: it lists, and watches from a version that it hasn't forgotten.
type api struct {
	*httptest.Server
	mu      sync.Mutex
	changed *sync.Cond
	rv      int
	oldest  int // versions below are 410
	log     []change
	away    bool   // requests are answered with 503
	refuse  string // requests of this path are answered with 403
	busy    string // and of this with 503
	cluster string
	offers  map[string]string // what discovery answers, by path
	closed  bool
}

type change struct {
	rv               int
	path, typ, name  string
	object, resource string
}

func newAPI(t testing.TB) *api {
	a := &api{rv: 100, cluster: "cluster-1", offers: discovery}
	a.changed = sync.NewCond(&a.mu)
	a.Server = httptest.NewServer(a)
	t.Cleanup(func() {
		a.mu.Lock()
		a.closed = true
		a.changed.Broadcast()
		a.mu.Unlock()
		a.CloseClientConnections()
		a.Close()
	})
	return a
}

func (a *api) config() *rest.Config { return &rest.Config{Host: a.URL} }

// node and pod change an object: "ADDED", "MODIFIED" or "DELETED". They return the version.
func (a *api) node(typ, name, spec string) int {
	return a.put("nodes", typ, name, `{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"%d","name":"`+name+`","uid":"uid-`+name+
		`","labels":{"eks.amazonaws.com/nodegroup":"`+name[:1]+`"}},"spec":{`+spec+`},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
}

func (a *api) pod(typ, name, node string) int {
	return a.put("pods", typ, name, `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"%d","namespace":"default","name":"`+name+
		`","uid":"uid-`+name+`"},"spec":{"nodeName":"`+node+`"},"status":{"phase":"Running"}}`)
}

func (a *api) put(resource, typ, name, object string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rv++
	a.log = append(a.log, change{a.rv, "/api/v1/" + resource, typ, name, fmt.Sprintf(object, a.rv), resource})
	a.changed.Broadcast()
	return a.rv
}

// forget makes every version so far too old.
func (a *api) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rv++
	a.oldest = a.rv
}

func (a *api) set(change func(*api)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	a.mu.Lock()
	away, refused, cluster, oldest, offers := a.away || r.URL.Path == a.busy, r.URL.Path == a.refuse, a.cluster, a.oldest, a.offers
	a.mu.Unlock()
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	watch := r.URL.Query().Get("watch") != ""
	switch {
	case away:
		refuse(w, 503, "ServiceUnavailable")
	case refused:
		refuse(w, 403, "Forbidden")
	case r.URL.Path == "/api/v1/namespaces/kube-system":
		_, _ = fmt.Fprintf(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":%q}}`, cluster)
	case offers[r.URL.Path] != "":
		_, _ = fmt.Fprint(w, offers[r.URL.Path])
	case !served[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]:
		refuse(w, 404, "NotFound")
	case watch && from < oldest:
		refuse(w, 410, "Expired")
	case watch:
		a.watch(w, r, from)
	default:
		a.list(w, r)
	}
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":%q,"code":%d}`, reason, code)
}

func (a *api) list(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var names []string
	alive := map[string]string{}
	for _, c := range a.log {
		if c.path != r.URL.Path {
			continue
		}
		if c.typ == "ADDED" {
			names = append(names, c.name)
		}
		if alive[c.name] = c.object; c.typ == "DELETED" {
			delete(alive, c.name)
		}
	}
	var items []string
	for _, name := range names {
		if o, ok := alive[name]; ok {
			items = append(items, o)
		}
	}
	_, _ = fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, a.rv, strings.Join(items, ","))
}

func (a *api) watch(w http.ResponseWriter, r *http.Request, from int) {
	stop := r.Context()
	var owned sync.WaitGroup
	defer owned.Wait()
	over := make(chan struct{})
	defer close(over)
	owned.Go(func() {
		select {
		case <-stop.Done():
		case <-over:
		}
		a.mu.Lock()
		a.changed.Broadcast()
		a.mu.Unlock()
	})
	_ = http.NewResponseController(w).Flush()
	for {
		var frames bytes.Buffer
		a.mu.Lock()
		for frames.Len() == 0 {
			if a.closed || stop.Err() != nil {
				a.mu.Unlock()
				return
			}
			for _, c := range a.log {
				if c.rv > from && c.path == r.URL.Path {
					fmt.Fprintf(&frames, "{\"type\":%q,\"object\":%s}\n", c.typ, c.object)
					from = c.rv
				}
			}
			if frames.Len() == 0 {
				a.changed.Wait()
			}
		}
		a.mu.Unlock()
		if _, err := w.Write(frames.Bytes()); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
	}
}

var served = map[string]bool{"nodes": true, "pods": true, "events": true, "poddisruptionbudgets": true, "nodeclaims": true}

var discovery = map[string]string{
	"/version": `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`,
	"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis":    `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[
		{"name":"nodes","singularName":"node","namespaced":false,"kind":"Node","verbs":["get","list","watch"],"shortNames":["no"]},
		{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","watch"],"shortNames":["po"]}]}`,
}
