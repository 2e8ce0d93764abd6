package scenarios_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/timeline"
)

// newPod is a pod of a client, changed by a merge patch.
func (c *cluster) newPod(name, patch string) {
	c.t.Helper()
	c.put(timeline.Added, "pods", []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`+name+`","namespace":"default","uid":"u-`+name+`","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z"},`+
		`"spec":{"containers":[{"name":"c","image":"busybox:1","resources":{}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler","enableServiceLinks":true,"priority":0,"preemptionPolicy":"PreemptLowerPriority"},`+
		`"status":{"phase":"Pending","qosClass":"BestEffort"}}`), patch)
}

func (c *cluster) pod(name string) *corev1.Pod {
	c.t.Helper()
	return decode[corev1.Pod](c.t, c.get("pods", "default", name))
}

// A pod that a client creates is scheduled, runs, and ends as its command says.
func TestAClientsPodRunsToCompletion(t *testing.T) {
	c := act(t, shop)
	c.newPod("once", `{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"busybox:1","command":["sh","-c","sleep 20; exit 4"]}],"initContainers":[{"name":"i","image":"busybox:1","command":["true"]}]}}`)
	c.newPod("said", `{"metadata":{"annotations":{"nodesim.dev/exit":"30s"}},"spec":{"restartPolicy":"OnFailure"}}`)
	c.newPod("stays", `{}`)
	c.pass(2 * time.Minute)
	c.check()
	once, said, stays := c.pod("once"), c.pod("said"), c.pod("stays")
	if s := once.Status; s.Phase != corev1.PodFailed || s.ContainerStatuses[0].State.Terminated.ExitCode != 4 || s.InitContainerStatuses[0].State.Terminated.Reason != "Completed" || once.Spec.NodeName == "" || len(once.Spec.InitContainers) != 1 {
		t.Errorf("%+v", s)
	}
	if s := said.Status; s.Phase != corev1.PodSucceeded || s.ContainerStatuses[0].State.Terminated.FinishedAt.Sub(s.ContainerStatuses[0].State.Terminated.StartedAt.Time) != 30*time.Second {
		t.Errorf("%+v", s)
	}
	if s := stays.Status; s.Phase != corev1.PodRunning || !s.ContainerStatuses[0].Ready {
		t.Errorf("%+v", s)
	}
}

// A Job's pods end after five seconds, and so does the Job.
func TestAClientsJobCompletes(t *testing.T) {
	c := act(t, shop)
	c.put(timeline.Added, "jobs", []byte(strings.ReplaceAll(`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"sum","namespace":"default","uid":"u-sum","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z"},
"spec":{"parallelism":1,"completions":1,"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u-sum"}},
"template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"u-sum"}},"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"perl:5","command":["perl","-e","1"]}]}}}}`, "\n", "")))
	c.pass(2 * time.Minute)
	c.check()
	done := c.pods(func(p *corev1.Pod) bool { return strings.HasPrefix(p.Name, "sum-") })
	if len(done) != 1 || done[0].Status.Phase != corev1.PodSucceeded || done[0].Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		t.Errorf("%+v", done)
	}
}

// A deadline that a running pod is given ends it.
func TestARunningPodGetsADeadline(t *testing.T) {
	c := act(t, shop)
	c.newPod("late", `{}`)
	c.pass(time.Minute)
	c.patch("pods", "default", "late", `{"spec":{"activeDeadlineSeconds":90}}`)
	c.pass(time.Minute)
	c.check()
	if s := c.pod("late").Status; s.Phase != corev1.PodFailed || s.Reason != "DeadlineExceeded" {
		t.Errorf("%+v", s)
	}
}

// Pods go where they ask to, and say why they can't.
func TestClientsPodsGoWhereTheyAsk(t *testing.T) {
	c := act(t, shop)
	node := c.list("nodes")[2]
	c.put(timeline.Modified, "nodes", node, `{"metadata":{"labels":{"disk":"ssd"}}}`)
	c.newPod("there", `{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]}]}]}}},`+
		`"containers":[{"name":"c","image":"busybox:1","ports":[{"containerPort":80,"hostPort":8080}]}]}}`)
	c.newPod("gated", `{"spec":{"schedulingGates":[{"name":"example.com/wait"}]}}`)
	c.newPod("foreign", `{"spec":{"schedulerName":"mine"}}`)
	c.pass(time.Minute)
	c.newPod("after", `{"spec":{"nodeSelector":{"disk":"ssd"},"containers":[{"name":"c","image":"busybox:1","ports":[{"containerPort":80,"hostPort":8080}]}]}}`)
	c.patch("pods", "default", "gated", `{"spec":{"schedulingGates":null}}`)
	c.pass(time.Minute)
	c.check()
	name := func(of string) string { return c.pod(of).Spec.NodeName }
	if n := decode[corev1.Node](t, node); name("there") != n.Name || name("gated") == "" || name("foreign") != "" || name("after") != "" {
		t.Errorf("there %q, gated %q, foreign %q, after %q", name("there"), name("gated"), name("foreign"), name("after"))
	}
	const want = "0/4 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 3 node(s) didn't match Pod's node affinity/selector. " +
		"no new claims to deallocate, preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling."
	if got := c.pod("after").Status.Conditions[0].Message; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A client's PriorityClass counts for pods that a controller makes.
func TestAPriorityClassOfAClient(t *testing.T) {
	c := act(t, shop)
	c.put(timeline.Added, "priorityclasses", []byte(`{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"high","uid":"u-high"},"value":1000,"preemptionPolicy":"Never"}`))
	c.put(timeline.Added, "deployments", []byte(strings.ReplaceAll(newDeployment, "\n", "")), `{"spec":{"template":{"spec":{"priorityClassName":"high"}}}}`)
	c.pass(time.Minute)
	c.check()
	for _, p := range c.pods(func(p *corev1.Pod) bool { return p.Labels["app"] == "api" }) {
		if *p.Spec.Priority != 1000 || *p.Spec.PreemptionPolicy != corev1.PreemptNever || p.Spec.NodeName == "" {
			t.Errorf("%+v", p.Spec)
		}
	}
}

// A pod that names its node is refused by the kubelet where it doesn't fit.
func TestAPodThatNamesItsNode(t *testing.T) {
	c := act(t, shop)
	node := decode[corev1.Node](t, c.list("nodes")[0]).Name
	c.newPod("fits", `{"spec":{"nodeName":"`+node+`"}}`)
	c.newPod("large", `{"spec":{"nodeName":"`+node+`","containers":[{"name":"c","image":"busybox:1","resources":{"requests":{"cpu":"100"}}}]}}`)
	c.newPod("picky", `{"spec":{"nodeName":"`+node+`","nodeSelector":{"disk":"ssd"}}}`)
	c.pass(time.Minute)
	c.check()
	if s := c.pod("fits").Status; s.Phase != corev1.PodRunning {
		t.Errorf("%+v", s)
	}
	if s := c.pod("large").Status; s.Phase != corev1.PodFailed || s.Reason != "OutOfcpu" || !strings.HasPrefix(s.Message, "Pod was rejected: Node didn't have enough resource: cpu, requested: 100000, used: ") {
		t.Errorf("%+v", s)
	}
	if s := c.pod("picky").Status; s.Phase != corev1.PodFailed || s.Reason != "NodeAffinity" || s.Message != "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" {
		t.Errorf("%+v", s)
	}
}

// Without a probe a container is ready as soon as it runs, and its status says what it was given.
func TestAClientsPodIsReadyAtOnce(t *testing.T) {
	c := act(t, shop)
	resources := `"resources":{"requests":{"cpu":"100m"}}`
	c.newPod("quick", `{"spec":{"containers":[{"name":"c","image":"busybox:1",`+resources+`}]}}`)
	c.newPod("probed", `{"spec":{"containers":[{"name":"c","image":"busybox:1",`+resources+`,"readinessProbe":{"httpGet":{"path":"/","port":80}}}]}}`)
	c.pass(time.Minute)
	c.check()
	took := func(name string) time.Duration {
		p := c.pod(name)
		for _, one := range p.Status.Conditions {
			if one.Type == corev1.PodReady && one.Status == corev1.ConditionTrue {
				return one.LastTransitionTime.Sub(p.Status.ContainerStatuses[0].State.Running.StartedAt.Time)
			}
		}
		t.Fatalf("%s isn't Ready: %+v", name, p.Status)
		return 0
	}
	if took("quick") > time.Second || took("probed") < 2*time.Second {
		t.Errorf("ready after %s, and with a probe after %s", took("quick"), took("probed"))
	}
	if s := c.pod("quick").Status.ContainerStatuses[0]; s.Resources == nil || s.AllocatedResources.Cpu().MilliValue() != 100 {
		t.Errorf("%+v", s)
	}
}

// Each pod is admitted by what there is when it is created.
func TestPodsAreAdmittedOneByOne(t *testing.T) {
	c := act(t, shop)
	class := func(what timeline.Type, value int) {
		c.put(what, "priorityclasses", fmt.Appendf(nil, `{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"usual","uid":"u-usual"},"globalDefault":true,"value":%d}`, value))
	}
	class(timeline.Added, 1000)
	c.put(timeline.Added, "deployments", []byte(strings.ReplaceAll(newDeployment, "\n", "")))
	c.pass(time.Minute)
	class(timeline.Modified, 2000)
	c.patch("deployments", "shop", "api", `{"metadata":{"generation":2},"spec":{"replicas":4}}`)
	c.pass(time.Minute)
	found := map[int32]int{}
	for _, p := range c.pods(func(p *corev1.Pod) bool { return p.Labels["app"] == "api" }) {
		found[*p.Spec.Priority]++
	}
	if found[1000] != 3 || found[2000] != 1 {
		t.Errorf("pods by priority: %v, want three of 1000 and one of 2000", found)
	}
}

// A CSINode says how many volumes of the provider's driver a node takes.
func TestACSINodeLimitsVolumes(t *testing.T) {
	c := act(t, shop)
	for _, n := range c.list("nodes") {
		name := decode[corev1.Node](t, n).Name
		c.put(timeline.Added, "csinodes", []byte(`{"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":"`+name+`","uid":"u-`+name+`"},`+
			`"spec":{"drivers":[{"name":"other.example.com","nodeID":"x","allocatable":{"count":9}},{"name":"ebs.csi.aws.com","nodeID":"x","allocatable":{"count":0}}]}}`))
	}
	c.newPod("full", `{"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"v"}}]}}`)
	c.pass(time.Minute)
	const want = "0/4 nodes are available: 4 node(s) exceed max volume count."
	if got := c.pod("full").Status.Conditions[0].Message; !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, raw := range c.list("csinodes") {
		c.put(timeline.Deleted, "csinodes", raw)
	}
	c.pass(time.Minute)
	if c.pod("full").Spec.NodeName == "" {
		t.Error("the pod waits without a limit")
	}
}
