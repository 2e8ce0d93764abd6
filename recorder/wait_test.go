package recorder_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder"
)

// With Wait a recording begins with the group's first node.
func TestWaitsForTheFirstNode(t *testing.T) {
	for name, c := range map[string]struct {
		scope recorder.Scope
		lists int // of everything before and after, and of the group's nodes by one label after another
	}{
		"node group": {recorder.Scope{Nodegroup: "spot-burst", Providers: eks}, 7},
		"selector":   {recorder.Scope{Selector: "eks.amazonaws.com/nodegroup=spot-burst"}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			a.put(nodesPath, "ADDED", groupNode("other", "on-demand"))
			looks := 0
			look := func(w http.ResponseWriter, req *http.Request) bool {
				if query := req.URL.Query(); !strings.HasSuffix(query.Get("labelSelector"), "=spot-burst") || query.Get("resourceVersion") != "0" {
					t.Errorf("found the query %q, want the group's nodes of the server's cache", req.URL.RawQuery)
				}
				if looks++; looks == 3 {
					a.put(nodesPath, "ADDED", groupNode("end", "spot-burst"))
				}
				return true
			}
			first := func(http.ResponseWriter, *http.Request) bool { return true }
			a.fail("list "+nodesPath, first, look, status(503, "ServiceUnavailable", "restarting"), look, look)
			var waiting []string
			r, err := record(t, a, func(cfg *recorder.Config) {
				cfg.Scope, cfg.Wait = c.scope, true
				cfg.Waiting = func(found string) { waiting = append(waiting, found) }
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(waiting) != 1 || !strings.Contains(waiting[0], "found no ") {
				t.Errorf("was told %q, want once that no node was found", waiting)
			}
			if len(r.warns) != 1 || !strings.Contains(r.warns[0], "restarting") {
				t.Errorf("found the warnings %q, want one of the server that was away", r.warns)
			}
			if r.sum.Nodes != 1 || r.sum.Header.Scope.Provider != "eks" && name == "node group" {
				t.Errorf("found %d nodes of %q, want the first one", r.sum.Nodes, r.sum.Header.Scope.Provider)
			}
			if n := len(slices.DeleteFunc(a.requests(), func(s string) bool { return !strings.HasPrefix(s, "list "+nodesPath) })); n != c.lists {
				t.Errorf("found %d lists of nodes, want %d", n, c.lists)
			}
		})
	}
}

// What can't change while it waits ends it, and leaves nothing behind.
func TestWaitEnds(t *testing.T) {
	none := func(http.ResponseWriter, *http.Request) bool { return true }
	for name, c := range map[string]struct {
		group string
		fault func(cancel func()) fault
		want  string
	}{
		"forbidden": {"spot-burst", func(func()) fault { return status(403, "Forbidden", "no more") }, "kubectl auth can-i list nodes"},
		"interrupted": {"spot-burst", func(cancel func()) fault {
			return func(http.ResponseWriter, *http.Request) bool { cancel(); return true }
		}, "interrupted before the recording began"},
		"a name that no label has": {"spot burst", func(func()) fault { return none }, `node group "spot burst": want a name that a label can have`},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			a.put(nodesPath, "ADDED", groupNode("other", "on-demand"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a.fail("list "+nodesPath, none, c.fault(cancel))
			r, err := recordIn(ctx, t, a, func(cfg *recorder.Config) {
				cfg.Scope, cfg.Wait = recorder.Scope{Nodegroup: c.group, Providers: eks}, true
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, want it to say %q", err, c.want)
			}
			if _, err := os.Stat(r.file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("found a tape (%v), want none", err)
			}
		})
	}
}
