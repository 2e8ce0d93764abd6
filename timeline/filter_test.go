package timeline

import (
	"maps"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/internal/rawjson"
)

func selector(t testing.TB, s string) labels.Selector {
	t.Helper()
	sel, err := labels.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return sel
}

// At any moment the filtered tape shows what the whole one does, less what
// isn't chosen.
func TestFilterShowsTheChosen(t *testing.T) {
	for name, c := range map[string]struct {
		selections []Selection
		chosen     func(resource string, object []byte) bool
	}{
		"nodes":         {[]Selection{{Resources: []string{"nodes"}}}, func(r string, _ []byte) bool { return r == "nodes" }},
		"one namespace": {[]Selection{{Namespaces: []string{"default"}}}, func(r string, _ []byte) bool { return r == "pods" }},
		"a name": {[]Selection{{Names: []string{"ip-10-0-1-2"}}}, func(_ string, o []byte) bool {
			return rawjson.Text(o, "metadata", "name") == "ip-10-0-1-2"
		}},
		"a label": {[]Selection{{Labels: selector(t, "a")}}, func(_ string, o []byte) bool {
			return rawjson.Get(o, "metadata", "labels", "a") != nil
		}},
		"no label": {[]Selection{{Labels: selector(t, "!a,!Ready")}}, func(_ string, o []byte) bool {
			return rawjson.Get(o, "metadata", "labels", "a") == nil && rawjson.Get(o, "metadata", "labels", "Ready") == nil
		}},
		"labelled nodes and all pods": {[]Selection{{Resources: []string{"nodes"}, Labels: selector(t, "a")}, {Resources: []string{"pods"}}},
			func(r string, o []byte) bool { return r == "pods" || rawjson.Get(o, "metadata", "labels", "a") != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			kept := 0
			for seed := range uint64(4) {
				all := lookAlike(t, complete(sampleEvents(seed+20, 150)))
				_, got := transformed(t, all, Filter(c.selections...))
				kept += len(got)
				for i, ev := range all {
					if i+1 < len(all) && all[i+1].At == ev.At {
						continue // the moment isn't over
					}
					want := stateAt(all, ev.At)
					maps.DeleteFunc(want, func(key, object string) bool {
						res, _, _ := strings.Cut(key, " ")
						return !c.chosen(res, []byte(object))
					})
					if have := stateAt(got, ev.At); !maps.Equal(have, want) {
						t.Fatalf("seed %d: at %s\n%v\nwant\n%v", seed, ev.At, have, want)
					}
				}
			}
			if kept < 50 {
				t.Errorf("only %d events kept: the trial says little", kept)
			}
		})
	}
}

func TestFilterStories(t *testing.T) {
	labelled := func(at time.Duration, typ Type, rv, pool string) Event {
		ev := node(at, typ, "n", rv, "")
		ev.Object = []byte(strings.Replace(string(ev.Object), `"uid":`, `"labels":{"pool":"`+pool+`"},"uid":`, 1))
		return ev
	}
	events := []Event{
		labelled(0, Added, "1", "blue"), {Type: Sync, Resource: "nodes", RV: "2"}, {Type: Sync, Resource: "pods", RV: "2"},
		labelled(1e9, Modified, "3", "green"), labelled(2e9, Modified, "4", "green"),
		{At: 25e8, Type: Gap, Resource: "pods"}, {At: 26e8, Type: "NOTE", Resource: "pods"}, {At: 27e8, Type: "NOTE"},
		labelled(3e9, Modified, "5", "blue"), labelled(4e9, Modified, "6", "green"), labelled(5e9, Deleted, "7", "green"),
		{At: 6e9, Type: Mark, Name: "m"}, {At: 7e9, Type: End},
	}
	h, got := transformed(t, events, Filter(Selection{Resources: []string{"nodes"}, Labels: selector(t, "pool=green")}))
	want := `0s SYNC nodes 2
1s ADDED nnodes 3
2s MODIFIED nnodes 4
2.7s NOTE  
3s DELETED nnodes 5
4s ADDED nnodes 6
5s DELETED nnodes 7
6s MARK m 
7s END  
`
	if story(got) != want {
		t.Errorf("filtered:\n%swant\n%s", story(got), want)
	}
	// Leaving, it shows its last state that matched, under the event's version.
	if left := string(got[4].Object); !strings.Contains(left, `"pool":"green"`) || !strings.Contains(left, `"resourceVersion":"5"`) {
		t.Errorf("it left as %s", left)
	}
	if h.Scope.Selector != "pool=green" || len(h.Resources) != 1 || h.Resources[0].Kind != "Node" {
		t.Errorf("the header says %q, %v", h.Scope.Selector, h.Resources)
	}
	if all := sampleHeader(); len(all.Resources) != 3 {
		t.Error("the header that went in was written to")
	}
}

// A tape by hand has no SYNC. The first object that comes to match later must
// not look like the initial list.
func TestFilterEndsLists(t *testing.T) {
	for _, c := range []struct {
		story, want string
		events      []Event
	}{
		{"time moves on", "0s SYNC nodes 9\n3s ADDED bnodes 12\n", []Event{
			node(0, Added, "a", "5", ""), node(0, Added, "c", "9", ""), {At: 1e9, Type: "NOTE", Resource: "pods"}, node(3e9, Added, "b", "12", ""),
		}},
		{"another type comes", "0s SYNC nodes 5\n0s ADDED bnodes 12\n", []Event{
			node(0, Added, "a", "5", ""), node(0, Modified, "a", "7", ""), node(0, Added, "b", "12", ""),
		}},
		{"nothing was left out", "0s ADDED bnodes 5\n3s MODIFIED bnodes 12\n", []Event{
			node(0, Added, "b", "5", ""), node(3e9, Modified, "b", "12", ""),
		}},
		{"there is a SYNC", "0s SYNC nodes 6\n3s ADDED bnodes 12\n", []Event{
			node(0, Added, "a", "5", ""), {Type: Sync, Resource: "nodes", RV: "6"}, node(2e9, Modified, "a", "7", ""), node(3e9, Added, "b", "12", ""),
		}},
	} {
		if _, got := transformed(t, c.events, Filter(Selection{Resources: []string{"nodes"}, Names: []string{"b"}})); story(got) != c.want {
			t.Errorf("%s:\n%swant\n%s", c.story, story(got), c.want)
		}
	}
}

// A refused eviction goes with its pod.
func TestFilterKeepsRefusalsOfTheChosen(t *testing.T) {
	pod := func(name string) Event {
		return Event{Type: Added, Resource: "pods", Namespace: "default", Name: name, UID: name, RV: "5", Object: []byte(`{"metadata":{"labels":{"` + name + `":""}}}`)}
	}
	asked := func(name string) Event {
		return Event{Type: Refused, Resource: "pods", Namespace: "default", Name: name, Reason: "no"}
	}
	all := []Event{pod("a"), pod("b"), asked("a"), asked("b"), {Type: End, Events: 5}}
	for name, c := range map[string]struct {
		Selection
		want string
	}{
		"a name": {Selection{Names: []string{"a"}}, "a"}, "a label": {Selection{Labels: selector(t, "a")}, "a"},
		"a resource": {Selection{Resources: []string{"nodes"}}, ""},
	} {
		_, got := transformed(t, all, Filter(c.Selection))
		found := ""
		for _, ev := range got {
			if ev.Type == Refused {
				found += ev.Name
			}
		}
		if found != c.want {
			t.Errorf("%s: found refusals of %q, want %q", name, found, c.want)
		}
	}
}
