package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

const zoneLabel, hostLabel = component.LabelZone, component.LabelHostname

// client creates a pod as a client does.
func client(t *testing.T, c *placing.Cluster, name, app string, cpu int64, d *kube.Demands, change ...func(*kube.Pod)) *kube.Pod {
	t.Helper()
	p := &kube.Pod{
		Meta: kube.Meta{Namespace: "shop", Name: name, Labels: kube.PairsOf(kube.Pair{Key: "app", Value: app})}, Phase: "Pending",
		Template: &kube.Template{Containers: []kube.ContainerSpec{{Name: "c", Image: "c:1", CPU: cpu}}, GraceSeconds: 30, RestartPolicy: "Always", SchedulerName: "default-scheduler", Demands: d},
	}
	for _, f := range change {
		f(p)
	}
	if err := c.API.CreatePod(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func apps(names ...string) *kube.Selector {
	return &kube.Selector{Requirements: []kube.Requirement{{Key: "app", Operator: "In", Values: names}}}
}

func terms(key string, of *kube.Selector) []kube.PodTerm {
	return []kube.PodTerm{{Selector: of, TopologyKey: key}}
}

// zones is a cluster of two zones of two nodes each, with an SSD in the nodes that end with 1.
func zones(t *testing.T) *placing.Cluster {
	c := placing.New(t, "1.36", true)
	for _, name := range []string{"a1", "a2", "b1", "b2"} {
		c.Node(name, name[:1], func(n *kube.Node) {
			if strings.HasSuffix(name, "1") {
				n.Labels = n.Labels.With("disk", "ssd").With("size", "10")
			} else {
				n.Labels = n.Labels.With("size", "5")
			}
			n.Allocatable = n.Allocatable.With("example.com/gpu", "2").With("ephemeral-storage", "10Gi")
		})
	}
	return c
}

// where is the node of a pod, or why there is none.
func where(p *kube.Pod) string {
	if p.NodeName != "" {
		return p.NodeName
	}
	if c := p.Conditions.Get("PodScheduled"); c != nil {
		message, _, _ := strings.Cut(c.Message, " no new claims to deallocate")
		return message
	}
	return "not looked at"
}

func TestNodeAffinity(t *testing.T) {
	one := func(key, operator string, values ...string) kube.NodeTerm {
		return kube.NodeTerm{Labels: []kube.Requirement{{Key: key, Operator: operator, Values: values}}}
	}
	field := func(operator string, names ...string) kube.NodeTerm {
		return kube.NodeTerm{Fields: []kube.Requirement{{Key: "metadata.name", Operator: operator, Values: names}}}
	}
	none := "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector."
	for _, test := range []struct {
		what     string
		required []kube.NodeTerm
		want     string // a node, or several, or why not
	}{
		{"In", []kube.NodeTerm{one(zoneLabel, "In", "b"), one("disk", "In", "none")}, "b1 b2"},
		{"NotIn", []kube.NodeTerm{one("disk", "NotIn", "ssd")}, "a2 b2"},
		{"Exists", []kube.NodeTerm{one("disk", "Exists")}, "a1 b1"},
		{"DoesNotExist", []kube.NodeTerm{one("disk", "DoesNotExist")}, "a2 b2"},
		{"Gt", []kube.NodeTerm{one("size", "Gt", "7")}, "a1 b1"},
		{"Lt", []kube.NodeTerm{one("size", "Lt", "7")}, "a2 b2"},
		{"Gt of a word", []kube.NodeTerm{one(zoneLabel, "Gt", "7")}, none},
		{"no term", []kube.NodeTerm{}, none},
		{"a term without requirements", []kube.NodeTerm{{}}, none},
		{"hosts", []kube.NodeTerm{one(hostLabel, "In", "a2", "b2")}, "a2 b2"},
		{"both", []kube.NodeTerm{{Labels: one("disk", "Exists").Labels, Fields: field("NotIn", "a1").Fields}}, "b1"},
		{"a name", []kube.NodeTerm{field("In", "b2")}, "b2"},
		{"a name that isn't there", []kube.NodeTerm{field("In", "c1")}, "0/4 nodes are available: 4 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
		{"a name and a label", []kube.NodeTerm{{Labels: one("disk", "Exists").Labels, Fields: field("In", "b2").Fields}},
			"0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
	} {
		c := zones(t)
		d := &kube.Demands{NodeAffinity: &kube.NodeAffinity{Required: test.required}}
		var pods []*kube.Pod
		for i := range 4 {
			pods = append(pods, client(t, c, fmt.Sprint("p", i), "p", 100, d))
		}
		c.RunTo(t, 10*time.Second)
		for _, p := range pods {
			if got := where(p); got != test.want && (p.NodeName == "" || !strings.Contains(test.want, got)) {
				t.Errorf("%s: %s, want %s", test.what, got, test.want)
			}
		}
	}
}

func TestPreferredNodes(t *testing.T) {
	c := zones(t)
	d := &kube.Demands{NodeAffinity: &kube.NodeAffinity{Preferred: []kube.NodeTerm{
		{Labels: []kube.Requirement{{Key: "disk", Operator: "Exists"}}, Weight: 1},
		{Labels: []kube.Requirement{{Key: zoneLabel, Operator: "In", Values: []string{"b"}}}, Weight: 50},
	}}}
	p := client(t, c, "p", "p", 100, d)
	c.RunTo(t, time.Second)
	if where(p) != "b1" {
		t.Errorf("%s, want b1", where(p))
	}
}

func TestHostPorts(t *testing.T) {
	c := zones(t)
	c.API.DeleteNode(c.API.Node("a2"))
	c.API.DeleteNode(c.API.Node("b1"))
	c.API.DeleteNode(c.API.Node("b2"))
	port := func(ip, protocol string) *kube.Demands {
		return &kube.Demands{Ports: []kube.HostPort{{IP: ip, Protocol: protocol, Port: 80}}}
	}
	const full = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
	for _, test := range []struct{ name, ip, protocol, want string }{
		{"first", "10.0.0.1", "TCP", "a1"},
		{"another address", "10.0.0.2", "TCP", "a1"},
		{"same address", "10.0.0.1", "TCP", full},
		{"all addresses", "0.0.0.0", "TCP", full},
		{"another protocol", "0.0.0.0", "UDP", "a1"},
		{"an address of all", "10.0.0.3", "UDP", full},
	} {
		p := client(t, c, strings.ReplaceAll(test.name, " ", "-"), "p", 10, port(test.ip, test.protocol))
		c.RunTo(t, c.Now()+time.Second)
		if got := where(p); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	c.API.DeletePod(c.API.Pod("shop", "another-protocol"), 0)
	c.RunTo(t, c.Now()+time.Minute)
	if got := where(c.API.Pod("shop", "an-address-of-all")); got != "a1" {
		t.Errorf("a port that is free again: %s", got)
	}
}

func TestFurtherResources(t *testing.T) {
	c := zones(t)
	gpus := func(n int64) *kube.Demands {
		return &kube.Demands{More: []kube.Amount{{Resource: "example.com/gpu", Value: n}}}
	}
	for i := range 4 {
		client(t, c, fmt.Sprint("p", i), "p", 100, gpus(2))
	}
	c.RunTo(t, time.Second)
	late, disk := client(t, c, "late", "p", 100, gpus(1)), client(t, c, "disk", "p", 100, &kube.Demands{More: []kube.Amount{{Resource: "ephemeral-storage", Value: 11 << 30}}})
	c.RunTo(t, 2*time.Second)
	if got := where(late); got != "0/4 nodes are available: 4 Insufficient example.com/gpu." {
		t.Error(got)
	}
	if got := disk.Conditions.Get("PodScheduled").Message; got != "0/4 nodes are available: 4 Insufficient ephemeral-storage. no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling." {
		t.Error(got)
	}
	urgent := client(t, c, "urgent", "p", 100, gpus(1), func(p *kube.Pod) { p.Template.Priority = 1000 })
	c.RunTo(t, time.Minute)
	if got := where(urgent); len(got) != 2 {
		t.Errorf("a pod that preempts another for its GPU: %s", got)
	}
}

func TestPodAntiAffinity(t *testing.T) {
	c := zones(t)
	apart := &kube.Demands{AntiAffinity: terms(zoneLabel, apps("db"))}
	one, two := client(t, c, "one", "db", 100, apart), client(t, c, "two", "db", 100, apart)
	three := client(t, c, "three", "db", 100, apart)
	plain := client(t, c, "plain", "db", 100, nil)
	other := client(t, c, "other", "web", 100, nil)
	elsewhere := client(t, c, "elsewhere", "db", 100, nil, func(p *kube.Pod) { p.Namespace = "kube-system" })
	c.RunTo(t, 10*time.Second)
	if where(one)[0] == where(two)[0] {
		t.Errorf("both in a zone: %s, %s", where(one), where(two))
	}
	if got := where(three); got != "0/4 nodes are available: 4 node(s) didn't match pod anti-affinity rules." {
		t.Error(got)
	}
	if got := where(plain); got != "0/4 nodes are available: 4 node(s) didn't satisfy existing pods anti-affinity rules." {
		t.Error(got)
	}
	if other.NodeName == "" || elsewhere.NodeName == "" {
		t.Errorf("others: %s, %s", where(other), where(elsewhere))
	}
	c.API.UpdatePod(one, func(p *kube.Pod) { p.Labels = p.Labels.With("app", "old") })
	c.API.UpdatePod(two, func(p *kube.Pod) { p.Labels = p.Labels.With("app", "old") })
	c.RunTo(t, time.Minute)
	if got := where(three); got != "0/4 nodes are available: 4 node(s) didn't satisfy existing pods anti-affinity rules." {
		t.Errorf("the others keep it away still: %s", got)
	}
	c.API.DeletePod(one, 0)
	c.RunTo(t, 2*time.Minute)
	if three.NodeName == "" {
		t.Errorf("after one of the others is gone: %s", where(three))
	}
}

func TestPodAffinity(t *testing.T) {
	c := zones(t)
	near := &kube.Demands{Affinity: terms(zoneLabel, apps("db"))}
	waits := client(t, c, "waits", "web", 100, near)
	c.RunTo(t, time.Second)
	if got := where(waits); got != "0/4 nodes are available: 4 node(s) didn't match pod affinity rules." {
		t.Error(got)
	}
	db := client(t, c, "db", "db", 100, &kube.Demands{NodeAffinity: &kube.NodeAffinity{Required: []kube.NodeTerm{{Fields: []kube.Requirement{{Key: "metadata.name", Operator: "In", Values: []string{"b1"}}}}}}})
	c.RunTo(t, time.Minute)
	if where(db) != "b1" || where(waits)[0] != 'b' {
		t.Errorf("%s, %s", where(db), where(waits))
	}
	// The first of those that want each other near finds a node all the same.
	self := &kube.Demands{Affinity: terms(zoneLabel, apps("cache"))}
	var at []string
	for i := range 3 {
		p := client(t, c, fmt.Sprint("cache", i), "cache", 100, self)
		c.RunTo(t, c.Now()+time.Second)
		at = append(at, where(p)[:1])
	}
	if at[0] != at[1] || at[1] != at[2] {
		t.Errorf("%v, want one zone", at)
	}
}

func TestTermsOfOtherNamespaces(t *testing.T) {
	c := zones(t)
	c.Scheduler.Namespace("prod", kube.PairsOf(kube.Pair{Key: "team", Value: "a"}))
	c.Scheduler.Namespace("test", kube.PairsOf(kube.Pair{Key: "team", Value: "b"}))
	in := func(ns string) func(*kube.Pod) { return func(p *kube.Pod) { p.Namespace = ns } }
	client(t, c, "db", "db", 100, nil, in("prod"))
	team := &kube.Selector{Requirements: []kube.Requirement{{Key: "team", Operator: "In", Values: []string{"a"}}}}
	for i, test := range []struct {
		term kube.PodTerm
		ok   bool
	}{
		{kube.PodTerm{Selector: apps("db"), TopologyKey: zoneLabel}, false},
		{kube.PodTerm{Selector: apps("db"), TopologyKey: zoneLabel, Namespaces: []string{"prod"}}, true},
		{kube.PodTerm{Selector: apps("db"), TopologyKey: zoneLabel, Namespaces: []string{"test"}}, false},
		{kube.PodTerm{Selector: apps("db"), TopologyKey: zoneLabel, NamespaceSelector: team}, true},
		{kube.PodTerm{Selector: apps("db"), TopologyKey: zoneLabel, NamespaceSelector: &kube.Selector{}}, true},
		{kube.PodTerm{Selector: nil, TopologyKey: zoneLabel, NamespaceSelector: &kube.Selector{}}, false},
	} {
		p := client(t, c, fmt.Sprint("p", i), "web", 100, &kube.Demands{Affinity: []kube.PodTerm{test.term}}, in("test"))
		c.RunTo(t, c.Now()+time.Second)
		if (p.NodeName != "") != test.ok {
			t.Errorf("%d: %s", i, where(p))
		}
	}
	late := client(t, c, "late", "web", 100, &kube.Demands{Affinity: []kube.PodTerm{{Selector: apps("db"), TopologyKey: zoneLabel, NamespaceSelector: &kube.Selector{Requirements: []kube.Requirement{{Key: "tier", Operator: "Exists"}}}}}}, in("test"))
	c.RunTo(t, c.Now()+time.Second)
	if late.NodeName != "" {
		t.Error(where(late))
	}
	c.Scheduler.Namespace("prod", kube.PairsOf(kube.Pair{Key: "tier", Value: "1"}))
	c.RunTo(t, c.Now()+20*time.Second)
	if late.NodeName == "" {
		t.Errorf("after the namespace got its label: %s", where(late))
	}
}

func TestPreferredPods(t *testing.T) {
	c := zones(t)
	client(t, c, "db", "db", 100, &kube.Demands{NodeAffinity: &kube.NodeAffinity{Required: []kube.NodeTerm{{Fields: []kube.Requirement{{Key: "metadata.name", Operator: "In", Values: []string{"b1"}}}}}}})
	c.RunTo(t, time.Second)
	likes := client(t, c, "likes", "x", 100, &kube.Demands{Likes: []kube.PodTerm{{Selector: apps("db"), TopologyKey: hostLabel, Weight: 100}}})
	dislikes := client(t, c, "dislikes", "y", 100, &kube.Demands{Dislikes: []kube.PodTerm{{Selector: apps("db"), TopologyKey: zoneLabel, Weight: 100}}})
	c.RunTo(t, 2*time.Second)
	if where(likes) != "b1" || where(dislikes)[0] != 'a' {
		t.Errorf("%s, %s", where(likes), where(dislikes))
	}
	// And the other way round: a pod of db goes where one is that dislikes it not.
	again := client(t, c, "again", "db", 100, nil)
	c.RunTo(t, 3*time.Second)
	if where(again)[0] != 'b' {
		t.Error(where(again))
	}
}

func TestMatchLabelKeys(t *testing.T) {
	c := zones(t)
	apart := &kube.Demands{AntiAffinity: []kube.PodTerm{{Selector: apps("db"), TopologyKey: zoneLabel, MatchLabelKeys: []string{"hash"}}}}
	hash := func(v string) func(*kube.Pod) { return func(p *kube.Pod) { p.Labels = p.Labels.With("hash", v) } }
	at := map[string]int{}
	for i, v := range []string{"1", "1", "2", "2"} {
		p := client(t, c, fmt.Sprint("p", i), "db", 100, apart, hash(v))
		c.RunTo(t, c.Now()+time.Second)
		at[v+" in "+where(p)[:1]]++
	}
	if diff := cmp.Diff(map[string]int{"1 in a": 1, "1 in b": 1, "2 in a": 1, "2 in b": 1}, at); diff != "" {
		t.Error(diff)
	}
}

func TestSpread(t *testing.T) {
	spread := func(change func(*kube.SpreadTerm)) *kube.Demands {
		one := kube.SpreadTerm{MaxSkew: 1, MinDomains: 1, TopologyKey: zoneLabel, Hard: true, Selector: apps("web")}
		change(&one)
		return &kube.Demands{Spread: []kube.SpreadTerm{one}}
	}
	const skewed = "0/4 nodes are available: 4 node(s) didn't match pod topology spread constraints."
	for _, test := range []struct {
		what string
		d    *kube.Demands
		want []string // where pods come, one after the other, by zones
		why  string   // the last has none
	}{
		{"evenly", spread(func(*kube.SpreadTerm) {}), []string{"ab", "ab"}, ""},
		{"too few domains", spread(func(s *kube.SpreadTerm) { s.MinDomains = 3 }), []string{"ab", "ab"}, skewed},
		{"without the label", spread(func(s *kube.SpreadTerm) { s.TopologyKey = "rack" }), nil, "0/4 nodes are available: 4 node(s) didn't match pod topology spread constraints (missing required label)."},
		{"a selector of others", spread(func(s *kube.SpreadTerm) { s.Selector = apps("db") }), []string{"ab", "ab", "ab"}, ""},
		{"a selector of all", spread(func(s *kube.SpreadTerm) { s.Selector = &kube.Selector{} }), []string{"ab", "ab", "ab"}, ""},
	} {
		c := zones(t)
		for i, want := range test.want {
			p := client(t, c, fmt.Sprint("p", i), "web", 100, test.d)
			c.RunTo(t, c.Now()+time.Second)
			if got := where(p)[:1]; !strings.Contains(want, got) {
				t.Errorf("%s: pod %d: %s", test.what, i, where(p))
			}
		}
		if test.why == "" {
			continue
		}
		p := client(t, c, "last", "web", 100, test.d)
		c.RunTo(t, c.Now()+time.Second)
		if got := where(p); got != test.why {
			t.Errorf("%s: %s", test.what, got)
		}
	}
}

// TestSpreadPolicies: nodes that the pod can't run on count, or not.
func TestSpreadPolicies(t *testing.T) {
	for _, test := range []struct {
		what          string
		ignore, honor bool
		fits          int
	}{{"default", false, false, 1}, {"taints honoured", false, true, 4}, {"affinity ignored", true, false, 1}} {
		c := zones(t)
		for _, n := range []string{"b1", "b2"} {
			c.API.UpdateNode(c.API.Node(n), func(n *kube.Node) { n.AddTaint(kube.Taint{Key: "k", Effect: "NoSchedule"}) })
		}
		d := &kube.Demands{Spread: []kube.SpreadTerm{{MaxSkew: 1, MinDomains: 1, TopologyKey: zoneLabel, Hard: true, Selector: apps("web"), IgnoresAffinity: test.ignore, HonorsTaints: test.honor}}}
		fits := 0
		for i := range 4 {
			p := client(t, c, fmt.Sprint("p", i), "web", 100, d)
			c.RunTo(t, c.Now()+time.Second)
			if p.NodeName != "" {
				fits++
			}
		}
		if fits != test.fits {
			t.Errorf("%s: %d pods have a node, want %d", test.what, fits, test.fits)
		}
	}
}

// Where taints are honoured, the cordon of a node without room lets pods run that had to wait for it.
func TestACordonTakesADomainAway(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("a1", "a")
	b := c.Node("b1", "b", func(n *kube.Node) { n.Allocatable = n.Allocatable.With("cpu", "50m") })
	d := &kube.Demands{Spread: []kube.SpreadTerm{{MaxSkew: 1, MinDomains: 1, TopologyKey: zoneLabel, Hard: true, Selector: apps("web"), HonorsTaints: true}}}
	for i := range 4 {
		client(t, c, fmt.Sprint("p", i), "web", 100, d)
	}
	c.RunTo(t, time.Minute)
	if diff := cmp.Diff(map[string]int{"a1": 1, "": 3}, c.Placed("web")); diff != "" {
		t.Fatal(diff)
	}
	c.Cordon(b)
	c.RunTo(t, c.Now()+15*time.Second)
	if diff := cmp.Diff(map[string]int{"a1": 4}, c.Placed("web")); diff != "" {
		t.Error(diff)
	}
}

func TestSoftSpread(t *testing.T) {
	c := zones(t)
	d := &kube.Demands{Spread: []kube.SpreadTerm{{MaxSkew: 1, MinDomains: 1, TopologyKey: hostLabel, Selector: apps("web")}}}
	at := map[string]int{}
	for i := range 8 {
		p := client(t, c, fmt.Sprint("p", i), "web", 100, d)
		c.RunTo(t, c.Now()+time.Second)
		at[where(p)]++
	}
	if diff := cmp.Diff(map[string]int{"a1": 2, "a2": 2, "b1": 2, "b2": 2}, at); diff != "" {
		t.Error(diff)
	}
}

func TestGatedPodsAndThoseOfOthers(t *testing.T) {
	c := zones(t)
	gated := client(t, c, "gated", "p", 100, nil, func(p *kube.Pod) { p.Gated = true })
	foreign := client(t, c, "foreign", "p", 100, nil, func(p *kube.Pod) { p.Template.SchedulerName = "mine" })
	c.RunTo(t, 10*time.Second)
	if is := gated.Conditions.Get("PodScheduled"); is == nil || is.Reason != "SchedulingGated" || len(c.Told) != 0 || where(foreign) != "not looked at" {
		t.Errorf("%s, %s", where(gated), where(foreign))
	}
	c.API.PutPod("shop", "gated", func(p *kube.Pod) { p.Gated = false })
	c.RunTo(t, 20*time.Second)
	if gated.NodeName == "" || foreign.NodeName != "" {
		t.Errorf("%s, %s", where(gated), where(foreign))
	}
}

// TestPreemptionAmongThoseThatKeepApart: who keeps a more important pod from a node has to go.
func TestPreemptionAmongThoseThatKeepApart(t *testing.T) {
	c := zones(t)
	urgent := func(p *kube.Pod) { p.Template.Priority = 1000 }
	apart := &kube.Demands{AntiAffinity: terms(zoneLabel, apps("db"))}
	client(t, c, "one", "db", 100, apart)
	client(t, c, "two", "db", 100, nil, func(p *kube.Pod) { p.Labels = kube.PairsOf(kube.Pair{Key: "app", Value: "web"}) })
	c.RunTo(t, time.Second)
	client(t, c, "three", "db", 100, apart)
	c.RunTo(t, 2*time.Second)
	never := client(t, c, "never", "db", 100, &kube.Demands{NeverPreempts: true}, urgent)
	c.RunTo(t, 3*time.Second)
	if got := never.Conditions.Get("PodScheduled").Message; got != "0/4 nodes are available: 4 node(s) didn't satisfy existing pods anti-affinity rules. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never." {
		t.Error(got)
	}
	p := client(t, c, "urgent", "db", 100, nil, urgent)
	c.RunTo(t, c.Now()+500*time.Millisecond)
	if p.Nominated == "" {
		t.Errorf("not nominated: %s", p.Conditions.Get("PodScheduled").Message)
	}
	c.RunTo(t, time.Minute)
	if p.NodeName == "" {
		t.Errorf("not scheduled: %s", p.Conditions.Get("PodScheduled").Message)
	}
	if got := c.Reports("Preempted"); len(got) != 1 || !strings.HasPrefix(got[0], "Pod Preempted by pod "+p.UID) {
		t.Errorf("preempted: %q", got)
	}
}
