package recorder_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// resume makes a recording continue with the tape of an earlier one.
func resume(t *testing.T, file string, change func(*recorder.Config)) func(*recorder.Config) {
	t.Helper()
	w, res, err := timeline.Append(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *recorder.Config) {
		c.Open, c.Out, c.Resume, c.Resources = nil, w, res, nil
		if change != nil {
			change(c)
		}
	}
}

func TestAppendGoesOnWhereTheTapeEnds(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	a.put(nodesPath, "ADDED", node("end", ""))
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Killed: the tape has no END, and its last line is torn.
	text, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	i := strings.LastIndex(string(text), "--- ")
	if err := os.WriteFile(r.file, append(text[:i], `--- {"at":"1s","type":"MODI`...), 0o600); err != nil {
		t.Fatal(err)
	}
	a.put(nodesPath, "MODIFIED", node("a", `"unschedulable":true`))
	a.put(nodesPath, "DELETED", node("a", ""))
	a.put(nodesPath, "ADDED", node("again", ""))
	if _, err := record(t, a, resume(t, r.file, func(c *recorder.Config) { c.Stop = until("again") })); err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED nodes a 101
	0s ADDED nodes end 102
	0s SYNC nodes 102
	0s MODIFIED nodes a 103
	0s DELETED nodes a 104
	0s ADDED nodes again 105
	0s END complete
	`)
	if n := strings.Count(strings.Join(a.requests(), "\n"), "list "); n != 1 {
		t.Errorf("found %d lists, want 1: the versions were still known", n)
	}
}

func TestAppendBehindTheWindowLeavesAGap(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	a.put(nodesPath, "ADDED", node("end", ""))
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.put(nodesPath, "DELETED", node("end", ""))
	a.put(nodesPath, "MODIFIED", node("a", `"unschedulable":true`))
	a.forget()
	a.put(nodesPath, "ADDED", node("again", ""))
	if _, err := record(t, a, resume(t, r.file, func(c *recorder.Config) {
		c.Stop = func(ev timeline.Event) bool { return ev.Type == timeline.Sync }
	})); err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED nodes a 101
	0s ADDED nodes end 102
	0s SYNC nodes 102
	0s GAP nodes 102 410 Expired: too old resource version
	0s DELETED nodes end
	0s MODIFIED nodes a 104
	0s ADDED nodes again 106
	0s SYNC nodes 106
	0s END complete
	`)
}

// What was out of scope when the tape ended can still come into scope.
func TestAppendKnowsWhatWasOutOfScope(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", groupNode("in", "spot"))
	a.put(nodesPath, "ADDED", groupNode("late", "other"))
	a.put(podsPath, "ADDED", pod("web-a", "late"))
	nodesAndPods := func(c *recorder.Config) { scoped(c); c.Resources = []string{"nodes", "pods"} }
	r, err := record(t, a, func(c *recorder.Config) {
		nodesAndPods(c)
		c.Stop = func(ev timeline.Event) bool { return ev.Type == timeline.Sync && ev.Resource == "pods" }
	})
	if err != nil {
		t.Fatal(err)
	}
	a.fail("watch "+podsPath, say(""), func(http.ResponseWriter, *http.Request) bool {
		for range 3 {
			a.bookmark(pdbPath)
		}
		a.put(podsPath, "ADDED", pod("end", "in"))
		return true
	})
	a.put(nodesPath, "MODIFIED", groupNode("late", "spot"))
	seen := make(chan struct{})
	queue := a.faults["watch "+podsPath]
	go0 := queue[1]
	queue[1] = func(w http.ResponseWriter, r *http.Request) bool { <-seen; return go0(w, r) }
	if _, err := record(t, a, resume(t, r.file, func(c *recorder.Config) {
		c.Scope.Providers = eks
		ended := until("end")
		c.Stop = func(ev timeline.Event) bool {
			if ev.Name == "late" {
				close(seen)
			}
			return ended(ev)
		}
	})); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, r.file); !strings.Contains(got, "ADDED nodes late 104") || !strings.Contains(got, "ADDED pods default/web-a 107\n") {
		t.Errorf("found\n%s\nwant the node and its pod", got)
	}
}

func TestAppendRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		cluster string
		change  func(*recorder.Config)
		want    string
	}{
		"another cluster":   {cluster: `{"metadata":{"uid":"cluster-2"}}`, want: "cluster-1, and this is cluster-2"},
		"another scope":     {change: func(c *recorder.Config) { c.Scope = recorder.Scope{Nodegroup: "spot", Providers: eks} }, want: `scope "spot", want the tape's ""`},
		"other pods":        {change: func(c *recorder.Config) { c.Scope = recorder.Scope{Pods: "app=web", Namespace: "shop"} }, want: `pods "app=web" of namespace "shop", want the tape's "" of ""`},
		"another resource":  {change: func(c *recorder.Config) { c.Resources = []string{"pods"} }, want: `"pods" is not on the tape`},
		"another redaction": {change: func(c *recorder.Config) { c.Full = true }, want: "--full"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			a.put(nodesPath, "ADDED", node("end", ""))
			r, err := record(t, a, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := lines(t, r.file)
			if c.cluster != "" {
				a.fail("get /api/v1/namespaces/kube-system", say(c.cluster))
			}
			change := resume(t, r.file, c.change)
			_, err = record(t, a, change)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, want it to say %q", err, c.want)
			}
			if got := lines(t, r.file); got != before {
				t.Errorf("found\n%s\nwant the tape as it was:\n%s", got, before)
			}
		})
	}
}
