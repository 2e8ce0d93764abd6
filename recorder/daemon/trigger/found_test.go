package trigger_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/timeline"
)

// begun is a Decider at the beginning of a recording, in which the node old of workers is cordoned.
func begun(more ...timeline.Event) *trigger.Decider {
	return recording(trigger.Options{Quiet: 10 * time.Minute, Begins: true}, more...)
}

// spare is a node of the group spare.
func spare(metadata, spec, conditions string) timeline.Event {
	return event(timeline.Added, "nodes", "", "s", `,"labels":{"eks.amazonaws.com/nodegroup":"spare"}`+metadata, `"spec":{`+spec+`},"status":{"conditions":[`+conditions+`]}`)
}

// What is on its way out when a recording begins is in a roll that was on before, one for each group.
func TestRollIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		event  timeline.Event
		reason string
	}{
		"cordoned":                   {spare("", cordoned, ready), "node s was cordoned when the recording began"},
		"being deleted":              {spare(deleting, cordoned, ready), "node s was being deleted when the recording began"},
		"with a taint":               {spare("", removal, ready), "node s had the taint ToBeDeletedByClusterAutoscaler when the recording began"},
		"with a notice":              {spare("", spot, ready), "node s had the notice aws-node-termination-handler/spot-itn when the recording began"},
		"a NodeClaim in deletion":    {claimEvent(timeline.Added, "claim", deleting, ""), "NodeClaim claim was being deleted when the recording began"},
		"a broken node is in none":   {spare("", "", notReady), ""},
		"a node of the same group":   {nodeEvent(timeline.Added, "old-2", "", cordoned, ready), ""},
		"a NodeClaim that is living": {claimEvent(timeline.Added, "claim", "", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for _, r := range begun(c.event).Open() {
				if r.Trigger.Kind != trigger.Found || !r.Found || !r.Began.Equal(noon) || r.Part != 1 {
					t.Errorf("found %+v, want a roll that was found at noon", r)
				}
				got[r.Group] = r.Trigger.Reason
			}
			if want := "node old was cordoned when the recording began"; got["workers"] != want || got["spare"] != c.reason {
				t.Errorf("found the rolls %q, want that of workers, %q, and of spare %q", got, want, c.reason)
			}
		})
	}
}

// A roll that was found has no tape if nothing of it happens: somebody may have left a node cordoned. Else it has, whatever happens.
func TestFoundRollNeedsAnEvent(t *testing.T) {
	d := begun()
	d.Advance(noon.Add(time.Hour))
	if ended, open := d.Ended(), d.Open(); len(ended)+len(open) > 0 {
		t.Errorf("nothing happened: found the rolls %+v and %+v, want none", ended, open)
	}
	for name, ev := range map[string]timeline.Event{
		"a node is uncordoned":         nodeEvent(timeline.Modified, "old", "", "", ready),
		"a pod of the node is deleted": podEvent("web", "old", deleting, ""),
	} {
		d := begun()
		d.Apply(noon.Add(5*time.Minute), ev)
		d.Advance(noon.Add(time.Hour))
		ended := d.Ended()
		if len(ended) != 1 || ended[0].Outcome != trigger.Complete || ended[0].Trigger.Kind != trigger.Found || !ended[0].Ended.Equal(noon.Add(15*time.Minute)) {
			t.Errorf("%s: found the rolls %+v, want one that was found, and over at 12:15", name, ended)
		}
	}
	d = begun()
	d.Interrupt(noon.Add(time.Minute))
	if ended, open := d.Ended(), d.Open(); len(ended)+len(open) > 0 {
		t.Errorf("interrupted, and nothing has happened: found the rolls %+v and %+v, want none", ended, open)
	}
	d = begun(nodeEvent(timeline.Modified, "old", deleting, cordoned, ready))
	d.Interrupt(noon.Add(time.Minute))
	if ended := d.Ended(); len(ended) != 1 || ended[0].Outcome != trigger.Interrupted {
		t.Errorf("interrupted: found the rolls %+v, want one", ended)
	}
}

// A drain that a budget holds up for longer than a roll is quiet goes on later. It began before the recording all the same; another node's
// didn't.
func TestRollThatStoodStillIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		event timeline.Event
		want  bool
	}{
		"a pod of the node is evicted": {podEvent("web", "old", "", evicted), true},
		"the node is gone":             {nodeEvent(timeline.Deleted, "old", "", cordoned, ready), true},
		"another node is cordoned":     {nodeEvent(timeline.Modified, "a", "", cordoned, ready), false},
	} {
		d := begun()
		d.Apply(noon.Add(time.Hour), c.event)
		if open := d.Open(); len(open) != 1 || open[0].Found != c.want || open[0].Trigger.Kind == trigger.Found {
			t.Errorf("%s: found the rolls %+v, want one of which Found is %v", name, open, c.want)
		}
	}
}

// What begins a roll replaces one that was found, so that its tape has the name that other recorders give it.
func TestTriggerReplacesWhatWasFound(t *testing.T) {
	at := noon.Add(5 * time.Minute)
	for name, ev := range map[string]timeline.Event{
		"another node is cordoned":       nodeEvent(timeline.Modified, "a", "", cordoned, ready),
		"the node is being deleted":      nodeEvent(timeline.Modified, "old", deleting, cordoned, ready),
		"a pod is evicted from the node": podEvent("web", "old", "", evicted),
	} {
		d := begun()
		d.Apply(at, ev)
		open := d.Open()
		if len(open) != 1 || open[0].Trigger.Name != ev.Name || !open[0].Began.Equal(at) || !open[0].Found {
			t.Errorf("%s: found the rolls %+v, want one that began with it", name, open)
			continue
		}
		other := recording(trigger.Options{Quiet: 10 * time.Minute})
		other.Apply(at, ev)
		if r := other.Open()[0]; r.ID("c") != open[0].ID("c") {
			t.Errorf("%s: a recorder that found nothing has another name for the roll", name)
		}
	}
	d := begun()
	d.Apply(at, nodeEvent(timeline.Modified, "old", deleting, cordoned, ready))
	d.Advance(noon.Add(2 * time.Hour))
	open := d.Open()
	if len(open) != 1 {
		t.Fatalf("the node is being deleted for hours: found the rolls %+v, want one that it keeps on", open)
	}
	mark, reason := d.Cut(noon.Add(2*time.Hour), open[0])
	d.Apply(noon.Add(2*time.Hour), timeline.Event{Type: timeline.Mark, Name: mark, Reason: reason})
	if ended := d.Ended(); len(ended) != 1 || !ended[0].Found {
		t.Errorf("cut: found the rolls %+v, want one that was found", ended)
	}
}
