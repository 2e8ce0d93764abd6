package tapediff_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

// found lists subject and track of every difference, each once.
func found(r tapediff.Report) []string {
	var all []string
	for _, d := range r.Differences {
		subject, _, _ := strings.Cut(d.Subject, " (")
		all = append(all, subject+": "+d.Track)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

type edit = func(timeline.Event) []timeline.Event

// Each kind of damage is found where it is, and nowhere else.
func TestEveryKindOfDifference(t *testing.T) {
	node := func(f func(timeline.Event, object)) edit { return changed(t, "nodes", f) }
	pod := func(f func(timeline.Event, object)) edit { return changed(t, "pods", f) }
	event := func(f func(timeline.Event, object)) edit { return changed(t, "events", f) }
	leave := func(which func(timeline.Event) bool) edit {
		return func(ev timeline.Event) []timeline.Event {
			if which(ev) {
				return nil
			}
			return []timeline.Event{ev}
		}
	}
	for _, c := range []struct {
		what, tape string
		edit       edit
		want       []string
	}{
		{
			what: "a node that isn't cordoned", tape: "surge",
			edit: node(func(ev timeline.Event, o object) {
				if ev.Name == "ip-10-0-1-11" {
					delete(o.at("spec"), "unschedulable")
				}
			}),
			want: []string{"node old-2: cordon"}, /* the taint says draining, too */
		},
		{
			what: "another message of a condition", tape: "surge",
			edit: node(func(ev timeline.Event, o object) {
				o.at("status").each("conditions", func(c object) {
					if c["type"] == "Ready" && ev.Name == "ip-10-0-2-10" {
						c["message"] = "kubelet is ready"
					}
				})
			}),
			want: []string{"node new-1: conditions"},
		},
		{
			what: "conditions in two writes", tape: "surge",
			edit: func(ev timeline.Event) []timeline.Event {
				if ev.Resource != "nodes" || ev.Name != "ip-10-0-2-12" || !strings.Contains(string(ev.Patch), "KubeletReady") {
					return []timeline.Event{ev}
				}
				first := node(func(_ timeline.Event, o object) {
					list := o.at("status")["conditions"].([]any)
					o.at("status")["conditions"] = list[:1]
				})(ev)
				first[0].RV = "1"
				return append(first, ev)
			},
			want: []string{"node new-3: conditions"},
		},
		{
			what: "a taint without its time", tape: "spot-vanish",
			edit: node(func(_ timeline.Event, o object) {
				o.at("spec").each("taints", func(taint object) {
					if taint["effect"] == "NoExecute" {
						delete(taint, "timeAdded")
					}
				})
			}),
			want: []string{"node old-2: taints NoExecute"},
		},
		{
			what: "a taint in the write that cordons", tape: "surge",
			edit: leave(func(ev timeline.Event) bool {
				return ev.Name == "ip-10-0-1-10" && string(ev.Patch) == `{"spec":{"unschedulable":true}}`
			}),
			want: []string{"node old-1: in one write"},
		},
		{
			what: "a taint of another actor", tape: "stuck-drain",
			edit: node(func(_ timeline.Event, o object) {
				if o.at("spec")["unschedulable"] == true {
					taints, _ := o.at("spec")["taints"].([]any)
					o.at("spec")["taints"] = append(taints, map[string]any{"key": "example.com/gone", "effect": "NoSchedule"})
				}
			}),
			want: []string{"node old-1: in one write", "node old-1: taint example.com/gone"},
		},
		{
			what: "a label for load balancers", tape: "surge",
			edit: node(func(ev timeline.Event, o object) {
				if ev.Name == "ip-10-0-1-10" && o.at("spec")["taints"] != nil {
					o.at("metadata", "labels")["node.kubernetes.io/exclude-from-external-load-balancers"] = "true"
				}
			}),
			want: []string{"node old-1: in one write", "node old-1: labels"},
		},
		{
			what: "an Event less", tape: "surge",
			edit: leave(func(ev timeline.Event) bool { return strings.HasPrefix(ev.Name, "ip-10-0-1-10.") && ev.At > 0 }),
			want: []string{"node old-1: events node-controller"},
		},
		{
			what: "an Event of another type", tape: "spot-vanish",
			edit: event(func(ev timeline.Event, o object) {
				if ev.At > 0 && o["reason"] == "NodeNotReady" && o.at("involvedObject")["kind"] == "Node" {
					o["type"] = "Warning"
				}
			}),
			want: []string{"node old-2: events node-controller"},
		},
		{
			what: "an Event of another component", tape: "surge",
			edit: event(func(ev timeline.Event, o object) {
				if o["reason"] == "Scheduled" {
					o["reportingComponent"] = "my-scheduler"
				}
			}),
			want: []string{
				"the start of pods of ReplicaSet default/web: events default-scheduler",
				"the start of pods of ReplicaSet default/web: events my-scheduler",
			},
		},
		{
			what: "an Event about a ReplicaSet", tape: "surge",
			edit: event(func(ev timeline.Event, o object) {
				if o["reason"] == "SuccessfulCreate" && ev.At > 30*time.Second && ev.At < 32*time.Second {
					o["reason"] = "FailedCreate"
				}
			}),
			want: []string{"ReplicaSet default/web: events replicaset-controller"},
		},
		{
			what: "another grace", tape: "surge",
			edit: pod(func(_ timeline.Event, o object) {
				if o.at("metadata")["deletionGracePeriodSeconds"] == 5.0 {
					o.at("metadata")["deletionGracePeriodSeconds"] = 30
				}
			}),
			want: []string{"the end of pods of ReplicaSet default/web that were evicted: end"},
		},
		{
			what: "an eviction of one pod without its condition", tape: "surge",
			edit: pod(func(ev timeline.Event, o object) {
				if strings.HasSuffix(ev.Name, "-428nb") {
					list, _ := o.at("status")["conditions"].([]any)
					o.at("status")["conditions"] = slices.DeleteFunc(list, func(c any) bool {
						return c.(map[string]any)["type"] == "DisruptionTarget"
					})
				}
			}),
			want: []string{
				"the end of pods of ReplicaSet default/web that were deleted: count",
				"the run of pods of ReplicaSet default/web that were deleted: count",
			},
		},
		{
			what: "a phase that one pod doesn't reach", tape: "spot-vanish",
			edit: pod(func(ev timeline.Event, o object) {
				if strings.HasSuffix(ev.Name, "-m76vx") && o.at("status")["phase"] == "Failed" {
					o.at("status")["phase"] = "Running"
				}
			}),
			want: []string{
				"the end of pods of ReplicaSet default/web that were lost with the node: in one write",
				"the end of pods of ReplicaSet default/web that were lost with the node: kubelet",
			},
		},
		{
			what: "a budget that never blocks", tape: "surge",
			edit: changed(t, "poddisruptionbudgets", func(_ timeline.Event, o object) {
				o.at("status")["disruptionsAllowed"] = 2
				o.at("status").each("conditions", func(c object) { c["status"], c["reason"] = "True", "SufficientPods" })
			}),
			want: []string{
				"budget default/web: comes to: blocks, DisruptionAllowed=False InsufficientPods", "budget default/web: in a drain",
			},
		},
		{
			what: "a budget that blocks and doesn't say so", tape: "stuck-drain",
			edit: changed(t, "poddisruptionbudgets", func(_ timeline.Event, o object) {
				o.at("status").each("conditions", func(c object) { c["status"], c["reason"] = "True", "SufficientPods" })
			}),
			want: []string{
				"budget default/workers: comes to: blocks, DisruptionAllowed=False InsufficientPods",
				"budget default/workers: comes to: blocks, DisruptionAllowed=True SufficientPods", "budget default/workers: life",
			},
		},
		{
			what: "a node less", tape: "surge",
			edit: leave(func(ev timeline.Event) bool { return strings.HasPrefix(ev.Name, "ip-10-0-2-11") }),
			want: []string{"new nodes: count", "the roll: feed"},
		},
		{
			what: "a node that joins before the first one goes", tape: "surge",
			edit: early(t, "ip-10-0-2-11", 5*time.Second),
			want: []string{"the roll: feed"},
		},
	} {
		report := compare(t, tape(t, c.tape), edited(t, c.tape, c.edit), tapediff.Options{InOrder: true})
		if got := found(report); !slices.Equal(got, c.want) {
			t.Errorf("%s:\nfound %q\nwant  %q\n%s", c.what, got, c.want, report)
		}
		// The other way round it is the same.
		report = compare(t, edited(t, c.tape, c.edit), tape(t, c.tape), tapediff.Options{InOrder: true})
		if got := found(report); !slices.Equal(got, c.want) {
			t.Errorf("%s, the other way round:\nfound %q\nwant  %q", c.what, got, c.want)
		}
	}
}

// early moves what a node does, up to its readiness, to an earlier position.
func early(t *testing.T, node string, at time.Duration) edit {
	var first []timeline.Event
	for ev, err := range tape(t, "surge").All() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Resource == "nodes" && ev.Name == node {
			ev.At = at
			first = append(first, ev)
		}
	}
	told := false
	return func(ev timeline.Event) []timeline.Event {
		switch {
		case ev.Resource == "nodes" && ev.Name == node:
			return nil
		case ev.At < at:
			told = false
		case !told:
			told = true
			return append(slices.Clone(first), ev)
		}
		return []timeline.Event{ev}
	}
}
