package actors_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/actors"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

func names(pods []*kube.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}

func TestADeploymentAsItsPodsShowIt(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.node("n1", "a")
	template := app("web", 100)
	template.Annotations = kube.PairsOf(kube.Pair{Key: "karpenter.sh/do-not-disrupt", Value: "true"})
	template.Tolerations = []kube.Toleration{{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", Seconds: 30}}
	c.deploy(t, actors.Deployment, "web", 1, template)
	c.run(t, time.Minute)
	p := c.pods("web")[0]
	hash := p.Labels.Get("pod-template-hash")
	if !regexp.MustCompile("^web-"+hash+"-[bcdfghjklmnpqrstvwxz2456789]{5}$").MatchString(p.Name) || hash == "" {
		t.Errorf("name %q with hash %q", p.Name, hash)
	}
	if p.Owner.Kind != "ReplicaSet" || p.Owner.Name != "web-"+hash || p.Template.GenerateName != "web-"+hash+"-" || p.Generation != 1 {
		t.Errorf("owner %+v, generateName %q, generation %d", p.Owner, p.Template.GenerateName, p.Generation)
	}
	want := []kube.Toleration{
		{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", Seconds: 30},
		{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", Seconds: 300},
	}
	if diff := cmp.Diff(want, p.Template.Tolerations); diff != "" {
		t.Error(diff)
	}
	if p.Annotations.Get("karpenter.sh/do-not-disrupt") != "true" {
		t.Errorf("annotations %v", p.Annotations)
	}
	if diff := cmp.Diff([]string{
		"ScalingReplicaSet Deployment Scaled up replica set web-" + hash + " from 0 to 1",
		"SuccessfulCreate ReplicaSet Created pod: " + p.Name,
		"Scheduled Pod Successfully assigned shop/" + p.Name + " to n1",
	}, c.told); diff != "" {
		t.Error(diff)
	}
}

func TestScalingIsToldAsTheVersionDoes(t *testing.T) {
	for _, test := range []struct{ version, up, more, down string }{
		{"1.31", "from 0 to 2", "from 2 to 3", "from 3 to 1"},
		{"1.30", "to 2", "to 3 from 2", "to 1 from 3"},
	} {
		c := newPlacing(t, test.version, true)
		c.node("n1", "a")
		c.deploy(t, actors.Deployment, "web", 2, app("web", 100))
		for _, n := range []int{3, 1} {
			c.run(t, c.Now()+time.Minute)
			if err := c.Scale("shop", "web", n); err != nil {
				t.Fatal(err)
			}
		}
		c.run(t, c.Now()+time.Minute)
		rs := c.pods("web")[0].Owner.Name
		want := []string{
			"Deployment Scaled up replica set " + rs + " " + test.up,
			"Deployment Scaled up replica set " + rs + " " + test.more,
			"Deployment Scaled down replica set " + rs + " " + test.down,
		}
		if diff := cmp.Diff(want, c.reports("ScalingReplicaSet")); diff != "" {
			t.Errorf("%s: %s", test.version, diff)
		}
		if got := len(c.reports("SuccessfulDelete")); got != 2 || len(c.pods("web")) != 1 {
			t.Errorf("%s: %d deletions told, %d pods left", test.version, got, len(c.pods("web")))
		}
	}
}

// What goes first when a ReplicaSet shrinks: a pod without a node, one that
// isn't ready, one that shares its node with another.
func TestAScaleDownSparesTheUseful(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.node("n1", "a")
	c.node("n2", "a")
	c.deploy(t, actors.Deployment, "web", 3, app("web", 1900))
	c.run(t, time.Minute)
	if err := c.Scale("shop", "web", 5); err != nil { // one of them fits nowhere
		t.Fatal(err)
	}
	c.run(t, 2*time.Minute)
	lone := c.pods("web")
	slices.SortFunc(lone, func(a, b *kube.Pod) int { return strings.Compare(a.NodeName, b.NodeName) })
	if lone[0].NodeName != "" || lone[1].NodeName == "" {
		t.Fatalf("want one pod pending, got %v", c.placed("web"))
	}
	unready := lone[2]
	c.API.UpdatePod(unready, func(p *kube.Pod) {
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "False"})
	})
	for _, step := range []struct {
		replicas int
		gone     *kube.Pod
	}{{4, lone[0]}, {3, unready}} {
		if err := c.Scale("shop", "web", step.replicas); err != nil {
			t.Fatal(err)
		}
		c.run(t, c.Now()+time.Minute)
		if !step.gone.Gone() || len(c.pods("web")) != step.replicas {
			t.Errorf("at %d replicas %s should be gone: %v", step.replicas, step.gone.Name, names(c.pods("web")))
		}
	}
	if err := c.Scale("shop", "web", 2); err != nil {
		t.Fatal(err)
	}
	c.run(t, c.Now()+time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1, "n2": 1}, c.placed("web")); diff != "" {
		t.Error(diff)
	}
}

func TestAFailedPodIsReplacedAndLeft(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.node("n1", "a")
	c.deploy(t, actors.Deployment, "web", 2, app("web", 100))
	c.run(t, time.Minute)
	failed := c.pods("web")[0]
	c.API.UpdatePod(failed, func(p *kube.Pod) { p.Phase, p.Reason = "Failed", "Evicted" })
	c.run(t, 2*time.Minute)
	if len(c.pods("web")) != 3 || failed.Gone() {
		t.Errorf("pods: %v", names(c.pods("web")))
	}
}

func TestAStatefulSetWaits(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.node("n1", "a")
	template := app("db", 100)
	template.Volume = "data"
	c.deploy(t, actors.StatefulSet, "db", 3, template)
	c.run(t, 500*time.Millisecond)
	if got := names(c.pods("db")); len(got) > 1 {
		t.Errorf("the next pod waits until the first is ready, got %v", got)
	}
	c.run(t, time.Minute)
	if diff := cmp.Diff([]string{"db-0", "db-1", "db-2"}, names(c.pods("db"))); diff != "" {
		t.Fatal(diff)
	}
	p := c.pods("db")[1]
	if p.Labels.Get("apps.kubernetes.io/pod-index") != "1" || p.Labels.Get("statefulset.kubernetes.io/pod-name") != "db-1" ||
		!strings.HasPrefix(p.Labels.Get("controller-revision-hash"), "db-") || p.Claim != "data-db-1" || p.Owner.Kind != "StatefulSet" {
		t.Errorf("labels %v, claim %q, owner %+v", p.Labels, p.Claim, p.Owner)
	}
	want := []string{
		"StatefulSet Create Claim data-db-0 Pod db-0 in StatefulSet db success", "StatefulSet Create Pod db-0 in StatefulSet db successful",
		"StatefulSet Create Claim data-db-1 Pod db-1 in StatefulSet db success", "StatefulSet Create Pod db-1 in StatefulSet db successful",
		"StatefulSet Create Claim data-db-2 Pod db-2 in StatefulSet db success", "StatefulSet Create Pod db-2 in StatefulSet db successful",
	}
	if diff := cmp.Diff(want, c.reports("SuccessfulCreate")); diff != "" {
		t.Error(diff)
	}
	c.API.DeletePod(p, kube.OwnGrace)
	c.run(t, c.Now()+time.Second+900*time.Millisecond)
	if got := c.pods("db"); len(got) != 3 || got[1] != p {
		t.Errorf("a pod of the name is there until the old one is gone: %v", names(got))
	}
	c.run(t, c.Now()+10*time.Second)
	if now := c.API.Pod("shop", "db-1"); now == nil || now == p || now.NodeName != "n1" {
		t.Errorf("db-1 is %+v", now)
	}
	if got := len(c.reports("SuccessfulCreate")); got != len(want) {
		t.Errorf("%d events, want %d: the claim is there, and what was told before counts up", got, len(want))
	}
	if err := c.Scale("shop", "db", 1); err != nil {
		t.Fatal(err)
	}
	c.run(t, c.Now()+time.Minute)
	if diff := cmp.Diff([]string{"StatefulSet Delete Pod db-2 in StatefulSet db successful", "StatefulSet Delete Pod db-1 in StatefulSet db successful"}, c.reports("SuccessfulDelete")); diff != "" {
		t.Errorf("the last goes first:\n%s", diff)
	}
}

func TestAStatefulSetsFailedPodIsMadeAnew(t *testing.T) {
	c := newPlacing(t, "1.29", true)
	c.node("n1", "a")
	c.deploy(t, actors.StatefulSet, "db", 1, app("db", 100))
	c.run(t, time.Minute)
	p := c.pods("db")[0]
	c.API.UpdatePod(p, func(p *kube.Pod) { p.Phase = "Failed" })
	c.run(t, 2*time.Minute)
	if now := c.API.Pod("shop", "db-0"); now == nil || now == p {
		t.Errorf("db-0 is %+v", now)
	}
	if diff := cmp.Diff([]string{"StatefulSet StatefulSet shop/db is recreating failed Pod db-0"}, c.reports("RecreatingFailedPod")); diff != "" {
		t.Error(diff)
	}
}

func TestADaemonSetFollowsTheNodes(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.node("n1", "a")
	notReady := c.node("n2", "a", func(n *kube.Node) {
		n.Taints = []kube.Taint{{Key: "node.kubernetes.io/not-ready", Effect: "NoSchedule"}}
	})
	c.node("gpu", "a", func(n *kube.Node) { n.Taints = []kube.Taint{{Key: "gpu", Effect: "NoSchedule"}} })
	c.deploy(t, actors.DaemonSet, "agent", 0, app("agent", 100))
	all := app("cni", 100)
	all.Tolerations = []kube.Toleration{{Operator: "Exists", Seconds: -1}}
	c.deploy(t, actors.DaemonSet, "cni", 0, all)
	c.run(t, time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1}, c.placed("agent")); diff != "" {
		t.Errorf("not-ready:NoSchedule isn't tolerated:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"n1": 1, "n2": 1, "gpu": 1}, c.placed("cni")); diff != "" {
		t.Error(diff)
	}
	c.API.UpdateNode(notReady, func(n *kube.Node) { n.Taints = nil })
	late := c.node("n3", "a")
	c.cordon(late)
	c.run(t, 2*time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1, "n2": 1, "n3": 1}, c.placed("agent")); diff != "" {
		t.Errorf("cordons don't concern it:\n%s", diff)
	}
	// A taint that evicts: what doesn't tolerate it goes and stays away.
	c.API.UpdateNode(late, func(n *kube.Node) { n.AddTaint(kube.Taint{Key: "gone", Effect: "NoExecute"}) })
	c.run(t, 3*time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1, "n2": 1}, c.placed("agent")); diff != "" {
		t.Error(diff)
	}
	if got := c.reports("SuccessfulDelete"); len(got) != 1 || !strings.HasPrefix(got[0], "DaemonSet Deleted pod: agent-") {
		t.Errorf("deletions told: %v", got)
	}
	p := c.pods("agent")[0]
	if p.Pinned != p.NodeName || p.Labels.Get("pod-template-generation") != "1" || p.Labels.Get("controller-revision-hash") == "" || p.Owner.Name != "agent" {
		t.Errorf("pinned to %q, labels %v, owner %+v", p.Pinned, p.Labels, p.Owner)
	}
	if got := len(p.Template.Tolerations); got != 6 {
		t.Errorf("%d tolerations: %+v", got, p.Template.Tolerations)
	}
}

func TestAFailedDaemonIsKilledAndBacksOff(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.node("n1", "a")
	c.deploy(t, actors.DaemonSet, "agent", 0, app("agent", 100))
	c.API.WatchPods(func(change kube.Change, old, p *kube.Pod) {
		if change == kube.Modified && p.Phase == "Running" && old.Phase != "Running" {
			c.After(100*time.Millisecond, func() { c.API.UpdatePod(p, func(p *kube.Pod) { p.Phase = "Failed" }) })
		}
	})
	c.run(t, 10*time.Minute)
	got := c.reports("FailedDaemonPod")
	// The backoff doubles from a second: some nine times in ten minutes.
	if len(got) < 7 || len(got) > 11 || !regexp.MustCompile(`^DaemonSet Found failed daemon pod shop/agent-\w{5} on node n1, will try to kill it$`).MatchString(got[0]) {
		t.Errorf("%d reports, the first %q", len(got), got[0])
	}
}

func TestAJobReplacesWhatFails(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.node("n1", "a")
	c.deploy(t, actors.Job, "sum", 2, app("sum", 100))
	c.run(t, 30*time.Second)
	pods := c.pods("sum")
	if len(pods) != 2 || !pods[0].HasFinalizer("batch.kubernetes.io/job-tracking") || pods[0].Labels.Get("batch.kubernetes.io/job-name") != "sum" ||
		pods[0].Template.RestartPolicy != "Never" || pods[0].Owner.APIVersion != "batch/v1" {
		t.Fatalf("pods %v: %+v", names(pods), pods[0])
	}
	c.API.UpdatePod(pods[0], func(p *kube.Pod) { p.Phase = "Succeeded" })
	c.API.UpdatePod(pods[1], func(p *kube.Pod) { p.Phase = "Failed" })
	c.run(t, 39*time.Second)
	if got := len(c.pods("sum")); got != 2 {
		t.Errorf("%d pods: the failed one is replaced after ten seconds", got)
	}
	c.run(t, time.Minute)
	if got := len(c.pods("sum")); got != 3 {
		t.Errorf("%d pods, want 3: done, failed, and another try", got)
	}
	for _, p := range pods {
		if p.HasFinalizer("batch.kubernetes.io/job-tracking") {
			t.Errorf("%s keeps its finalizer", p.Name)
		}
	}
}

// A thousand pods lost at once come back once, in a few syncs.
func TestManyLostPodsAreReplacedOnce(t *testing.T) {
	c := newPlacing(t, "1.36", false)
	for i := range 60 {
		c.node(fmt.Sprint("n", i), string(rune('a'+i%3)))
	}
	c.deploy(t, actors.Deployment, "web", 1200, app("web", 10))
	c.run(t, time.Minute)
	if got := c.placed("web"); got[""] > 0 || len(got) != 60 {
		t.Fatalf("placed on %d nodes, %d wait", len(got), got[""])
	}
	made := 0
	c.API.WatchPods(func(change kube.Change, _, _ *kube.Pod) {
		if change == kube.Added {
			made++
		}
	})
	for i, p := range slices.Clone(c.API.Pods()) {
		if i < 1000 {
			c.API.DeletePod(p, kube.OwnGrace)
		}
	}
	c.run(t, 2*time.Minute)
	if got := len(c.pods("web")); made != 1000 || got != 1200 {
		t.Errorf("%d pods were created, %d are there", made, got)
	}
}

func TestAClusterAtRest(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	for _, n := range []string{"a1", "b1", "c1"} {
		c.node(n, n[:1])
	}
	db := app("db", 100)
	db.Volume = "data"
	list := []actors.Workload{
		{Kind: actors.Deployment, Namespace: "shop", Name: "web", Replicas: 6, Template: app("web", 500)},
		{Kind: actors.StatefulSet, Namespace: "shop", Name: "db", Replicas: 3, Template: db},
		{Kind: actors.DaemonSet, Namespace: "kube-system", Name: "agent", Template: app("agent", 100)},
		{Kind: actors.Deployment, Namespace: "shop", Name: "big", Replicas: 1, Template: app("big", 9000)},
	}
	if err := c.Workloads.Seed(list, c.sched, c.running); err != nil {
		t.Fatal(err)
	}
	each := map[string]int{"a1": 1, "b1": 1, "c1": 1}
	for name, want := range map[string]map[string]int{"web": {"a1": 2, "b1": 2, "c1": 2}, "db": each, "agent": each, "big": {"": 1}} {
		if diff := cmp.Diff(want, c.placed(name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, p := range c.pods("web") {
		if age := c.API.Now().Sub(p.Created); age < time.Hour || !p.Ready() || !p.Conditions.Is("PodScheduled", "True") {
			t.Errorf("%s is %s old, conditions %+v", p.Name, age, p.Conditions)
		}
	}
	if len(c.told) > 0 {
		t.Errorf("told at rest: %v", c.told)
	}
	c.run(t, time.Minute)
	if got := c.reports("FailedScheduling"); len(c.told) != 1 || len(got) != 1 || !strings.Contains(got[0], "3 Insufficient cpu") {
		t.Errorf("told within a minute: %v", c.told)
	}
	c.API.DeletePod(c.pods("web")[0], kube.OwnGrace)
	c.run(t, 2*time.Minute)
	if got := len(c.pods("web")); got != 6 {
		t.Errorf("%d pods of web after one was deleted", got)
	}
}

func TestWorkloadsThatMakeNoSense(t *testing.T) {
	c := newPlacing(t, "1.36", false)
	good := actors.Workload{Kind: actors.DaemonSet, Namespace: "shop", Name: "agent", Template: app("agent", 1)}
	if err := c.Add(good); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{c.Add(good), "workload shop/agent: there is one of that name"},
		{c.Add(actors.Workload{Kind: "Pet", Namespace: "shop", Name: "x", Template: app("x", 1)}), `workload shop/x: kind "Pet": want Deployment, ReplicaSet, StatefulSet, DaemonSet or Job`},
		{c.Add(actors.Workload{Kind: actors.Job, Namespace: "shop", Name: "x"}), `workload "x" in namespace "shop" with 0 containers: want a name, a namespace and a container`},
		{c.Scale("shop", "none", 1), "scale shop/none: there is no such workload"},
		{c.Scale("shop", "agent", 1), "scale shop/agent: a DaemonSet has no replicas"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got %v, want %s", test.err, test.want)
		}
	}
}
