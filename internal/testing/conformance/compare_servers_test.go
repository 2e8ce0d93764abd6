package conformance_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/conformance"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
)

const example = "../../../examples/surge.yaml"

// surveyed returns what is on the example.
func surveyed(t *testing.T) (*timeline.Header, *conformance.Inventory) {
	t.Helper()
	tape, err := timeline.Open(example)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tape.Close() }() // it was only read
	inventory, err := conformance.TakeInventory(tape)
	if err != nil {
		t.Fatal(err)
	}
	return tape.Header(), inventory
}

// peer shows the end of the example, through what a test puts before it.
func peer(t *testing.T, before func(http.ResponseWriter, *http.Request) bool) (*conformance.Inventory, *conformance.Peer) {
	t.Helper()
	_, inventory := surveyed(t)
	player, err := replay.NewPlayer(replay.File(example))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = player.Close() }) // it was only read
	if err := player.Seek(t.Context(), replay.End); err != nil {
		t.Fatal(err)
	}
	server, err := apiserver.New(player)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	socket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if before == nil || !before(w, req) {
			server.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(socket.Close)
	return inventory, &conformance.Peer{Base: socket.URL, Client: socket.Client(), Stranger: socket.Client(), Now: inventory.End}
}

// some are the requests that are answered at once.
func some(w *conformance.Inventory) (few []conformance.Request) {
	for _, r := range conformance.Requests(w) {
		if !r.Stream && r.Topic != "versions" {
			few = append(few, r)
		}
	}
	return few
}

func TestAServerIsLikeItself(t *testing.T) {
	inventory, real := peer(t, nil)
	_, ours := peer(t, nil)
	requests := some(inventory)
	report, err := conformance.CompareServers(t.Context(), inventory, real, ours, requests, []conformance.Excepted{
		{Request: "GET /api.*", Difference: `body\.serverAddressByClientCIDRs\[\]\.serverAddress: .*`, Reason: "two addresses"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() || report.Requests != len(requests) || report.Alike < 1000 {
		t.Error(report)
	}
}

// Each of these is one thing that another server could do wrong.
func TestWhatDiffersIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		do   func(http.ResponseWriter)
		want string
	}{
		"a status":        {"/api/v1/nodes", func(w http.ResponseWriter) { w.WriteHeader(http.StatusTeapot) }, "list status 200 418"},
		"a header":        {"/version", func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/plain") }, "discovery header Content-Type"},
		"a missing body":  {"/api/v1/pods", func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json") }, "list body"},
		"nonsense":        {"/apis", func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json"); fmt.Fprint(w, "{") }, "discovery no answer"},
		"a cut-off reply": {"/api", func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, "discovery no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			inventory, real := peer(t, nil)
			_, ours := peer(t, func(w http.ResponseWriter, req *http.Request) bool {
				if req.URL.Path == c.path {
					c.do(w)
					return true
				}
				return false
			})
			requests := slices.DeleteFunc(some(inventory), func(r conformance.Request) bool { return r.Path != c.path || r.Method != "" })
			report, err := conformance.CompareServers(t.Context(), inventory, real, ours, requests, nil)
			if err != nil {
				t.Fatal(err)
			}
			if report.Equal() || !strings.Contains(report.String(), c.want) {
				t.Errorf("found\n%s\nwant %q", report, c.want)
			}
		})
	}
}

// A real server that is too busy to begin a watch within a second is asked again, with more time.
func TestAWatchThatRanOutOfTimeIsAskedAgain(t *testing.T) {
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"context deadline exceeded","code":500}`
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"an event":  {http.StatusOK, `{"type":"ERROR","object":` + status + `}`},
		"an answer": {http.StatusInternalServerError, status},
	} {
		t.Run(name, func(t *testing.T) {
			inventory, real := peer(t, func(w http.ResponseWriter, req *http.Request) bool {
				if req.URL.Query().Get("timeoutSeconds") != "1" {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(answer.status)
				fmt.Fprintln(w, answer.body)
				return true
			})
			_, ours := peer(t, nil)
			requests := []conformance.Request{{Path: "/api/v1/nodes", Query: "watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dip-10-0-2-10", Stream: true}}
			report, err := conformance.CompareServers(t.Context(), inventory, real, ours, requests, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !report.Equal() || report.Alike != 1 {
				t.Error(report)
			}
		})
	}
}

func TestARowThatNothingNeedsIsStale(t *testing.T) {
	inventory, real := peer(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	report, err := conformance.CompareServers(ctx, inventory, real, real, []conformance.Request{{Path: "/version"}},
		[]conformance.Excepted{{Request: ".*", Difference: "status: .*", Reason: "of old"}})
	if err != nil {
		t.Fatal(err)
	}
	if report.Equal() || report.Alike != 1 || len(report.Stale()) != 1 || !strings.Contains(report.String(), "stale: ") {
		t.Error(report)
	}
	for _, bad := range []conformance.Excepted{{Request: "(", Difference: ".", Reason: "r"}, {Request: ".", Difference: "[", Reason: "r"}, {Request: ".", Difference: "."}} {
		if _, err := conformance.CompareServers(ctx, inventory, real, real, nil, []conformance.Excepted{bad}); err == nil || !strings.Contains(err.Error(), "row 1") {
			t.Errorf("%+v: found %v, want an error that names the row", bad, err)
		}
	}
}
