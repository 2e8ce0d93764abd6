package recorder_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/client-go/rest"
)

// What can't work is said in one line before anything is left behind.
func TestPreflight(t *testing.T) {
	forbidden := status(403, "Forbidden", `nodes is forbidden: User "eve" cannot do it`)
	for name, c := range map[string]struct {
		faults map[string]fault
		change func(*recorder.Config)
		want   []string
	}{
		"unreachable": {
			change: func(c *recorder.Config) { c.REST = &rest.Config{Host: "http://127.0.0.1:1"} },
			want:   []string{"http://127.0.0.1:1", "connection refused", "--server"},
		},
		"credentials": {
			faults: map[string]fault{"get /api": status(401, "Unauthorized", "Unauthorized"), "get /apis": status(401, "Unauthorized", "Unauthorized")},
			want:   []string{"401", "credentials"},
		},
		"list forbidden": {
			faults: map[string]fault{"list " + nodesPath: forbidden},
			want:   []string{"list nodes", "403", "kubectl auth can-i list nodes"},
		},
		"watch forbidden": {
			faults: map[string]fault{"watch " + podsPath: forbidden},
			change: func(c *recorder.Config) { c.Resources = []string{"pods"} },
			want:   []string{"watch pods", "403", "kubectl auth can-i watch pods --all-namespaces"},
		},
		"unknown resource": {
			change: func(c *recorder.Config) { c.Resources = []string{"nodes", "poddisruptionbudget.polcy", "podes"} },
			want:   []string{`"poddisruptionbudget.polcy"`, "did you mean poddisruptionbudgets.policy?"},
		},
		"nothing like it": {
			change: func(c *recorder.Config) { c.Resources = []string{"machines.cluster.x-k8s.io"} },
			want:   []string{`"machines.cluster.x-k8s.io"`, "kubectl api-resources"},
		},
		"secrets": {
			change: func(c *recorder.Config) { c.Resources, c.Full = []string{"secrets"}, true },
			want:   []string{"Secrets, which are never recorded"},
		},
		"no watch": {
			change: func(c *recorder.Config) { c.Resources = []string{"bindings"} },
			want:   []string{`"bindings"`, "no list", "create"},
		},
		"no such group": {
			change: func(c *recorder.Config) { c.Scope = recorder.Scope{Nodegroup: "spot-brust", Providers: eks} },
			want:   []string{`node group "spot-brust": found no such group; there are on-demand, spot-burst`},
		},
		"no such node": {
			change: func(c *recorder.Config) { c.Scope.Selector = "a=b" },
			want:   []string{`selector "a=b": found no node that matches (of 2)`, "--show-labels"},
		},
		"bad selector": {
			change: func(c *recorder.Config) { c.Scope.Selector = "a in" },
			want:   []string{`selector "a in"`},
		},
		"scope without nodes": {
			change: func(c *recorder.Config) { c.Resources, c.Scope.Selector = []string{"pods"}, "a=b" },
			want:   []string{"found no nodes among the resources"},
		},
		"an answer that is no list": {
			faults: map[string]fault{"list " + nodesPath: say("<html>")},
			want:   []string{"list nodes", "'<'"},
		},
		"the tape can't be made": {
			change: func(c *recorder.Config) {
				c.Open = func(timeline.Header) (*timeline.Writer, error) { return nil, errors.New("tape.yaml: file exists") }
			},
			want: []string{"file exists"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			a.put(nodesPath, "ADDED", groupNode("a", "spot-burst"))
			a.put(nodesPath, "ADDED", groupNode("b", "on-demand"))
			for request, f := range c.faults {
				a.fail(request, f)
			}
			r, err := record(t, a, c.change)
			if err == nil {
				t.Fatal("found no error, want one")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("found %q, want it to say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("found %q, want one line", err)
			}
			if _, err := os.Stat(r.file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("found a tape (%v), want none", err)
			}
		})
	}
}

// A server that is busy while the recording begins is asked again.
func TestPreflightWaitsForABusyServer(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("end", ""))
	a.fail("list "+nodesPath, status(429, "TooManyRequests", "later", "Retry-After", "2"), status(503, "ServiceUnavailable", "starting"))
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, r.clock.pauses()+"\n", "[2s 200ms]\n")
}

// A user that may not see the version or the namespace kube-system records without.
func TestResumesWithoutIdentity(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("end", ""))
	forbidden := status(403, "Forbidden", "no")
	a.fail("get /version", forbidden)
	a.fail("get /api/v1/namespaces/kube-system", forbidden)
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.warns) != 2 || r.sum.Header.Source.Cluster != "" {
		t.Errorf("found warnings %q and cluster %q, want two and none", r.warns, r.sum.Header.Source.Cluster)
	}
}

// The objects that nodes are made for are recorded where the server has them, unless resources are named, or the user may not
// see them: then the tape begins without them, and a warning says so.
func TestMachinesAreRecorded(t *testing.T) {
	forbidden := status(403, "Forbidden", "no")
	for name, c := range map[string]struct {
		refuse string
		named  []string
		want   string
	}{
		"by default":  {want: "nodes pods events poddisruptionbudgets.policy nodeclaims.karpenter.sh"},
		"not named":   {named: []string{"nodes"}, want: "nodes"},
		"not listed":  {refuse: "list ", want: "nodes pods events poddisruptionbudgets.policy"},
		"not watched": {refuse: "watch ", want: "nodes pods events poddisruptionbudgets.policy"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			a.put(nodesPath, "ADDED", node("end", ""))
			a.put(claimPath, "ADDED", `{"metadata":{"name":"claim","uid":"claim-1"},"status":{"nodeName":"end"}}`)
			if c.refuse != "" {
				a.fail(c.refuse+claimPath, forbidden)
			}
			r, err := record(t, a, func(cfg *recorder.Config) { cfg.Resources = c.named })
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, res := range r.sum.Header.Resources {
				got = append(got, res.String())
			}
			equal(t, strings.Join(got, " "), c.want)
			if c.refuse == "" {
				if len(r.warns) > 0 {
					t.Errorf("found warnings %q, want none", r.warns)
				}
				return
			}
			// The end is a command, which somebody may paste.
			if remedy := "; check with: kubectl auth can-i " + c.refuse + "nodeclaims.karpenter.sh"; len(r.warns) != 1 || !strings.HasSuffix(r.warns[0], remedy) {
				t.Errorf("found warnings %q, want one that ends with %q", r.warns, remedy)
			}
		})
	}
}

// kubectl's words for a resource are understood.
func TestResourceNames(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("end", ""))
	r, err := record(t, a, func(c *recorder.Config) { c.Resources = []string{"no", "Pod", "pdb", "events", "nodes"} })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, res := range r.sum.Header.Resources {
		got = append(got, res.String())
	}
	equal(t, strings.Join(got, " "), "nodes pods poddisruptionbudgets.policy events")
}

func TestConfigIsChecked(t *testing.T) {
	open := func(timeline.Header) (*timeline.Writer, error) { return nil, nil }
	for want, c := range map[string]recorder.Config{
		"REST":     {Open: open},
		"Open":     {REST: &rest.Config{}},
		"duration": {REST: &rest.Config{}, Open: open, Duration: -1},
		"provider": {REST: &rest.Config{}, Open: open, Scope: recorder.Scope{Nodegroup: "a"}},
		"to wait":  {REST: &rest.Config{}, Open: open, Wait: true},
		"want one": {REST: &rest.Config{}, Open: open, Scope: recorder.Scope{Nodegroup: "a", Selector: "b", Providers: eks}},
	} {
		if _, err := recorder.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want an error about %q", err, want)
		}
	}
}

// The credentials of the config go with every request.
func TestBearerToken(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("end", ""))
	check := func(w http.ResponseWriter, r *http.Request) bool {
		if got := r.Header.Get("Authorization"); got != "Bearer token-1" {
			t.Errorf("%s: found authorization %q, want the token", r.URL, got)
		}
		if r.Proto != "HTTP/1.1" {
			t.Errorf("%s: found %s, want HTTP/1.1", r.URL, r.Proto)
		}
		return true
	}
	a.fail("list "+nodesPath, check)
	a.fail("watch "+nodesPath, check)
	a.fail("get /api", check)
	if _, err := record(t, a, func(c *recorder.Config) { c.REST.BearerToken = "token-1" }); err != nil {
		t.Fatal(err)
	}
}
