package trigger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/timeline"
)

// A recording begins at noon. What its objects say of themselves has happened earlier than it arrives, at 12:05.
var (
	noon    = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	earlier = time.Date(2026, 11, 28, 12, 4, 57, 0, time.UTC)
)

// Members of objects, with the time earlier.
const (
	deleting  = `,"deletionTimestamp":"2026-11-28T12:04:57Z"`
	ready     = `{"type":"Ready","status":"True"}`
	notReady  = `{"type":"Ready","status":"False","lastTransitionTime":"2026-11-28T12:04:57Z"}`
	scheduled = ready + `,{"type":"VMEventScheduled","status":"True","lastTransitionTime":"2026-11-28T12:04:57Z"}`
	evicted   = `{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI","lastTransitionTime":"2026-11-28T12:04:57Z"}`
	preempted = `{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","lastTransitionTime":"2026-11-28T12:04:57Z"}`
	cordoned  = `"unschedulable":true`
	spot      = `"taints":[{"key":"aws-node-termination-handler/spot-itn","effect":"NoSchedule","timeAdded":"2026-11-28T12:04:57Z"}]`
	removal   = `"taints":[{"key":"ToBeDeletedByClusterAutoscaler","effect":"NoSchedule","timeAdded":"2026-11-28T12:04:57Z"}]`
	unrelated = `"taints":[{"key":"team","effect":"NoSchedule","timeAdded":"2026-11-28T12:04:57Z"}]`
)

func event(kind timeline.Type, resource, namespace, name, metadata, rest string) timeline.Event {
	return timeline.Event{
		Type: kind, Resource: resource, Namespace: namespace, Name: name, UID: "uid-" + name, RV: "7",
		Object: []byte(`{"metadata":{"name":"` + name + `"` + metadata + `},` + rest + `}`),
	}
}

// nodeEvent is of a node of the group workers, or of the group spare if its name is z.
func nodeEvent(kind timeline.Type, name, metadata, spec, conditions string) timeline.Event {
	group := "workers"
	if name == "z" {
		group = "spare"
	}
	return event(kind, "nodes", "", name, `,"labels":{"eks.amazonaws.com/nodegroup":"`+group+`"}`+metadata, `"spec":{`+spec+`},"status":{"conditions":[`+conditions+`]}`)
}

// claimEvent is of a NodeClaim of the pool spare, whose node may be there.
func claimEvent(kind timeline.Type, name, metadata, node string) timeline.Event {
	return event(kind, "nodeclaims", "", name, `,"labels":{"karpenter.sh/nodepool":"spare"}`+metadata, `"status":{"nodeName":"`+node+`"}`)
}

func machineEvent(kind timeline.Type, name, metadata, node string) timeline.Event {
	return event(kind, "machines", "capi", name, metadata, `"status":{"nodeRef":{"name":"`+node+`"}}`)
}

func podEvent(name, node, metadata, conditions string) timeline.Event {
	return event(timeline.Modified, "pods", "default", name, metadata, `"spec":{"nodeName":"`+node+`"},"status":{"conditions":[`+conditions+`]}`)
}

// recording is a Decider that has taken what a recording begins with: nodes, of which old is cordoned, a NodeClaim, a Machine, and more.
func recording(o trigger.Options, more ...timeline.Event) *trigger.Decider {
	h := timeline.Header{Resources: []timeline.Resource{
		{Version: "v1", Kind: "Node", Resource: "nodes"},
		{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
		{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim", Resource: "nodeclaims"},
		{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine", Resource: "machines", Namespaced: true},
	}}
	d := trigger.New(&h, o)
	for _, ev := range slices.Concat([]timeline.Event{
		nodeEvent(timeline.Added, "a", "", "", ready),
		nodeEvent(timeline.Added, "b", "", "", ready),
		nodeEvent(timeline.Added, "z", "", "", ready),
		nodeEvent(timeline.Added, "old", "", cordoned, ready),
		claimEvent(timeline.Added, "claim-a", "", "a"),
		machineEvent(timeline.Added, "machine-a", "", "a"),
	}, more) {
		d.Apply(noon, ev)
	}
	for _, r := range h.Resources {
		d.Apply(noon, timeline.Event{Type: timeline.Sync, Resource: h.Key(r), RV: "7"})
	}
	return d
}

// Each event that begins a roll is its trigger, with the time that the object has for it.
func TestWhatBeginsARoll(t *testing.T) {
	for name, c := range map[string]struct {
		event  timeline.Event
		kind   trigger.Kind
		reason string
		when   time.Time
		group  string
	}{
		"cordon": {
			nodeEvent(timeline.Modified, "a", "", cordoned, ready),
			trigger.Cordon, "node a was cordoned", time.Time{}, "workers",
		},
		"taint of who removes the node": {
			nodeEvent(timeline.Modified, "a", "", removal, ready),
			trigger.Cordon, "node a has the taint ToBeDeletedByClusterAutoscaler", earlier, "workers",
		},
		"notice of a spot interruption": {
			nodeEvent(timeline.Modified, "a", "", spot, ready),
			trigger.Notice, "node a has the notice aws-node-termination-handler/spot-itn", earlier, "workers",
		},
		"notice by a condition": {
			nodeEvent(timeline.Modified, "a", "", "", scheduled),
			trigger.Notice, "node a has the notice VMEventScheduled", earlier, "workers",
		},
		"deletion of a node": {
			nodeEvent(timeline.Modified, "a", deleting, "", ready),
			trigger.Deletion, "node a is being deleted", earlier, "workers",
		},
		"deletion of a NodeClaim": {
			claimEvent(timeline.Modified, "claim-a", deleting, "a"),
			trigger.Deletion, "NodeClaim claim-a is being deleted", earlier, "workers",
		},
		"deletion of a NodeClaim that has no node yet": {
			claimEvent(timeline.Added, "claim-b", deleting, ""),
			trigger.Deletion, "NodeClaim claim-b is being deleted", earlier, "spare",
		},
		"deletion of a Machine": {
			machineEvent(timeline.Modified, "machine-a", deleting, "a"),
			trigger.Deletion, "Machine machine-a is being deleted", earlier, "workers",
		},
		"node that is not Ready any more": {
			nodeEvent(timeline.Modified, "a", "", "", notReady),
			trigger.NotReady, "node a is not Ready", earlier, "workers",
		},
		"node that is gone": {
			nodeEvent(timeline.Deleted, "a", "", "", ready),
			trigger.Gone, "node a was deleted", time.Time{}, "workers",
		},
		"eviction from a cordoned node": {
			podEvent("web", "old", "", evicted),
			trigger.Evictions, "pod default/web of node old was evicted", earlier, "workers",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := recording(trigger.Options{Quiet: 10 * time.Minute})
			if open := d.Open(); len(open) > 0 {
				t.Fatalf("found the rolls %+v before it, want none", open)
			}
			at := noon.Add(5 * time.Minute)
			d.Apply(at, c.event)
			open := d.Open()
			if len(open) != 1 {
				t.Fatalf("found the rolls %+v on, want one", open)
			}
			if r := open[0]; r.Group != c.group || r.Part != 1 || !r.Began.Equal(at) {
				t.Errorf("found %+v, want part 1 of a roll of %s that began at %s", r, c.group, at)
			}
			got := open[0].Trigger
			if !got.Time.Equal(c.when) {
				t.Errorf("found that it happened at %s, want %s", got.Time, c.when)
			}
			got.Time = time.Time{}
			want := trigger.Trigger{
				Kind: c.kind, Resource: c.event.Resource, Namespace: c.event.Namespace, Name: c.event.Name, UID: c.event.UID, RV: "7", Reason: c.reason,
			}
			if got != want {
				t.Errorf("found the trigger %+v, want %+v", got, want)
			}
		})
	}
}

// What a recording begins with triggers nothing, and neither do events that are of no roll.
func TestWhatBeginsNoRoll(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, then []timeline.Event // of the beginning, and after it
	}{
		{"what there is at the beginning", []timeline.Event{
			nodeEvent(timeline.Added, "c", "", spot, ready),
			nodeEvent(timeline.Added, "d", deleting, "", ready),
			nodeEvent(timeline.Added, "e", "", "", notReady),
			claimEvent(timeline.Added, "claim-d", deleting, "d"),
			machineEvent(timeline.Added, "machine-d", deleting, "d"),
			podEvent("web", "old", "", evicted),
			podEvent("web-1", "a", "", evicted),
			podEvent("web-2", "a", "", evicted),
		}, nil},
		{"a node and its NodeClaim that come", nil, []timeline.Event{
			claimEvent(timeline.Added, "claim-c", "", ""),
			nodeEvent(timeline.Added, "c", "", "", notReady),
			nodeEvent(timeline.Modified, "c", "", "", ready),
			claimEvent(timeline.Modified, "claim-c", "", "c"),
		}},
		{"a taint that says nothing of an end", nil, []timeline.Event{
			nodeEvent(timeline.Modified, "a", "", unrelated, ready),
		}},
		{"a NodeClaim that is gone", nil, []timeline.Event{
			claimEvent(timeline.Deleted, "claim-a", "", "a"),
		}},
		{"pods that their owner deletes", nil, []timeline.Event{
			podEvent("web", "old", deleting, ""),
			podEvent("web-1", "a", deleting, ""),
			podEvent("web-2", "a", deleting, ""),
		}},
		{"pods that others take the place of", nil, []timeline.Event{
			podEvent("web", "old", "", preempted),
			podEvent("web-1", "a", "", preempted),
			podEvent("web-2", "a", "", preempted),
		}},
		{"one eviction that is told of twice", nil, []timeline.Event{
			podEvent("web-1", "a", "", evicted),
			podEvent("web-1", "a", deleting, evicted),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := recording(trigger.Options{Quiet: 10 * time.Minute, Evictions: 2}, c.first...)
			for i, ev := range c.then {
				d.Apply(noon.Add(time.Duration(i)*time.Second), ev)
			}
			if all := slices.Concat(d.Ended(), d.Open()); len(all) > 0 {
				t.Errorf("found the rolls %+v, want none", all)
			}
		})
	}
}

// As many evictions within a minute as the options say begin a roll, and not one fewer.
func TestManyEvictionsBeginARoll(t *testing.T) {
	for _, c := range []struct {
		name      string
		evictions int
		at        []int  // seconds
		nodes     string // by their letters: a and b are of one group, z is of another
		begins    bool   // with the last eviction
	}{
		{"one fewer", 3, []int{0, 20}, "ab", false},
		{"as many", 3, []int{0, 20, 40}, "aba", true},
		{"in just less than a minute", 3, []int{0, 30, 59}, "aaa", true},
		{"in a whole minute", 3, []int{0, 30, 60}, "aaa", false},
		{"the last ones in less than a minute", 3, []int{0, 30, 60, 89}, "aaaa", true},
		{"of two groups, each one fewer", 3, []int{0, 1, 2, 3}, "azbz", false},
		{"of two groups, one of them as many", 3, []int{0, 1, 2, 3, 4}, "azbza", true},
		{"one, where one is many", 1, []int{0}, "a", true},
		{"by default, one fewer", 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, "ababababa", false},
		{"by default", 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "ababababab", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := recording(trigger.Options{Quiet: 10 * time.Minute, Evictions: c.evictions})
			var at time.Time
			var last timeline.Event
			for i, seconds := range c.at {
				if open := d.Open(); len(open) > 0 {
					t.Fatalf("found the rolls %+v before eviction %d, want none", open, i+1)
				}
				at, last = noon.Add(time.Duration(seconds)*time.Second), podEvent(fmt.Sprint("web-", i), c.nodes[i:i+1], "", evicted)
				d.Apply(at, last)
			}
			open := d.Open()
			if begins := len(open) > 0; begins != c.begins {
				t.Fatalf("found the rolls %+v on, want one: %t", open, c.begins)
			}
			if c.begins && (len(open) != 1 || open[0].Group != "workers" || !open[0].Began.Equal(at) || open[0].Trigger.Kind != trigger.Evictions || open[0].Trigger.Name != last.Name) {
				t.Errorf("found the rolls %+v, want one of workers that began with the eviction of %s", open, last.Name)
			}
		})
	}
}
