package recorder_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// api is an API server in a hundred lines: it lists in pages, watches from a
// version, forgets old versions, and does to a connection what a test says.
type api struct {
	*httptest.Server
	t testing.TB

	mu      sync.Mutex
	changed *sync.Cond
	rv      int
	oldest  int                   // versions below are 410
	log     map[string][]apiEvent // by path
	faults  map[string][]fault    // what happens to the next requests, by "list "+path or "watch "+path
	asked   []string              // every list and watch, with its version
	page    int                   // items in a page; 0 is all
	closed  bool
}

type apiEvent struct {
	rv     int
	typ    string
	object string // JSON
}

// fault answers one request; it returns true where the server is to continue as
// if nothing had happened.
type fault func(w http.ResponseWriter, r *http.Request) bool

const (
	nodesPath = "/api/v1/nodes"
	podsPath  = "/api/v1/pods"
	eventPath = "/api/v1/events"
	pdbPath   = "/apis/policy/v1/poddisruptionbudgets"
	claimPath = "/apis/karpenter.sh/v1/nodeclaims"
)

func newAPI(t testing.TB) *api {
	a := &api{t: t, rv: 100, log: map[string][]apiEvent{}, faults: map[string][]fault{}}
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

// put changes an object: "ADDED", "MODIFIED" or "DELETED".
func (a *api) put(path, typ, object string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rv++
	object = fmt.Sprintf(object, args...)
	object = strings.Replace(object, `"metadata":{`, fmt.Sprintf(`"metadata":{"resourceVersion":"%d",`, a.rv), 1)
	a.log[path] = append(a.log[path], apiEvent{a.rv, typ, object})
	a.changed.Broadcast()
}

// bookmark lets a version pass at which nothing happens, and tells of it.
func (a *api) bookmark(path string) {
	a.put(path, "BOOKMARK", `{"kind":"Bookmark","apiVersion":"v1","metadata":{"x":"y"}}`)
}

// forget makes every version so far too old.
func (a *api) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rv++
	a.oldest = a.rv
}

// fail queues faults for requests such as "watch /api/v1/nodes".
func (a *api) fail(request string, faults ...fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults[request] = append(a.faults[request], faults...)
}

func (a *api) requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if body, ok := discovery[r.URL.Path]; ok {
		if f := a.next("get "+r.URL.Path, r); f == nil || f(w, r) {
			_, _ = fmt.Fprint(w, body)
		}
		return
	}
	verb := "list "
	if r.URL.Query().Get("watch") != "" {
		verb = "watch "
	}
	if f := a.next(verb+r.URL.Path, r); f != nil && !f(w, r) {
		return
	}
	if !slices.Contains([]string{nodesPath, podsPath, eventPath, pdbPath, claimPath}, r.URL.Path) {
		status(404, "NotFound", "the server could not find the requested resource")(w, r)
		return
	}
	if verb == "watch " {
		a.watch(w, r)
		return
	}
	a.list(w, r)
}

func (a *api) next(request string, r *http.Request) fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !strings.HasPrefix(request, "get ") {
		a.asked = append(a.asked, strings.TrimSpace(request+" "+r.URL.Query().Get("resourceVersion")))
	}
	queue := a.faults[request]
	if len(queue) == 0 {
		return nil
	}
	a.faults[request] = queue[1:]
	return queue[0]
}

func (a *api) list(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	alive := map[string]string{}
	for _, e := range a.log[r.URL.Path] {
		if e.typ == "BOOKMARK" {
			continue
		}
		key := key(e.object)
		if alive[key] = e.object; e.typ == "DELETED" {
			delete(alive, key)
		}
	}
	var items []string
	for _, k := range slices.Sorted(mapKeys(alive)) {
		items = append(items, alive[k])
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	rest := ""
	items = items[min(from, len(items)):]
	if a.page > 0 && r.URL.Query().Get("limit") != "" && len(items) > a.page {
		items, rest = items[:a.page], strconv.Itoa(from+a.page)
	}
	_, _ = fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"%d","continue":%q},"items":[%s]}`, a.rv, rest, strings.Join(items, ","))
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func key(object string) string {
	var o struct {
		Metadata struct{ Namespace, Name string }
	}
	_ = json.Unmarshal([]byte(object), &o)
	return o.Metadata.Namespace + "/" + o.Metadata.Name
}

func (a *api) watch(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	a.mu.Lock()
	tooOld := from < a.oldest
	a.mu.Unlock()
	if tooOld {
		status(410, "Expired", "too old resource version")(w, r)
		return
	}
	stop := r.Context()
	go func() {
		<-stop.Done()
		a.changed.Broadcast()
	}()
	_ = http.NewResponseController(w).Flush()
	for {
		var frames bytes.Buffer
		a.mu.Lock()
		for frames.Len() == 0 {
			if a.closed || stop.Err() != nil {
				a.mu.Unlock()
				return
			}
			for _, e := range a.log[r.URL.Path] {
				if e.rv > from {
					fmt.Fprintf(&frames, "{\"type\":%q,\"object\":%s}\n", e.typ, e.object)
					from = e.rv
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

// status answers with a Status.
func status(code int, reason, message string, header ...string) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
		return false
	}
}

// say sends bytes on a watch and ends it cleanly.
func say(text string) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = fmt.Fprint(w, text)
		return false
	}
}

// cut sends bytes on a watch and then resets the connection.
func cut(text string) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = fmt.Fprint(w, text)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

var discovery = map[string]string{
	"/version": `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`,
	"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"policy",
		"versions":[{"groupVersion":"policy/v1","version":"v1"}],"preferredVersion":{"groupVersion":"policy/v1","version":"v1"}},{"name":"karpenter.sh",
		"versions":[{"groupVersion":"karpenter.sh/v1","version":"v1"}],"preferredVersion":{"groupVersion":"karpenter.sh/v1","version":"v1"}}]}`,
	"/apis/karpenter.sh/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"karpenter.sh/v1","resources":[
		{"name":"nodeclaims","singularName":"nodeclaim","namespaced":false,"kind":"NodeClaim","verbs":["get","list","watch"]}]}`,
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[
		{"name":"nodes","singularName":"node","namespaced":false,"kind":"Node","verbs":["get","list","watch"],"shortNames":["no"]},
		{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","watch"],"shortNames":["po"]},
		{"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]},
		{"name":"secrets","singularName":"secret","namespaced":true,"kind":"Secret","verbs":["get","list","watch"]},
		{"name":"bindings","singularName":"binding","namespaced":true,"kind":"Binding","verbs":["create"]},
		{"name":"events","singularName":"event","namespaced":true,"kind":"Event","verbs":["get","list","watch"],"shortNames":["ev"]}]}`,
	"/apis/policy/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"policy/v1","resources":[
		{"name":"poddisruptionbudgets","singularName":"poddisruptionbudget","namespaced":true,"kind":"PodDisruptionBudget",
		"verbs":["get","list","watch"],"shortNames":["pdb"]}]}`,
	"/api/v1/namespaces/kube-system": `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"cluster-1"}}`,
}
