package fault_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

var eventBugs = []bug{
	{"drop:nodes,type=DELETED", "pays for nodes until it is told that they are gone, and never looks again", bills, "new-c old-b", "new-c old-a old-b"},
	{"delay:nodes,by=5s,type=MODIFIED", "takes for granted that the cordon is seen before its pods go", drains, "", "web-1 leaves old-a, which isn't cordoned"},
	{"duplicate:nodes,name=old-a,type=MODIFIED", "counts events where it means changes", cordons, "1 cordon", "2 cordons"},
	{"coalesce:nodes,within=10s", "waits for the moment in which a node isn't ready", outages, "old-b was away", ""},
	{"reorder:nodes,type=MODIFIED,name=old-*", "takes for granted that kinds come in the order in which they were written", drains, "", "web-1 leaves old-a, which isn't cordoned"},
	{"slow:nodes,every=9s", "measures by arrival what the object has the times of", joins, "new-c took 3s", "new-c took 7s"},
	{"bookmarks:pods", "does nothing until one cache is as new as the other", waits, "done", "pods are at 35, nodes were at 42"},
	{"bookmarks:nodes,initial=true", "has no bound on its start", starts, "synced", "never synced"},
	{"recreate:nodes,name=new-c,at=30s", "keeps by name what it has set up", setsUp, "set up: uid-new-c", "not set up: new-c"},
}

// bills keeps a list of nodes by their events.
func bills(w *fixture) func() string {
	paid := map[string]bool{}
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { paid[o.(*corev1.Node).Name] = true },
		DeleteFunc: func(o any) { delete(paid, o.(*corev1.Node).Name) },
	})
	return func() string { return keys(paid) }
}

// drains complains of pods that leave a node which isn't cordoned.
func drains(w *fixture) func() string {
	said := ""
	w.on(w.pods(), cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, o any) {
		p := o.(*corev1.Pod)
		if n := w.node(p.Spec.NodeName); p.DeletionTimestamp != nil && n != nil && !n.Spec.Unschedulable {
			said = fmt.Sprintf("%s leaves %s, which isn't cordoned", p.Name, n.Name)
		}
	}})
	w.nodes()
	return func() string { return said }
}

// cordons counts cordons.
func cordons(w *fixture) func() string {
	n := 0
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, o any) {
		if o.(*corev1.Node).Spec.Unschedulable {
			n++
		}
	}})
	return func() string {
		if n == 1 {
			return "1 cordon"
		}
		return fmt.Sprint(n, " cordons")
	}
}

func ready(n *corev1.Node) bool { return n.Status.Conditions[0].Status == corev1.ConditionTrue }

// outages notes nodes that were away for a moment.
func outages(w *fixture) func() string {
	said := ""
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{UpdateFunc: func(was, is any) {
		if ready(was.(*corev1.Node)) && !ready(is.(*corev1.Node)) {
			said = is.(*corev1.Node).Name + " was away"
		}
	}})
	return func() string { return said }
}

// joins measures how long a new node takes to be ready.
func joins(w *fixture) func() string {
	said, came := "", time.Duration(0)
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { came = w.client.Player().Position() },
		UpdateFunc: func(was, is any) {
			if !ready(was.(*corev1.Node)) && ready(is.(*corev1.Node)) && said == "" {
				said = fmt.Sprintf("%s took %s", is.(*corev1.Node).Name, w.client.Player().Position()-came)
			}
		},
	})
	return func() string { return said }
}

// waits until its pods are as new as the node before the one that changes.
func waits(w *fixture) func() string {
	said, nodes := "", "0"
	pods := w.pods()
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, o any) {
		at := pods.LastSyncResourceVersion()
		said = fmt.Sprintf("pods are at %s, nodes were at %s", at, nodes)
		if at >= nodes { // as long as they have as many digits
			said = "done"
		}
		nodes = o.(*corev1.Node).ResourceVersion
	}})
	return func() string { return said }
}

// starts waits for its cache.
func starts(w *fixture) func() string {
	nodes := w.nodes()
	return func() string {
		if nodes.HasSynced() {
			return "synced"
		}
		return "never synced"
	}
}

// setsUp sets up each new node once.
func setsUp(w *fixture) func() string {
	done := map[string]string{}
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
		n := o.(*corev1.Node)
		if _, known := done[n.Name]; !known {
			done[n.Name] = string(n.UID)
		}
	}})
	return func() string {
		if n := w.node("new-c"); string(n.UID) != done["new-c"] {
			return "not set up: new-c"
		}
		return "set up: " + done["new-c"]
	}
}
