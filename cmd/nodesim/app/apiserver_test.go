package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
	"github.com/rogpeppe/go-internal/testscript"
)

// apiserver [forbid=PLURAL] [expire=PLURAL] starts an API server on which the
// demo's roll happens, fifty times as fast, from the first watch on, and sets
// $SERVER. What is forbidden can't be listed; what expires once forgets the
// version in the middle of its watch, so that one has to list again.
func rollingServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: apiserver [forbid=PLURAL] [expire=PLURAL]")
	}
	_, events := scenarios.Demo()
	a := &rolling{events: events, stop: make(chan struct{})}
	for _, arg := range args {
		verb, plural, _ := strings.Cut(arg, "=")
		switch verb {
		case "forbid":
			a.forbid = plural
		case "expire":
			a.expire = plural
		}
	}
	server := httptest.NewServer(a)
	ts.Defer(func() {
		close(a.stop)
		server.Close()
	})
	ts.Setenv("SERVER", server.URL)
}

// rolling is the API server.
type rolling struct {
	events         []timeline.Event
	forbid, expire string
	stop           chan struct{}

	mu    sync.Mutex
	began time.Time
}

const fast = 50

var discovery = map[string]string{
	"/api":                           `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis":                          `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"policy","versions":[{"groupVersion":"policy/v1","version":"v1"}],"preferredVersion":{"groupVersion":"policy/v1","version":"v1"}}]}`,
	"/version":                       `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`,
	"/api/v1/namespaces/kube-system": `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"cluster-1"}}`,
	"/api/v1":                        `{"kind":"APIResourceList","groupVersion":"v1","resources":[` + resource("nodes", "Node", false) + `,` + resource("pods", "Pod", true) + `,` + resource("events", "Event", true) + `]}`,
	"/apis/policy/v1":                `{"kind":"APIResourceList","groupVersion":"policy/v1","resources":[` + resource("poddisruptionbudgets", "PodDisruptionBudget", true) + `]}`,
}

func resource(plural, kind string, namespaced bool) string {
	return fmt.Sprintf(`{"name":%q,"singularName":"","namespaced":%v,"kind":%q,"verbs":["list","watch"]}`, plural, namespaced, kind)
}

// due returns how far the roll is, in tape time; start lets it begin.
func (a *rolling) due(start bool) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.began.IsZero() {
		if !start {
			return 0
		}
		a.began = time.Now()
	}
	return time.Since(a.began) * fast
}

func (a *rolling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if body, ok := discovery[r.URL.Path]; ok {
		_, _ = fmt.Fprint(w, body)
		return
	}
	plural := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch {
	case plural == a.forbid:
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"%s is forbidden: User \"ann\" cannot list it"}`, plural)
	case r.URL.Query().Get("watch") != "":
		a.watch(w, r, plural)
	default:
		a.list(w, plural)
	}
}

func (a *rolling) list(w http.ResponseWriter, plural string) {
	at, version := a.due(false), "1"
	alive := map[string]json.RawMessage{}
	var order []string
	for _, ev := range a.events {
		if ev.At > at {
			break
		}
		version = ev.RV
		if ev.Resource != plural || !ev.Type.Object() {
			continue
		}
		if alive[ev.UID] = ev.Object; ev.Type == timeline.Added {
			order = append(order, ev.UID)
		} else if ev.Type == timeline.Deleted {
			delete(alive, ev.UID)
		}
	}
	items := []json.RawMessage{}
	for _, uid := range order {
		if alive[uid] != nil {
			items = append(items, alive[uid])
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "List", "apiVersion": "v1", "metadata": map[string]string{"resourceVersion": version}, "items": items,
	})
}

func (a *rolling) watch(w http.ResponseWriter, r *http.Request, plural string) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	_ = http.NewResponseController(w).Flush()
	for _, ev := range a.events {
		rv, _ := strconv.Atoi(ev.RV)
		if ev.Resource != plural || !ev.Type.Object() || rv <= from {
			continue
		}
		timer := time.NewTimer((ev.At - a.due(true)) / fast)
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		case <-a.stop:
			return
		}
		a.mu.Lock()
		expired := plural == a.expire && ev.At > 8*time.Second
		if expired {
			a.expire = ""
		}
		a.mu.Unlock()
		if expired {
			_, _ = fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`)
			return
		}
		_, _ = fmt.Fprintf(w, "{\"type\":%q,\"object\":%s}\n", ev.Type, ev.Object)
		_ = http.NewResponseController(w).Flush()
	}
	select {
	case <-r.Context().Done():
	case <-a.stop:
	}
}
