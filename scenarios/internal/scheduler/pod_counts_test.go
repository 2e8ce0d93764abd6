package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// TestADemandFollowsPodsThatAreTakenAway: preemption asks what keeps a pod from a node without others, and counts
// nothing anew for each of them.
func TestADemandFollowsPodsThatAreTakenAway(t *testing.T) {
	c := zones(t)
	s := c.Stream("demands")
	app := func() string { return []string{"db", "web", "api"}[s.N(3)] }
	random := func() *kube.Demands {
		d := &kube.Demands{}
		key := []string{zoneLabel, hostLabel}[s.N(2)]
		switch s.N(5) {
		case 0:
			d.AntiAffinity = terms(key, apps(app()))
		case 1:
			d.Affinity = terms(key, apps(app()))
		case 2:
			d.Affinity = append(terms(key, apps("db", "web")), terms(zoneLabel, apps(app(), "web"))...)
		case 3:
			d.Spread = []kube.SpreadTerm{{MaxSkew: 1, TopologyKey: key, Selector: apps(app()), Hard: true, MinDomains: int(s.N(3))}}
		}
		return d
	}
	var all []*kube.Pod
	for i := range 40 {
		all = append(all, client(t, c, fmt.Sprint("p", i), app(), 100, random()))
	}
	c.RunTo(t, time.Minute)
	changed := 0
	for i := range 200 {
		p := &kube.Pod{
			Meta:     kube.Meta{Namespace: "shop", Name: "new", Labels: kube.PairsOf(kube.Pair{Key: "app", Value: app()})},
			Template: &kube.Template{Containers: []kube.ContainerSpec{{Name: "c"}}, Demands: random()},
		}
		var gone []*kube.Pod
		for _, v := range all {
			if s.N(3) == 0 {
				gone = append(gone, v)
			}
		}
		before, followed, anew, back := c.Scheduler.Without(p, gone)
		if diff := cmp.Diff(anew, followed); diff != "" {
			t.Fatalf("case %d, %+v: made anew and followed differ (-anew +followed):\n%s", i, p.Template.Demands, diff)
		}
		if diff := cmp.Diff(before, back); diff != "" {
			t.Fatalf("case %d, %+v: it isn't what it was:\n%s", i, p.Template.Demands, diff)
		}
		if !cmp.Equal(before, followed) {
			changed++
		}
	}
	if changed < 20 {
		t.Errorf("the pods that were gone mattered %d times: want 20 at least", changed)
	}
}

// TestCountsAreForgotten: each rollout and each pod of a StatefulSet may bring a selector of its own.
func TestCountsAreForgotten(t *testing.T) {
	c := zones(t)
	of := func(i int) *kube.Demands {
		return &kube.Demands{
			AntiAffinity: terms(hostLabel, apps(fmt.Sprint("other", i))),
			Spread:       []kube.SpreadTerm{{MaxSkew: 5, TopologyKey: zoneLabel, Selector: apps(fmt.Sprint("mine", i)), Hard: true}},
		}
	}
	for i := range 700 {
		p := client(t, c, fmt.Sprint("p", i), "web", 10, of(i))
		c.RunTo(t, c.Now()+2*time.Second)
		if p.NodeName == "" {
			t.Fatal(where(p))
		}
		if i < 699 {
			c.API.DeletePod(p, 0)
			c.RunTo(t, c.Now()+3*time.Second)
		}
	}
	if selected, having := c.Scheduler.Counted(); selected > 512 || having != 1 {
		t.Errorf("%d selections and %d terms are counted: want 512 at most, and 1", selected, having)
	}
}

// TestANamespaceRecountsNothing: only terms that select namespaces depend on their labels.
func TestANamespaceRecountsNothing(t *testing.T) {
	c := zones(t)
	for i := range 40 {
		client(t, c, fmt.Sprint("p", i), "web", 10, &kube.Demands{Affinity: terms(zoneLabel, apps("web"))})
	}
	c.RunTo(t, time.Minute)
	a, b := kube.PairsOf(kube.Pair{Key: "team", Value: "a"}), kube.PairsOf(kube.Pair{Key: "team", Value: "b"})
	made := testing.AllocsPerRun(10, func() {
		c.Scheduler.Namespace("new", a)
		c.Scheduler.Namespace("new", b)
	})
	if made > 5 {
		t.Errorf("two changes of a namespace make %v allocations with 40 pods: want none for each pod", made)
	}
}
