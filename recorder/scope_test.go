package recorder_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

var eks = []recorder.Provider{
	{Name: "eks", Labels: []string{"eks.amazonaws.com/nodegroup"}},
	{Name: "gke", Labels: []string{"cloud.google.com/gke-nodepool"}},
}

func groupNode(name, group string) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"uid":"uid-%s","labels":{"eks.amazonaws.com/nodegroup":%q}}}`, name, name, group)
}

func pod(name, node string) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","uid":"uid-%s","labels":{"app":%q},
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"rs-%s","controller":true}]},"spec":{"nodeName":%q}}`,
		name, name, name[:3], name[:3], node)
}

func budget(name, app string) string {
	return fmt.Sprintf(`{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":%q,"namespace":"default","uid":"uid-%s"},
		"spec":{"selector":{"matchLabels":{"app":%q}}}}`, name, name, app)
}

func about(name, kind, object, uid string) string {
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","uid":"uid-%s"},
		"involvedObject":{"kind":%q,"namespace":"default","name":%q,"uid":%q},"reason":"Test"}`, name, name, kind, object, uid)
}

func scoped(c *recorder.Config) {
	c.Resources = []string{"events", "poddisruptionbudgets", "pods", "nodes"}
	c.Scope = recorder.Scope{Nodegroup: "spot", Providers: eks}
}

// scopedLists ends with the last of the lists.
func scopedLists(c *recorder.Config) {
	scoped(c)
	c.Stop = func(ev timeline.Event) bool { return ev.Type == timeline.Sync && ev.Resource == "nodes" }
}

func TestScopeOfTheLists(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", groupNode("in", "spot"))
	a.put(nodesPath, "ADDED", groupNode("out", "other"))
	a.put(podsPath, "ADDED", pod("web-in", "in"))
	a.put(podsPath, "ADDED", pod("web-pending", ""))
	a.put(podsPath, "ADDED", pod("web-out", "out"))
	a.put(podsPath, "ADDED", pod("job-out", "out"))
	a.put(podsPath, "ADDED", pod("job-pending", ""))
	a.put(pdbPath, "ADDED", budget("web", "web"))
	a.put(pdbPath, "ADDED", budget("job", "job"))
	a.put(eventPath, "ADDED", about("e-node", "Node", "in", "in"))
	a.put(eventPath, "ADDED", about("e-node-out", "Node", "out", "out"))
	a.put(eventPath, "ADDED", about("e-pod", "Pod", "web-in", "uid-web-in"))
	a.put(eventPath, "ADDED", about("e-pod-out", "Pod", "job-out", "uid-job-out"))
	a.put(eventPath, "ADDED", about("e-owner", "ReplicaSet", "rs", "rs-web"))
	a.put(eventPath, "ADDED", about("e-owner-out", "ReplicaSet", "rs", "rs-job"))
	a.put(eventPath, "ADDED", about("e-gone", "Pod", "gone", "uid-gone"))
	r, err := record(t, a, scopedLists)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED events default/e-node 110
	0s ADDED events default/e-owner 114
	0s ADDED events default/e-pod 112
	0s SYNC events 116
	0s ADDED poddisruptionbudgets default/web 108
	0s SYNC poddisruptionbudgets 116
	0s ADDED pods default/web-in 103
	0s ADDED pods default/web-pending 104
	0s SYNC pods 116
	0s ADDED nodes in 101
	0s SYNC nodes 116
	0s END complete
	`)
	if p := r.sum.Header.Scope; p.Provider != "eks" || p.Nodegroup != "spot" {
		t.Errorf("found scope %+v, want eks and spot", p)
	}
	equal(t, strings.Join(r.sum.LeftOut, "\n"), "events: 4 events out of scope")
}

// Kubelets name a static pod by the hash of its file, and the API server gives the pod that mirrors it another UID.
func TestEventsOfStaticPods(t *testing.T) {
	static := func(name, node string) string {
		return strings.Replace(pod(name, node), `"labels":`, `"annotations":{"kubernetes.io/config.mirror":"hash-`+name+`"},"labels":`, 1)
	}
	a := newAPI(t)
	a.put(nodesPath, "ADDED", groupNode("in", "spot"))
	a.put(nodesPath, "ADDED", groupNode("out", "other"))
	a.put(podsPath, "ADDED", static("proxy-in", "in"))
	a.put(podsPath, "ADDED", static("proxy-out", "out"))
	a.put(eventPath, "ADDED", about("e-in", "Pod", "proxy-in", "hash-proxy-in"))
	a.put(eventPath, "ADDED", about("e-out", "Pod", "proxy-out", "hash-proxy-out"))
	r, err := record(t, a, scopedLists)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED events default/e-in 105
	0s SYNC events 106
	0s SYNC poddisruptionbudgets 106
	0s ADDED pods default/proxy-in 103
	0s SYNC pods 106
	0s ADDED nodes in 101
	0s SYNC nodes 106
	0s END complete
	`)
	equal(t, strings.Join(r.sum.LeftOut, "\n"), "events: 1 event out of scope")
}

// A node gets its label late: it enters with ADDED, and what belongs to it
// follows at versions that nothing else has.
func TestLateLabel(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", groupNode("in", "spot"))
	a.put(nodesPath, "ADDED", groupNode("late", "other"))
	a.put(podsPath, "ADDED", pod("web-a", "late"))
	a.put(podsPath, "ADDED", pod("web-b", "late"))
	a.put(podsPath, "ADDED", pod("web-c", ""))
	a.put(pdbPath, "ADDED", budget("web", "web"))
	seen := make(chan struct{})
	a.fail("watch "+nodesPath, say(""), func(http.ResponseWriter, *http.Request) bool { // the second: all lists are read
		a.put(nodesPath, "MODIFIED", groupNode("late", "spot"))
		return true
	})
	a.fail("watch "+podsPath, say(""), func(http.ResponseWriter, *http.Request) bool {
		<-seen // the node is in scope
		for range 4 {
			a.bookmark(pdbPath) // versions pass at which nothing happens to pods
		}
		a.put(podsPath, "MODIFIED", pod("web-b", "late"))
		a.put(podsPath, "ADDED", pod("end", "late"))
		return true
	})
	r, err := record(t, a, func(c *recorder.Config) {
		scoped(c)
		c.Resources = []string{"nodes", "pods", "poddisruptionbudgets"}
		ended := until("end")
		c.Stop = func(ev timeline.Event) bool {
			if ev.Name == "late" {
				close(seen)
			}
			return ended(ev)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range strings.Split(lines(t, r.file), "\n") {
		if _, l, ok := strings.Cut(l, " "); ok && strings.Contains(l, "pods") || strings.Contains(l, "nodes") {
			got = append(got, l)
		}
	}
	// 107 is the node's event, 108 to 111 are the bookmarks, 112 is web-b's own.
	equal(t, strings.Join(got, "\n")+"\n", `
	ADDED nodes in 101
	SYNC nodes 106
	SYNC pods 106
	ADDED nodes late 107
	ADDED pods default/web-a 110
	ADDED pods default/web-c 111
	ADDED pods default/web-b 112
	ADDED pods default/end 113
	`)
}

// An Event comes before its pod is bound: it waits, and those after it wait
// with it, so that their order stays. One about a pod elsewhere is left out.
func TestEventsWaitForTheirObject(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", groupNode("in", "spot"))
	a.put(nodesPath, "ADDED", groupNode("out", "other"))
	a.put(podsPath, "ADDED", pod("job-a", ""))
	bound := make(chan struct{})
	a.fail("watch "+eventPath, func(http.ResponseWriter, *http.Request) bool {
		a.put(eventPath, "ADDED", about("first", "Pod", "job-a", "uid-job-a"))
		a.put(eventPath, "ADDED", about("second", "Node", "in", "in"))
		a.put(eventPath, "ADDED", about("elsewhere", "Node", "out", "out"))
		return true
	}, say(""))
	a.fail("watch "+podsPath, func(http.ResponseWriter, *http.Request) bool {
		a.put(podsPath, "MODIFIED", pod("job-a", "in"))
		return true
	})
	go func() {
		<-bound
		a.put(eventPath, "ADDED", about("end", "Node", "in", "in"))
	}()
	r, err := record(t, a, func(c *recorder.Config) {
		scoped(c)
		ended := until("end")
		c.Stop = func(ev timeline.Event) bool {
			if ev.Name == "job-a" {
				close(bound)
			}
			return ended(ev)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range strings.Split(lines(t, r.file), "\n") {
		if strings.Contains(l, "ADDED events") {
			got = append(got, strings.Fields(l)[3])
		}
	}
	equal(t, strings.Join(got, " "), "default/first default/second default/end")
}

// Out of scope again is still in scope: by UID.
func TestOnceInScopeAlwaysInScope(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", groupNode("in", "spot"))
	a.fail("watch "+nodesPath, func(http.ResponseWriter, *http.Request) bool {
		a.put(nodesPath, "MODIFIED", groupNode("in", "other"))
		a.put(nodesPath, "DELETED", groupNode("in", "other"))
		a.put(nodesPath, "ADDED", strings.Replace(groupNode("in", "other"), "uid-in", "uid-2", 1))
		a.put(nodesPath, "ADDED", groupNode("end", "spot"))
		return true
	})
	r, err := record(t, a, func(c *recorder.Config) { scoped(c); c.Resources = []string{"nodes"} })
	if err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED nodes in 101
	0s SYNC nodes 101
	0s MODIFIED nodes in 102
	0s DELETED nodes in 103
	0s ADDED nodes end 105
	0s END complete
	`)
}
