package fault_test

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

var streamBugs = []bug{
	{"close:nodes,at=9s", "reads a watch of its own, and thinks that its end is the end", watches, "4 events of old nodes", "0 events of old nodes"},
	{"close:nodes,lose=DELETED", "doesn't know that a deletion may come as a tombstone", mourns, "old-a", ""},
	{"gone:nodes,at=50s", "takes what a new list repeats for changes", changes, "5 changes", "7 changes"},
	{"gone:nodes,in=open,name=old-a,type=DELETED", "doesn't know that a deletion may come as a tombstone", mourns, "old-a", ""},
	{"stall:nodes,at=6s,for=20s", "decides by a cache that may be old", admits, "web-3 may stay on new-c", "web-3 is thrown off new-c"},
	{"stale", "does again what it has done before", orders, "old-a old-b new-c", "old-a old-b new-c new-c new-c old-a new-c old-a new-c"},
	{"unobserved", "deregisters a node when it is cordoned, and at no other time", registers, "new-c old-b", "new-c old-a old-b"},
	{"intermediate", "never comes back to what it has left half done", sets, "labelled new-c, tainted new-c", "labelled new-c"},
	{"intermediate:nodes,within=3s", "decides on half of a change", drains, "", "web-1 leaves old-a, which isn't cordoned"},
}

// watches counts what happens to old nodes, without an informer.
func watches(w *fixture) func() string {
	n := 0
	nodes, err := w.client.CoreV1().Nodes().Watch(w.ctx, metav1.ListOptions{ResourceVersion: "20", LabelSelector: "pool=old"})
	if err != nil {
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range nodes.ResultChan() {
			n++
		}
	}()
	return func() string {
		nodes.Stop()
		<-done
		return fmt.Sprint(n, " events of old nodes")
	}
}

// mourns notes nodes that are gone.
func mourns(w *fixture) func() string {
	gone := map[string]bool{}
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{DeleteFunc: func(o any) {
		if n, ok := o.(*corev1.Node); ok {
			gone[n.Name] = true
		}
	}})
	return func() string { return keys(gone) }
}

// changes counts the changes of nodes.
func changes(w *fixture) func() string {
	n := 0
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { n++ }})
	return func() string { return fmt.Sprint(n, " changes") }
}

// admits throws pods off nodes that aren't ready.
func admits(w *fixture) func() string {
	said := ""
	w.nodes()
	w.on(w.pods(), cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
		p := o.(*corev1.Pod)
		if n := w.node(p.Spec.NodeName); n == nil || !ready(n) {
			said = fmt.Sprintf("%s is thrown off %s", p.Name, p.Spec.NodeName)
		} else {
			said = fmt.Sprintf("%s may stay on %s", p.Name, p.Spec.NodeName)
		}
	}})
	return func() string { return said }
}

// orders a licence for each node that appears.
func orders(w *fixture) func() string {
	var ordered []string
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{AddFunc: func(o any) { ordered = append(ordered, o.(*corev1.Node).Name) }})
	return func() string {
		slices.Sort(ordered[:2]) // they were there together
		return strings.Join(ordered, " ")
	}
}

// registers keeps the nodes that a load balancer sends traffic to.
func registers(w *fixture) func() string {
	targets := map[string]bool{}
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { targets[o.(*corev1.Node).Name] = true },
		UpdateFunc: func(_, o any) {
			if n := o.(*corev1.Node); n.Spec.Unschedulable {
				delete(targets, n.Name)
			}
		},
	})
	return func() string { return keys(targets) }
}
