package invariant_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/timeline"
)

const (
	nodes, pods, eventsOf, budgets = noderoll.Nodes, noderoll.Pods, noderoll.Events, noderoll.Budgets
	second                         = time.Second

	oldNode, newNode, lostNode = "ip-10-0-1-10", "ip-10-0-2-10", "ip-10-0-2-11"
	movedPod                   = "web-64cf8d68d9-9cmsw" // evicted at 12.17s from oldNode, gone at 14.19s
	newPod                     = "web-64cf8d68d9-jgqsj" // ADDED at 7.2s, bound to newNode, stays
	lostPod                    = "web-64cf8d68d9-dwjfj" // of lostNode in vanish, collected at 69.14s
	longAgo, farAhead          = "2026-11-20T20:00:00Z", "2030-01-01T00:00:00Z"
)

// Every invariant has a tape that breaks it by one damage to a sound one, and
// nothing else, but for what the damage can't be without.
var damages = []struct {
	invariant string
	tape      string
	damage    func(*tape)
	also      string
}{
	{"one-uid-per-name", "surge", func(p *tape) {
		p.line(nodes, newNode, 3*second, func(ev *timeline.Event) { ev.UID = "another" })
	}, ""},
	{"life-in-order", "surge", func(p *tape) {
		p.again(pods, movedPod, 20*second, func(ev *timeline.Event) { ev.Type, ev.RV = timeline.Modified, "" })
	}, ""},
	{"version-increases", "surge", func(p *tape) {
		p.line(pods, movedPod, 12*second, func(ev *timeline.Event) { ev.RV = "1" })
	}, "versions-in-order"},
	{"versions-in-order", "surge", func(p *tape) {
		p.line(pods, movedPod, 12*second, func(ev *timeline.Event) { ev.RV = "350" })
	}, ""},
	{"created-once", "surge", func(p *tape) {
		p.one(pods, movedPod, 12*second, set("2026-11-21T00:03:11Z", "metadata", "creationTimestamp"))
	}, ""},
	{"created-when-added", "surge", func(p *tape) { p.each(nodes, lostNode, 0, set(longAgo, "metadata", "creationTimestamp")) }, ""},
	{"no-future", "surge", func(p *tape) { p.one(pods, movedPod, 12*second, set(farAhead, "status", "startTime")) }, "pod-starts-once"},
	{"generation-grows", "surge", func(p *tape) { p.one(pods, movedPod, 14*second, set(1, "metadata", "generation")) }, ""},
	{"observed-not-ahead", "surge", func(p *tape) { p.one(budgets, "web", 12*second, set(99, "status", "observedGeneration")) }, ""},

	{"conditions-once", "surge", func(p *tape) {
		p.one(nodes, oldNode, 5*second, again("status", "conditions"))
	}, ""},
	{"transition-with-status", "surge", func(p *tape) {
		p.one(pods, movedPod, 12*second, set("2026-11-21T00:03:48Z", "status", "conditions", "Ready", "lastTransitionTime"))
	}, ""},
	{"heartbeat-after-transition", "surge", func(p *tape) {
		p.each(nodes, newNode, 3*second, set("2026-11-21T00:03:38Z", "status", "conditions", "Ready", "lastHeartbeatTime"))
	}, ""},
	{"unknown-keeps-heartbeat", "vanish", func(p *tape) {
		p.each(nodes, lostNode, 19*second, set("2026-11-21T00:04:59Z", "status", "conditions", "Ready", "lastHeartbeatTime"))
	}, ""},
	{"unknown-together", "vanish", func(p *tape) {
		p.each(nodes, lostNode, 19*second, set("2026-11-21T00:04:50Z", "status", "conditions", "DiskPressure", "lastTransitionTime"))
	}, ""},
	{"heartbeats-forward", "vanish", func(p *tape) {
		p.each(nodes, lostNode, 19*second, set(longAgo, "status", "conditions", "PIDPressure", "lastHeartbeatTime"))
	}, ""},
	{"conditions-with-node", "surge", func(p *tape) {
		p.each(nodes, newNode, 3*second, set(longAgo, "status", "conditions", "Ready", "lastTransitionTime"))
	}, ""},
	{"provider-id-kept", "surge", func(p *tape) { p.one(nodes, oldNode, 5*second, set("aws:///z/i-other", "spec", "providerID")) }, ""},

	{"ready-taint", "surge", func(p *tape) { p.each(nodes, newNode, 3*second, taint("not-ready", "NoSchedule")) }, "bound-to-open-node"},
	{"pressure-taint", "surge", func(p *tape) {
		p.each(nodes, newNode, 3*second, set("True", "status", "conditions", "MemoryPressure", "status"))
	}, ""},
	{"cordon-taint", "surge", func(p *tape) { p.each(nodes, oldNode, 5*second, set(nil, "spec", "taints")) }, ""},
	{"one-noexecute", "surge", func(p *tape) {
		p.each(nodes, newNode, 3*second, all(taint("not-ready", "NoExecute"), taint("unreachable", "NoExecute")))
	}, ""},
	{"taint-time-added", "surge", func(p *tape) {
		p.each(nodes, oldNode, 5160*time.Millisecond, set(nil, "spec", "taints", "0", "timeAdded"))
	}, ""},
	{"taints-once", "surge", func(p *tape) { p.each(nodes, oldNode, 5160*time.Millisecond, again("spec", "taints")) }, ""},

	{"terminal-phase", "vanish", func(p *tape) { p.each(pods, lostPod, 69146*time.Millisecond, set("Running", "status", "phase")) }, ""},
	{"ready-runs", "surge", func(p *tape) { p.one(pods, movedPod, 12*second, set("Pending", "status", "phase")) }, ""},
	{"running-is-bound", "surge", func(p *tape) { p.each(pods, newPod, 0, set(nil, "spec", "nodeName")) }, "scheduled-as-told"},
	{"start-after-creation", "surge", func(p *tape) { p.each(pods, newPod, 11*second, set(longAgo, "status", "startTime")) }, ""},

	{"restarts-grow", "surge", func(p *tape) {
		p.one(pods, movedPod, 12*second, set(3, "status", "containerStatuses", "web", "restartCount"))
	}, ""},
	{"pod-ip-kept", "surge", func(p *tape) { p.one(pods, movedPod, 12*second, set("10.9.9.9", "status", "podIP")) }, ""},
	{"container-times", "surge", func(p *tape) {
		p.each(pods, newPod, 11*second, set(longAgo, "status", "containerStatuses", "web", "state", "running", "startedAt"))
	}, ""},

	{"restart-renews", "surge", func(p *tape) {
		p.each(pods, movedPod, 0, set("containerd://1", "status", "containerStatuses", "web", "containerID"))
		p.each(pods, movedPod, 12*second, set(1, "status", "containerStatuses", "web", "restartCount"))
	}, ""},
	{"containers-kept", "surge", func(p *tape) {
		p.one(pods, movedPod, 12*second, set("other", "spec", "containers", "web", "name"))
	}, ""},
	{"change-is-counted", "surge", func(p *tape) {
		p.one(pods, newPod, 11*second, set("registry.example/web:2", "spec", "containers", "web", "image"))
	}, ""},
	{"pod-starts-once", "surge", func(p *tape) {
		p.each(pods, movedPod, 12*second, set("2026-11-21T00:03:40Z", "status", "startTime"))
	}, ""},

	{"bound-once", "surge", func(p *tape) { p.one(pods, movedPod, 12*second, set("ip-10-0-1-11", "spec", "nodeName")) }, ""},
	{"bound-to-node", "surge", func(p *tape) { p.each(pods, newPod, 7223*time.Millisecond, set("ip-10-9-9-9", "spec", "nodeName")) }, "scheduled-as-told"},
	{"bound-to-open-node", "surge", func(p *tape) {
		p.each(nodes, newNode, 0, taint("unschedulable", "NoExecute"))
	}, ""},

	{"deletion-is-final", "surge", func(p *tape) { p.one(pods, movedPod, 14*second, set(nil, "metadata", "deletionTimestamp")) }, ""},
	{"grace-shrinks", "surge", func(p *tape) {
		p.one(pods, movedPod, 12182*time.Millisecond, set(nil, "metadata", "deletionGracePeriodSeconds"))
	}, ""},
	{"grace-from-request", "surge", func(p *tape) {
		p.one(pods, movedPod, 12182*time.Millisecond, set("2026-11-21T01:03:53Z", "metadata", "deletionTimestamp"))
	}, ""},
	{"pod-goes-in-time", "surge", func(p *tape) {
		p.each(pods, newPod, 9*second, all(set("2026-11-21T00:03:46Z", "metadata", "deletionTimestamp"), set(0, "metadata", "deletionGracePeriodSeconds"))).goOn(90 * second)
	}, "budget-counts"},

	{"orphans-collected", "vanish", func(p *tape) { p.drop(pods, lostPod, 60*second).goOn(140 * second) }, ""},
	{"orphans-quarantined", "vanish", func(p *tape) {
		p.move(nodes, lostNode, 19245*time.Millisecond, 60*second)
	}, "removing-after-deleted"},

	{"unknown-unreadies-pods", "vanish", func(p *tape) {
		p.drop(nodes, lostNode, 19245*time.Millisecond).drop(eventsOf, lostNode+".*", 24*second).drop(pods, "web-*", 60*second)
		p.each(pods, lostPod, 19*second, set("True", "status", "conditions", "Ready", "status"))
		p.goOn(160 * second)
	}, "budget-counts transition-with-status"},

	{"budget-sum", "surge", func(p *tape) { p.one(budgets, "web", 11250*time.Millisecond, set(7, "status", "disruptionsAllowed")) }, "eviction-takes-allowance"},
	{"budget-desired", "surge", func(p *tape) { p.each(budgets, "web", 12*second, set(11, "spec", "minAvailable")) }, ""},
	{"budget-counts", "surge", func(p *tape) {
		p.each(pods, "web-64cf8d68d9-zp88h", 16*second, set("False", "status", "conditions", "Ready", "status"))
	}, ""},
	{"budget-condition", "surge", func(p *tape) {
		p.one(budgets, "web", 11250*time.Millisecond, set("False", "status", "conditions", "0", "status"))
	}, ""},

	{"eviction-takes-allowance", "surge", func(p *tape) { p.one(budgets, "web", 12160*time.Millisecond, set(2, "status", "disruptionsAllowed")) }, ""},
	{"eviction-granted", "surge", func(p *tape) {
		p.each(budgets, "web", 0, all(set(0, "status", "disruptionsAllowed"), set(10, "status", "currentHealthy"), set(nil, "status", "disruptedPods"),
			set("False", "status", "conditions", "0", "status"), set(longAgo, "status", "conditions", "0", "lastTransitionTime")))
	}, "budget-counts"},
	{"taint-evicts", "surge", func(p *tape) {
		p.each(pods, movedPod, 12*second, set("DeletionByTaintManager", "status", "conditions", "DisruptionTarget", "reason"))
	}, ""},

	{"count-grows", "surge", func(p *tape) { p.one(eventsOf, "web-64cf8d68d9.18e9e686c87511c2", 12*second, set(1, "count")) }, ""},
	{"event-times", "surge", func(p *tape) {
		p.one(eventsOf, "web-64cf8d68d9.18e9e686c87511c2", 12*second, set("2026-11-21T00:03:55Z", "firstTimestamp"))
	}, ""},
	{"event-namespace", "surge", func(p *tape) {
		p.line(eventsOf, newNode+".*", second, func(ev *timeline.Event) { ev.Namespace = "shop" })
	}, ""},
	{"scheduled-as-told", "surge", func(p *tape) {
		p.one(eventsOf, newPod+".*", 0, set("Successfully assigned default/"+newPod+" to ip-10-0-1-12", "message"))
	}, ""},

	{"kubelet-event-uid", "surge", func(p *tape) {
		p.one(eventsOf, newNode+".*", second, all(set("kubelet", "source", "component"), set("another", "involvedObject", "uid")))
	}, ""},
	{"readiness-is-normal", "vanish", func(p *tape) { p.one(eventsOf, lostNode+".*", 19*second, set("Warning", "type")) }, ""},
	{"removing-after-deleted", "surge", func(p *tape) { p.one(eventsOf, newNode+".*", second, set("RemovingNode", "reason")) }, ""},
	{"deleting-before-deleted", "vanish", func(p *tape) {
		deletingAt40s(p, "2026-11-21T00:05:14Z")
	}, ""},
	{"event-of-node", "surge", func(p *tape) { p.one(eventsOf, newNode+".*", second, set("another", "involvedObject", "uid")) }, ""},

	{"roll-in-flight", "surge", func(p *tape) {
		p.opts.Roll = &invariant.RollLimits{InFlight: 1}
		p.each(nodes, newNode, 3*second, set(nil, "status", "conditions"))
	}, ""},
	{"roll-draining", "surge", func(p *tape) {
		p.opts.Roll = &invariant.RollLimits{Draining: 1}
		p.each(nodes, "ip-10-0-1-12", 0, all(set(true, "spec", "unschedulable"), taint("unschedulable", "NoSchedule")))
		p.again(pods, "web-64cf8d68d9-4nwhj", 8*second, func(ev *timeline.Event) { ev.Type, ev.RV = timeline.Modified, "" })
		p.one(pods, "web-64cf8d68d9-4nwhj", 8*second, all(set("2026-11-21T00:04:20Z", "metadata", "deletionTimestamp"), set(40, "metadata", "deletionGracePeriodSeconds")))
	}, "deletion-is-final budget-counts"},
	{"roll-one-target", "surge", func(p *tape) {
		p.opts.Roll = &invariant.RollLimits{OneTarget: true}
		p.each(nodes, "ip-10-0-2-12", 0, set("ami-other", "metadata", "labels", "eks.amazonaws.com/nodegroup-image"))
	}, ""},
}

// again returns a damage that repeats the first element of a list.
func again(path ...string) func(object) {
	return func(o object) {
		to, name := in(o, path[:len(path)-1]...), path[len(path)-1]
		list := to[name].([]any)
		to[name] = append(list, list[0])
	}
}

// taint returns a damage that adds a taint of the node lifecycle controller's,
// where it isn't.
func taint(key, effect string) func(object) {
	return func(o object) {
		spec := in(o, "spec")
		had, _ := spec["taints"].([]any)
		had = slices.DeleteFunc(had, func(t any) bool {
			return t.(object)["key"] == "node.kubernetes.io/"+key && t.(object)["effect"] == effect
		})
		spec["taints"] = append(had, object{"key": "node.kubernetes.io/" + key, "effect": effect, "timeAdded": "2026-11-21T00:03:36Z"})
	}
}

func TestSoundTapesPass(t *testing.T) {
	for name := range recorded {
		p := open(t, name)
		p.opts.Roll = &invariant.RollLimits{InFlight: 1, Draining: 1, OneTarget: true}
		for _, v := range p.check() {
			t.Errorf("%s: %s", name, v)
		}
	}
}

// deletingAt40s adds the Event DeletingNode of a node that went at T+19s, with a time in it.
func deletingAt40s(p *tape, told string) {
	p.again(eventsOf, lostNode+".*", 40*second, func(ev *timeline.Event) { ev.Name, ev.UID = ev.Name+"f", "another" })
	p.one(eventsOf, lostNode+".*", 40*second, all(set("DeletingNode", "reason"), set("cloud-node-lifecycle-controller", "source", "component"),
		set(told, "firstTimestamp"), set(told, "lastTimestamp")))
}

// An Event that the API server took late is of the moment that it says.
func TestLateEventsAreOfTheirMoment(t *testing.T) {
	p := open(t, "vanish")
	deletingAt40s(p, "2026-11-21T00:04:53Z")
	for _, v := range p.check() {
		t.Error(v)
	}
}

func TestDamagedTapesAreRejected(t *testing.T) {
	for _, d := range damages {
		t.Run(d.invariant, func(t *testing.T) {
			p := open(t, d.tape)
			d.damage(p)
			found := p.check()
			broken := brokenBy(found)
			if !slices.Contains(broken, d.invariant) {
				t.Errorf("found %v: want %s", found, d.invariant)
			}
			for _, name := range broken {
				if name != d.invariant && !slices.Contains(strings.Fields(d.also), name) {
					t.Errorf("the damage breaks %s as well: %v", name, found)
				}
			}
			for _, v := range found {
				if v.Line == 0 || v.Object == "" || v.Found == "" || v.Wanted == "" || strings.Contains(v.String(), "\n") {
					t.Errorf("want line, object, found and wanted on one line: %+v", v)
				}
			}
		})
	}
}

// A Ready pod that gets other labels leaves its budget.
func TestAPodThatLeavesItsBudget(t *testing.T) {
	p := open(t, "surge")
	p.each(pods, "web-64cf8d68d9-zp88h", 16*second, set("elsewhere", "metadata", "labels", "app"))
	if broken := brokenBy(p.check()); !slices.Equal(broken, []string{"budget-counts"}) {
		t.Errorf("found %v, want that the budget's count didn't follow", broken)
	}
}

// A kubelet that comes back posts no status that is older than the pod.
func TestAReadyOfBeforeThePod(t *testing.T) {
	p := open(t, "vanish")
	readyAgain(p, longAgo)
	if broken := brokenBy(p.check()); !slices.Equal(broken, []string{"transition-with-status"}) {
		t.Errorf("found %v, want that the transition is before the pod", broken)
	}
}

func TestEveryInvariantHasADamageAndWords(t *testing.T) {
	var listed, damaged []string
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	for _, i := range invariant.All() {
		if slices.Contains(listed, i.Name) || !kebab.MatchString(i.Name) {
			t.Errorf("name %q: want each once, in kebab case", i.Name)
		}
		if !strings.HasSuffix(i.Sentence, ".") || i.Source == "" {
			t.Errorf("%s: want a sentence and its source, got %q, %q", i.Name, i.Sentence, i.Source)
		}
		listed = append(listed, i.Name)
	}
	for _, d := range damages {
		damaged = append(damaged, d.invariant)
	}
	slices.Sort(listed)
	slices.Sort(damaged)
	if !slices.Equal(listed, damaged) {
		t.Errorf("damages for %v: want one for each of %v", damaged, listed)
	}
}
