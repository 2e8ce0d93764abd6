package controllers_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

func names(pods []*kube.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}

func TestADeploymentAsItsPodsShowIt(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	template := placing.App("web", 100)
	template.Annotations = kube.PairsOf(kube.Pair{Key: "karpenter.sh/do-not-disrupt", Value: "true"})
	template.Tolerations = []kube.Toleration{{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", Seconds: 30}}
	c.Deploy(t, controllers.Deployment, "web", 1, template)
	c.RunTo(t, time.Minute)
	p := c.Pods("web")[0]
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
	}, c.Told); diff != "" {
		t.Error(diff)
	}
}

func TestScalingIsToldAsTheVersionDoes(t *testing.T) {
	for _, test := range []struct{ version, up, more, down string }{
		{"1.31", "from 0 to 2", "from 2 to 3", "from 3 to 1"},
		{"1.30", "to 2", "to 3 from 2", "to 1 from 3"},
	} {
		c := placing.New(t, test.version, true)
		c.Node("n1", "a")
		c.Deploy(t, controllers.Deployment, "web", 2, placing.App("web", 100))
		for _, n := range []int{3, 1} {
			c.RunTo(t, c.Now()+time.Minute)
			if err := c.Scale("shop", "web", n); err != nil {
				t.Fatal(err)
			}
		}
		c.RunTo(t, c.Now()+time.Minute)
		rs := c.Pods("web")[0].Owner.Name
		want := []string{
			"Deployment Scaled up replica set " + rs + " " + test.up,
			"Deployment Scaled up replica set " + rs + " " + test.more,
			"Deployment Scaled down replica set " + rs + " " + test.down,
		}
		if diff := cmp.Diff(want, c.Reports("ScalingReplicaSet")); diff != "" {
			t.Errorf("%s: %s", test.version, diff)
		}
		if got := len(c.Reports("SuccessfulDelete")); got != 2 || len(c.Pods("web")) != 1 {
			t.Errorf("%s: %d deletions told, %d pods left", test.version, got, len(c.Pods("web")))
		}
	}
}

// What goes first when a ReplicaSet shrinks: a pod without a node, one that
// isn't ready, one that shares its node with another.
func TestAScaleDownSparesTheUseful(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	c.Node("n2", "a")
	c.Deploy(t, controllers.Deployment, "web", 3, placing.App("web", 1900))
	c.RunTo(t, time.Minute)
	if err := c.Scale("shop", "web", 5); err != nil { // one of them fits nowhere
		t.Fatal(err)
	}
	c.RunTo(t, 2*time.Minute)
	lone := c.Pods("web")
	slices.SortFunc(lone, func(a, b *kube.Pod) int { return strings.Compare(a.NodeName, b.NodeName) })
	if lone[0].NodeName != "" || lone[1].NodeName == "" {
		t.Fatalf("want one pod pending, got %v", c.Placed("web"))
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
		c.RunTo(t, c.Now()+time.Minute)
		if !step.gone.Gone() || len(c.Pods("web")) != step.replicas {
			t.Errorf("at %d replicas %s should be gone: %v", step.replicas, step.gone.Name, names(c.Pods("web")))
		}
	}
	if err := c.Scale("shop", "web", 2); err != nil {
		t.Fatal(err)
	}
	c.RunTo(t, c.Now()+time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1, "n2": 1}, c.Placed("web")); diff != "" {
		t.Error(diff)
	}
}

func TestAFailedPodIsReplacedAndLeft(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	c.Deploy(t, controllers.Deployment, "web", 2, placing.App("web", 100))
	c.RunTo(t, time.Minute)
	failed := c.Pods("web")[0]
	c.API.UpdatePod(failed, func(p *kube.Pod) { p.Phase, p.Reason = "Failed", "Evicted" })
	c.RunTo(t, 2*time.Minute)
	if len(c.Pods("web")) != 3 || failed.Gone() {
		t.Errorf("pods: %v", names(c.Pods("web")))
	}
}

func TestAStatefulSetWaits(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	template := placing.App("db", 100)
	template.Volume = "data"
	c.Deploy(t, controllers.StatefulSet, "db", 3, template)
	c.RunTo(t, 500*time.Millisecond)
	if got := names(c.Pods("db")); len(got) > 1 {
		t.Errorf("the next pod waits until the first is ready, got %v", got)
	}
	c.RunTo(t, time.Minute)
	if diff := cmp.Diff([]string{"db-0", "db-1", "db-2"}, names(c.Pods("db"))); diff != "" {
		t.Fatal(diff)
	}
	p := c.Pods("db")[1]
	if p.Labels.Get("apps.kubernetes.io/pod-index") != "1" || p.Labels.Get("statefulset.kubernetes.io/pod-name") != "db-1" ||
		!strings.HasPrefix(p.Labels.Get("controller-revision-hash"), "db-") || p.Claim != "data-db-1" || p.Owner.Kind != "StatefulSet" {
		t.Errorf("labels %v, claim %q, owner %+v", p.Labels, p.Claim, p.Owner)
	}
	want := []string{
		"StatefulSet Create Claim data-db-0 Pod db-0 in StatefulSet db success", "StatefulSet Create Pod db-0 in StatefulSet db successful",
		"StatefulSet Create Claim data-db-1 Pod db-1 in StatefulSet db success", "StatefulSet Create Pod db-1 in StatefulSet db successful",
		"StatefulSet Create Claim data-db-2 Pod db-2 in StatefulSet db success", "StatefulSet Create Pod db-2 in StatefulSet db successful",
	}
	if diff := cmp.Diff(want, c.Reports("SuccessfulCreate")); diff != "" {
		t.Error(diff)
	}
	c.API.DeletePod(p, kube.OwnGrace)
	c.RunTo(t, c.Now()+time.Second+900*time.Millisecond)
	if got := c.Pods("db"); len(got) != 3 || got[1] != p {
		t.Errorf("a pod of the name is there until the old one is gone: %v", names(got))
	}
	c.RunTo(t, c.Now()+10*time.Second)
	if now := c.API.Pod("shop", "db-1"); now == nil || now == p || now.NodeName != "n1" {
		t.Errorf("db-1 is %+v", now)
	}
	if got := len(c.Reports("SuccessfulCreate")); got != len(want) {
		t.Errorf("%d events, want %d: the claim is there, and what was told before counts up", got, len(want))
	}
	if err := c.Scale("shop", "db", 1); err != nil {
		t.Fatal(err)
	}
	c.RunTo(t, c.Now()+time.Minute)
	if diff := cmp.Diff([]string{"StatefulSet Delete Pod db-2 in StatefulSet db successful", "StatefulSet Delete Pod db-1 in StatefulSet db successful"}, c.Reports("SuccessfulDelete")); diff != "" {
		t.Errorf("the last goes first:\n%s", diff)
	}
}

func TestAStatefulSetsFailedPodIsMadeAnew(t *testing.T) {
	c := placing.New(t, "1.29", true)
	c.Node("n1", "a")
	c.Deploy(t, controllers.StatefulSet, "db", 1, placing.App("db", 100))
	c.RunTo(t, time.Minute)
	p := c.Pods("db")[0]
	c.API.UpdatePod(p, func(p *kube.Pod) { p.Phase = "Failed" })
	c.RunTo(t, 2*time.Minute)
	if now := c.API.Pod("shop", "db-0"); now == nil || now == p {
		t.Errorf("db-0 is %+v", now)
	}
	if diff := cmp.Diff([]string{"StatefulSet StatefulSet shop/db is recreating failed Pod db-0"}, c.Reports("RecreatingFailedPod")); diff != "" {
		t.Error(diff)
	}
}

func TestADaemonSetFollowsTheNodes(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	notReady := c.Node("n2", "a", func(n *kube.Node) {
		n.Taints = []kube.Taint{{Key: "node.kubernetes.io/not-ready", Effect: "NoSchedule"}}
	})
	c.Node("gpu", "a", func(n *kube.Node) { n.Taints = []kube.Taint{{Key: "gpu", Effect: "NoSchedule"}} })
	c.Deploy(t, controllers.DaemonSet, "agent", 0, placing.App("agent", 100))
	all := placing.App("cni", 100)
	all.Tolerations = []kube.Toleration{{Operator: "Exists", Seconds: -1}}
	c.Deploy(t, controllers.DaemonSet, "cni", 0, all)
	c.RunTo(t, time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1}, c.Placed("agent")); diff != "" {
		t.Errorf("not-ready:NoSchedule isn't tolerated:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"n1": 1, "n2": 1, "gpu": 1}, c.Placed("cni")); diff != "" {
		t.Error(diff)
	}
	c.API.UpdateNode(notReady, func(n *kube.Node) { n.Taints = nil })
	late := c.Node("n3", "a")
	c.Cordon(late)
	c.RunTo(t, 2*time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1, "n2": 1, "n3": 1}, c.Placed("agent")); diff != "" {
		t.Errorf("cordons don't concern it:\n%s", diff)
	}
	// A taint that evicts: what doesn't tolerate it goes and stays away.
	c.API.UpdateNode(late, func(n *kube.Node) { n.AddTaint(kube.Taint{Key: "gone", Effect: "NoExecute"}) })
	c.RunTo(t, 3*time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1, "n2": 1}, c.Placed("agent")); diff != "" {
		t.Error(diff)
	}
	if got := c.Reports("SuccessfulDelete"); len(got) != 1 || !strings.HasPrefix(got[0], "DaemonSet Deleted pod: agent-") {
		t.Errorf("deletions told: %v", got)
	}
	p := c.Pods("agent")[0]
	if p.Pinned != p.NodeName || p.Labels.Get("pod-template-generation") != "1" || p.Labels.Get("controller-revision-hash") == "" || p.Owner.Name != "agent" {
		t.Errorf("pinned to %q, labels %v, owner %+v", p.Pinned, p.Labels, p.Owner)
	}
	if got := len(p.Template.Tolerations); got != 6 {
		t.Errorf("%d tolerations: %+v", got, p.Template.Tolerations)
	}
}

func TestAFailedDaemonIsKilledAndBacksOff(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	c.Deploy(t, controllers.DaemonSet, "agent", 0, placing.App("agent", 100))
	c.API.WatchPods(func(change kube.Change, old, p *kube.Pod) {
		if change == kube.Modified && p.Phase == "Running" && old.Phase != "Running" {
			c.After(100*time.Millisecond, func() { c.API.UpdatePod(p, func(p *kube.Pod) { p.Phase = "Failed" }) })
		}
	})
	c.RunTo(t, 10*time.Minute)
	got := c.Reports("FailedDaemonPod")
	// The backoff doubles from a second: some nine times in ten minutes.
	if len(got) < 7 || len(got) > 11 || !regexp.MustCompile(`^DaemonSet Found failed daemon pod shop/agent-\w{5} on node n1, will try to kill it$`).MatchString(got[0]) {
		t.Errorf("%d reports, the first %q", len(got), got[0])
	}
}

func TestAJobReplacesWhatFails(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	c.Deploy(t, controllers.Job, "sum", 2, placing.App("sum", 100))
	c.RunTo(t, 30*time.Second)
	pods := c.Pods("sum")
	if len(pods) != 2 || !pods[0].HasFinalizer("batch.kubernetes.io/job-tracking") || pods[0].Labels.Get("batch.kubernetes.io/job-name") != "sum" ||
		pods[0].Template.RestartPolicy != "Never" || pods[0].Owner.APIVersion != "batch/v1" {
		t.Fatalf("pods %v: %+v", names(pods), pods[0])
	}
	c.API.UpdatePod(pods[0], func(p *kube.Pod) { p.Phase = "Succeeded" })
	c.API.UpdatePod(pods[1], func(p *kube.Pod) { p.Phase = "Failed" })
	c.RunTo(t, 39*time.Second)
	if got := len(c.Pods("sum")); got != 2 {
		t.Errorf("%d pods: the failed one is replaced after ten seconds", got)
	}
	c.RunTo(t, time.Minute)
	if got := len(c.Pods("sum")); got != 3 {
		t.Errorf("%d pods, want 3: done, failed, and another try", got)
	}
	for _, p := range pods {
		if p.HasFinalizer("batch.kubernetes.io/job-tracking") {
			t.Errorf("%s keeps its finalizer", p.Name)
		}
	}
}

// A pod of a Job that somebody deletes has failed, though its containers end well.
func TestAJobReplacesWhatIsDeleted(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	c.Deploy(t, controllers.Job, "sum", 2, placing.App("sum", 100))
	c.RunTo(t, 30*time.Second)
	pods := c.Pods("sum")
	c.API.DeletePod(pods[0], kube.OwnGrace)
	c.API.UpdatePod(pods[0], func(p *kube.Pod) { p.Phase = "Succeeded" })
	for _, at := range []time.Duration{39 * time.Second, time.Minute} {
		c.RunTo(t, at)
		alive, want := 0, 1
		if at == time.Minute {
			want = 2
		}
		for _, p := range c.Pods("sum") {
			if p.Active() {
				alive++
			}
		}
		if alive != want {
			t.Errorf("after %s %d pods are active, want %d: the deleted one is replaced after ten seconds", at, alive, want)
		}
	}
	if pods[0].HasFinalizer("batch.kubernetes.io/job-tracking") {
		t.Error("the deleted pod is still tracked")
	}
}

// A thousand pods lost at once come back once, in a few syncs.
func TestManyLostPodsAreReplacedOnce(t *testing.T) {
	c := placing.New(t, "1.36", false)
	for i := range 60 {
		c.Node(fmt.Sprint("n", i), string(rune('a'+i%3)))
	}
	c.Deploy(t, controllers.Deployment, "web", 1200, placing.App("web", 10))
	c.RunTo(t, time.Minute)
	if got := c.Placed("web"); got[""] > 0 || len(got) != 60 {
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
	c.RunTo(t, 2*time.Minute)
	if got := len(c.Pods("web")); made != 1000 || got != 1200 {
		t.Errorf("%d pods were created, %d are there", made, got)
	}
}

func TestAClusterAtRest(t *testing.T) {
	c := placing.New(t, "1.36", true)
	for _, n := range []string{"a1", "b1", "c1"} {
		c.Node(n, n[:1])
	}
	db := placing.App("db", 100)
	db.Volume = "data"
	list := []controllers.Workload{
		{Kind: controllers.Deployment, Namespace: "shop", Name: "web", Replicas: 6, Template: placing.App("web", 500)},
		{Kind: controllers.StatefulSet, Namespace: "shop", Name: "db", Replicas: 3, Template: db},
		{Kind: controllers.DaemonSet, Namespace: "kube-system", Name: "agent", Template: placing.App("agent", 100)},
		{Kind: controllers.Deployment, Namespace: "shop", Name: "big", Replicas: 1, Template: placing.App("big", 9000)},
	}
	if err := c.Workloads.Seed(list, c.Scheduler, c.Running); err != nil {
		t.Fatal(err)
	}
	each := map[string]int{"a1": 1, "b1": 1, "c1": 1}
	for name, want := range map[string]map[string]int{"web": {"a1": 2, "b1": 2, "c1": 2}, "db": each, "agent": each, "big": {"": 1}} {
		if diff := cmp.Diff(want, c.Placed(name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, p := range c.Pods("web") {
		if age := c.API.Now().Sub(p.Created); age < time.Hour || !p.Ready() || !p.Conditions.Is("PodScheduled", "True") {
			t.Errorf("%s is %s old, conditions %+v", p.Name, age, p.Conditions)
		}
	}
	if len(c.Told) > 0 {
		t.Errorf("told at rest: %v", c.Told)
	}
	c.RunTo(t, time.Minute)
	if got := c.Reports("FailedScheduling"); len(c.Told) != 1 || len(got) != 1 || !strings.Contains(got[0], "3 Insufficient cpu") {
		t.Errorf("told within a minute: %v", c.Told)
	}
	c.API.DeletePod(c.Pods("web")[0], kube.OwnGrace)
	c.RunTo(t, 2*time.Minute)
	if got := len(c.Pods("web")); got != 6 {
		t.Errorf("%d pods of web after one was deleted", got)
	}
}

// Nothing replaces a pod without a controller.
func TestABarePodIsGoneForGood(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	c.Deploy(t, controllers.Pod, "fix", 2, placing.App("fix", 100))
	c.RunTo(t, time.Minute)
	pods := c.Pods("fix")
	if len(pods) != 2 || len(c.Reports("SuccessfulCreate")) > 0 {
		t.Fatalf("found %v, told %v: want two pods that no controller has created", names(pods), c.Told)
	}
	gone, stays := pods[0], pods[1]
	if gone.Owner != nil || gone.NodeName != "n1" || !gone.Ready() || !strings.HasPrefix(gone.Name, "fix-") {
		t.Errorf("pod %s of %+v on %q: want it to run on n1, with no owner", gone.Name, gone.Owner, gone.NodeName)
	}
	c.API.DeletePod(gone, kube.OwnGrace)
	c.RunTo(t, time.Hour)
	if left := c.Pods("fix"); !gone.Gone() || len(left) != 1 || left[0] != stays {
		t.Errorf("left are %v, want %s alone", names(left), stays.Name)
	}
	if err := c.Scale("shop", "fix", 3); err == nil || err.Error() != "scale shop/fix: a Pod has no replicas" {
		t.Errorf("scaled: %v", err)
	}
}

func TestWorkloadsThatMakeNoSense(t *testing.T) {
	c := placing.New(t, "1.36", false)
	good := controllers.Workload{Kind: controllers.DaemonSet, Namespace: "shop", Name: "agent", Template: placing.App("agent", 1)}
	if err := c.Add(good); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{c.Add(good), "workload shop/agent: there is one of that name"},
		{c.Add(controllers.Workload{Kind: "Pet", Namespace: "shop", Name: "x", Template: placing.App("x", 1)}), `workload shop/x: kind "Pet": want Deployment, ReplicaSet, StatefulSet, DaemonSet, Job or Pod`},
		{c.Add(controllers.Workload{Kind: controllers.Job, Namespace: "shop", Name: "x"}), `workload "x" in namespace "shop" with 0 containers: want a name, a namespace and a container`},
		{c.Scale("shop", "none", 1), "scale shop/none: there is no such workload"},
		{c.Scale("shop", "agent", 1), "scale shop/agent: a DaemonSet has no replicas"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got %v, want %s", test.err, test.want)
		}
	}
}
