package invariant_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/timeline"
)

// readyAgain has a kubelet come back after the node lifecycle controller gave its node up: it posts the status that it has of
// its pod.
func readyAgain(p *tape, since string) {
	p.opts.Partial = true // the budget doesn't count what is changed here
	p.again(pods, lostPod, 22*second, func(ev *timeline.Event) { ev.RV = "" })
	p.one(pods, lostPod, 22*second, all(set("True", "status", "conditions", "Ready", "status"), set(since, "status", "conditions", "Ready", "lastTransitionTime")))
}

// What looks odd and is allowed: for each, a violation would be a false alarm on
// a real recording.
func TestOddAndSound(t *testing.T) {
	for name, tc := range map[string]struct {
		tape   string
		change func(*tape)
	}{
		"a kubelet names its node by name": {"surge", func(p *tape) {
			p.one(eventsOf, newNode+".*", second, all(set("kubelet", "source", "component"), set(newNode, "involvedObject", "uid")))
		}},
		"a kubelet gives no uid of its node": {"surge", func(p *tape) {
			p.one(eventsOf, newNode+".*", second, all(set("kubelet", "source", "component"), set(nil, "involvedObject", "uid")))
		}},
		"a kubelet gives the uid of its node": {"surge", func(p *tape) {
			p.one(eventsOf, newNode+".*", second, set("kubelet", "source", "component"))
		}},
		"a kubelet comes back, and its pod is Ready as before": {"vanish", func(p *tape) { readyAgain(p, "2026-11-21T00:04:12Z") }},
		"a bare API server taints nothing": {"surge", func(p *tape) {
			p.each(nodes, "ip-*", 0, set(nil, "spec", "taints"))
			p.drop(eventsOf, "ip-*", 0)
		}},
		"an informer that is late by the skew": {"surge", func(p *tape) { p.move(nodes, oldNode, 5160*time.Millisecond, 7*second) }},
		"a pod that outlives its node's Ready": {"vanish", func(p *tape) {
			p.each(pods, lostPod, second, all(set("2026-11-21T00:04:36Z", "metadata", "deletionTimestamp"), set(0, "metadata", "deletionGracePeriodSeconds")))
		}},
		"an ended pod waits for the unmount of its volumes": {"surge", func(p *tape) {
			p.opts.Partial = true // the status doesn't count what is changed here
			p.each(pods, newPod, 9*second, all(ends("2026-11-21T00:03:46Z", 0), set("Failed", "status", "phase"))).goOn(90 * second)
		}},
		"a finalizer holds an orphan": {"vanish", func(p *tape) {
			p.each(pods, lostPod, 0, set([]any{"example.com/hold"}, "metadata", "finalizers"))
			p.drop(pods, lostPod, 60*second).goOn(140 * second)
		}},
		"a tape that ends early judges nothing": {"vanish", func(p *tape) { p.drop(pods, lostPod, 60*second) }},
		"a node that stays Unknown keeps its pods": {"vanish", func(p *tape) {
			p.opts.Partial = true // the budget counts pods that are dropped here
			p.drop(nodes, lostNode, 19245*time.Millisecond).drop(eventsOf, lostNode+".*", 24*second).drop(pods, "web-*", 60*second)
			p.goOn(160 * second)
		}},
		"a node that wasn't ready falls silent": {"vanish", func(p *tape) {
			p.opts.Partial = true
			p.drop(nodes, lostNode, 19245*time.Millisecond).drop(eventsOf, lostNode+".*", 24*second).drop(pods, "web-*", 60*second)
			p.each(nodes, lostNode, 0, func(o object) {
				if ready := in(o, "status", "conditions", "Ready"); ready["status"] == "True" {
					ready["status"] = "False"
					in(o, "spec")["taints"] = []any{object{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule", "timeAdded": longAgo}}
				}
			})
			p.drop(pods, lostPod, 19*second).goOn(160 * second)
		}},
		"a node comes back under its name": {"surge", func(p *tape) {
			p.again(nodes, oldNode, 20*second, func(ev *timeline.Event) { ev.Type, ev.UID, ev.RV = timeline.Added, "another", "" })
			p.each(nodes, oldNode, 20*second, set("2026-11-21T00:03:56Z", "metadata", "creationTimestamp"))
			p.each(nodes, oldNode, 20*second, set(nil, "status", "conditions"))
		}},
		"the quarantine of a node that came back for a moment goes on": {"vanish", func(p *tape) {
			p.again(nodes, lostNode, 25*second, func(ev *timeline.Event) { ev.Type, ev.UID, ev.RV = timeline.Added, "another", "" })
			p.each(nodes, lostNode, 25*second, set("2026-11-21T00:03:56Z", "metadata", "creationTimestamp"))
			p.each(nodes, lostNode, 25*second, set(nil, "status", "conditions"))
			p.again(nodes, lostNode, 45*second, func(ev *timeline.Event) { ev.Type, ev.UID, ev.RV = timeline.Deleted, "another", "" })
		}},
		"what happened in a gap": {"surge", func(p *tape) {
			p.insert(timeline.Event{At: 6 * second, Type: timeline.Gap, Resource: pods})
			p.drop(pods, movedPod, 12*second)
			p.again(pods, "web-64cf8d68d9-zp88h", 30*second, nil)
			p.drop(pods, "web-64cf8d68d9-zp88h", 12*second)
			p.insert(timeline.Event{At: 60 * second, Type: timeline.Sync, Resource: pods})
		}},
		"a pod of nowhere, where the tape holds one group": {"surge", func(p *tape) {
			p.opts.Partial = true
			p.each(pods, newPod, 7223*time.Millisecond, set("ip-10-9-9-9", "spec", "nodeName"))
			p.drop(eventsOf, newPod+".*", 0)
		}},
		"a scheduler that hasn't seen its own write": {"surge", func(p *tape) {
			unversioned := func(ev *timeline.Event) { ev.Type, ev.RV = timeline.Modified, "" }
			pending := func(since string) func(object) {
				return set([]any{object{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": since}}, "status", "conditions")
			}
			p.again(pods, newPod, 7220*time.Millisecond, unversioned).one(pods, newPod, 7220*time.Millisecond, pending("2026-11-21T00:03:41Z"))
			p.again(pods, newPod, 7225*time.Millisecond, unversioned).one(pods, newPod, 7225*time.Millisecond, pending("2026-11-21T00:03:42Z"))
		}},
		"a new address after a restart": {"surge", func(p *tape) {
			p.each(pods, movedPod, 12*second, all(set("10.9.9.9", "status", "podIP"), set(1, "status", "containerStatuses", "web", "restartCount")))
		}},
		"a new address while the container waits for init containers": {"surge", func(p *tape) {
			p.each(pods, movedPod, 12*second, all(set("10.9.9.9", "status", "podIP"),
				set(object{"waiting": object{"reason": "PodInitializing"}}, "status", "containerStatuses", "web", "state")))
		}},
		"a budget whose sync fails counts no more": {"surge", func(p *tape) {
			unversioned := func(ev *timeline.Event) { ev.RV = "" }
			p.again(pods, newPod, 55100*time.Millisecond, unversioned)
			p.one(pods, newPod, 55100*time.Millisecond, all(set("False", "status", "conditions", "Ready", "status"),
				set("2026-11-21T00:04:31Z", "status", "conditions", "Ready", "lastTransitionTime")))
			p.again(budgets, "web", 55300*time.Millisecond, unversioned)
			p.one(budgets, "web", 55300*time.Millisecond, all(set(0, "status", "disruptionsAllowed"), set("False", "status", "conditions", "0", "status"),
				set("SyncFailed", "status", "conditions", "0", "reason"), set("2026-11-21T00:04:32Z", "status", "conditions", "0", "lastTransitionTime")))
			p.goOn(70 * second)
		}},
		"an unready pod needs no grant": {"surge", func(p *tape) {
			p.opts.Partial = true // the status doesn't count what is changed here
			p.each(budgets, "web", 0, all(set(0, "status", "disruptionsAllowed"), set(10, "status", "currentHealthy"), set(nil, "status", "disruptedPods"),
				set("False", "status", "conditions", "0", "status"), set(longAgo, "status", "conditions", "0", "lastTransitionTime")))
			p.each(pods, "web-*", 0, func(o object) {
				conditions, _ := in(o, "status")["conditions"].([]any)
				for _, k := range conditions {
					if k.(object)["type"] == "Ready" {
						k.(object)["status"], k.(object)["lastTransitionTime"] = "False", longAgo
					}
				}
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, tc.tape)
			tc.change(p)
			for _, v := range p.check() {
				t.Error(v)
			}
		})
	}
}

// A server that was away delivers late; judging waits for it.
func TestSilenceIsNoViolation(t *testing.T) {
	p := open(t, "surge")
	const away = 60 * second
	for i := range p.events {
		if p.events[i].At > 5160*time.Millisecond {
			p.events[i].At += away
		}
	}
	for _, v := range p.check() {
		t.Error(v)
	}
}

// A recorder of a replay gets the times of the recording before, at any pace.
func TestRecordingOfAReplay(t *testing.T) {
	p := open(t, "surge")
	p.opts.Start = p.opts.Start.Add(24 * time.Hour)
	for i := range p.events {
		p.events[i].At *= 3
	}
	for _, v := range p.check() {
		t.Error(v)
	}
}

// A simulation has one order: what a recording may do is too late there.
func TestSimulationsAreHeldTighter(t *testing.T) {
	p := open(t, "surge")
	p.move(nodes, oldNode, 5160*time.Millisecond, 7500*time.Millisecond)
	p.opts = invariant.CheckSimulated(p.opts.Start)
	found := brokenBy(p.check())
	if len(found) != 1 || found[0] != "cordon-taint" {
		t.Errorf("found %v: want cordon-taint alone, 2.3 s after the cordon", found)
	}
}

// Without a clock, times in objects are compared with each other only.
func TestWithoutStartNoClock(t *testing.T) {
	p := open(t, "surge")
	p.opts.Start = time.Time{}
	p.each(pods, movedPod, 0, set(farAhead, "status", "startTime"))
	p.one(pods, "web-64cf8d68d9-z7cqr", 12*second, set(3, "status", "containerStatuses", "web", "restartCount"))
	found := brokenBy(p.check())
	if len(found) != 1 || found[0] != "restarts-grow" {
		t.Errorf("found %v: want restarts-grow alone", found)
	}
}

func TestEachObjectIsReportedOnce(t *testing.T) {
	p := open(t, "surge")
	p.each(nodes, newNode, 3*second, func(o object) {
		in(o, "status", "conditions", "Ready")["lastHeartbeatTime"] = "2026-11-21T00:03:38Z"
	})
	p.again(nodes, newNode, 20*second, func(ev *timeline.Event) { ev.RV = "" })
	n := 0
	for _, v := range p.check() {
		if v.Invariant == "heartbeat-after-transition" {
			n++
			if v.At < 3*second || v.At > 4*second {
				t.Errorf("reported at %s, want where it began", v.At)
			}
		}
	}
	if n != 1 {
		t.Errorf("reported %d times, want once", n)
	}
}
