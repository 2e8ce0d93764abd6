package timeline

import (
	"bytes"
	"testing"
	"time"
)

func TestMoveTimes(t *testing.T) {
	hour := func(t time.Time) time.Time { return t.Add(time.Hour) }
	for _, c := range []struct{ story, group, resource, in, want string }{
		{
			"a node", "", "nodes",
			`{"metadata":{"name":"2026-11-20T22:00:00Z","creationTimestamp":"2026-11-20T22:00:00Z","deletionTimestamp":null,"annotations":{"at":"2026-11-20T22:00:00Z"}},"spec":{"taints":[{"key":"k","timeAdded":"2026-11-20T22:00:00Z"},{"key":"l"}]},"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2026-11-20T22:00:01Z","lastTransitionTime":"2026-11-20T22:00:02Z","message":"2026-11-20T22:00:00Z"}]}}`,
			`{"metadata":{"name":"2026-11-20T22:00:00Z","creationTimestamp":"2026-11-20T23:00:00Z","deletionTimestamp":null,"annotations":{"at":"2026-11-20T22:00:00Z"}},"spec":{"taints":[{"key":"k","timeAdded":"2026-11-20T23:00:00Z"},{"key":"l"}]},"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2026-11-20T23:00:01Z","lastTransitionTime":"2026-11-20T23:00:02Z","message":"2026-11-20T22:00:00Z"}]}}`,
		},
		{
			"a pod", "", "pods",
			`{"status":{"startTime":"2026-11-20T22:00:00Z","containerStatuses":[{"state":{"running":{"startedAt":"2026-11-20T22:00:00Z"}},"lastState":{"terminated":{"startedAt":"2026-11-20T21:00:00Z","finishedAt":"2026-11-20T21:30:00Z","exitCode":1}}}]}}`,
			`{"status":{"startTime":"2026-11-20T23:00:00Z","containerStatuses":[{"state":{"running":{"startedAt":"2026-11-20T23:00:00Z"}},"lastState":{"terminated":{"startedAt":"2026-11-20T22:00:00Z","finishedAt":"2026-11-20T22:30:00Z","exitCode":1}}}]}}`,
		},
		{
			"six digits stay", "", "events",
			`{"firstTimestamp":null,"eventTime":"2026-11-20T22:00:00.120000Z","series":{"count":2,"lastObservedTime":"2026-11-20T22:00:00.000001Z"}}`,
			`{"firstTimestamp":null,"eventTime":"2026-11-20T23:00:00.120000Z","series":{"count":2,"lastObservedTime":"2026-11-20T23:00:00.000001Z"}}`,
		},
		{
			"a lease", "coordination.k8s.io", "leases",
			`{"spec":{"renewTime":"2026-12-31T23:30:00.500000Z","leaseDurationSeconds":40}}`,
			`{"spec":{"renewTime":"2027-01-01T00:30:00.500000Z","leaseDurationSeconds":40}}`,
		},
		{
			"any member of a map", "policy", "poddisruptionbudgets",
			`{"status":{"disruptedPods":{"web-1":"2026-11-20T22:00:00Z"}}}`,
			`{"status":{"disruptedPods":{"web-1":"2026-11-20T23:00:00Z"}}}`,
		},
		{
			"a custom resource", "example.com", "nodeclaims",
			`{"status":{"startTime":"2026-11-20T22:00:00Z","conditions":[{"lastTransitionTime":"2026-11-20T22:00:00Z"}]}}`,
			`{"status":{"startTime":"2026-11-20T22:00:00Z","conditions":[{"lastTransitionTime":"2026-11-20T23:00:00Z"}]}}`,
		},
		{
			"zones stay, other shapes too", "", "nodes",
			`{"metadata":{"creationTimestamp":"2026-11-20T22:00:00+05:30","deletionTimestamp":"soon"},"spec":{"taints":"none"},"status":{"conditions":{"lastTransitionTime":"2026-11-20T22:00:00Z"}}}`,
			`{"metadata":{"creationTimestamp":"2026-11-20T23:00:00+05:30","deletionTimestamp":"soon"},"spec":{"taints":"none"},"status":{"conditions":{"lastTransitionTime":"2026-11-20T22:00:00Z"}}}`,
		},
		{
			"the end of the calendar", "", "nodes",
			`{"metadata":{"creationTimestamp":"9999-12-31T23:30:00Z"}}`, `{"metadata":{"creationTimestamp":"9999-12-31T23:30:00Z"}}`,
		},
	} {
		got, err := MoveTimes(Resource{Group: c.group, Resource: c.resource}, []byte(c.in), hour)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.story, err, got, c.want)
		}
	}
	if _, err := MoveTimes(Resource{}, []byte(`{"a":`), hour); err == nil {
		t.Error("half an object was taken")
	}
}

// There and back again is the same tape.
func TestRebaseObjectsAndBack(t *testing.T) {
	all := lookAlike(t, complete(heartbeats(300)))
	start := sampleHeader().Metadata.Start.Time
	h, there := transformed(t, all, RebaseObjects(start.Add(1000*time.Hour)))
	if !h.Metadata.Start.Equal(start.Add(1000 * time.Hour)) {
		t.Errorf("the tape starts at %s", h.Metadata.Start)
	}
	if bytes.Equal(there[0].Object, all[0].Object) {
		t.Error("nothing has moved")
	}
	_, back := transformed(t, all, Chain(RebaseObjects(start.Add(1000*time.Hour)), RebaseObjects(start)))
	wantSame(t, back, all)
	h, same := transformed(t, all, Rebase(start.Add(time.Hour)))
	wantSame(t, same, all)
	if !h.Metadata.Start.Equal(start.Add(time.Hour)) {
		t.Errorf("the tape starts at %s", h.Metadata.Start)
	}
}
