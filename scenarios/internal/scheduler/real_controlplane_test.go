//go:build controlplane

package scheduler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

// TestLikeKubeScheduler: pods of generated clusters come where kube-scheduler puts them, or to another node with the same
// score, and where it finds none, the reasons are the same, word for word. The simulated cluster follows the real one,
// so that the two differ by one decision at a time. There are ten times as many clusters with NODESIM_SOAK.
func TestLikeKubeScheduler(t *testing.T) {
	cluster := testcluster.Shared(t)
	if err := cluster.StartControllers(); err != nil {
		t.Fatal(err)
	}
	bound, refused, clusters := 0, 0, uint64(12)
	if os.Getenv("NODESIM_SOAK") != "" {
		clusters *= 10
	}
	for seed := range clusters {
		one := &beside{T: t, Interface: cluster.Client(), Rand: rand.New(rand.NewPCG(seed, 36)), seed: seed}
		b, r := one.run(16)
		bound, refused = bound+b, refused+r
	}
	t.Logf("%d pods came to a node, %d to none", bound, refused)
	if bound < 60 || refused < 20 {
		t.Errorf("%d pods came to a node and %d to none, want some of both", bound, refused)
	}
}

// beside is a cluster of nodes without kubelets, and the simulated one beside it.
type beside struct {
	*testing.T
	kubernetes.Interface
	*rand.Rand
	seed uint64
	sim  *placing.Cluster
	ts   convert.Templates
}

var clock = convert.Clock{Scenario: kube.InstantOf(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)), Wall: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC), Speed: 1}

func (b *beside) run(pods int) (bound, refused int) {
	b.Helper()
	ctx := b.Context()
	b.sim = placing.New(b, "v1.36.3", false)
	for _, ns := range []string{"a", "b"} {
		labels := map[string]string{"team": ns}
		_, err := b.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace(ns), Labels: labels}}, metav1.CreateOptions{})
		b.must(err)
		labels[corev1.LabelMetadataName] = b.namespace(ns)
		b.sim.Scheduler.Namespace(b.namespace(ns), convert.LabelsFromAPI(labels))
	}
	var nodes []string
	for i := range 4 + b.IntN(4) {
		nodes = append(nodes, b.node(i))
	}
	b.settle(nodes)
	for i := range pods {
		p, spec := b.pod(i)
		if b.decided(p, spec) == "" {
			refused++
		} else {
			bound++
		}
		if b.Failed() {
			b.FailNow()
		}
	}
	for _, ns := range []string{"a", "b"} {
		b.must(b.CoreV1().Pods(b.namespace(ns)).DeleteCollection(ctx, now, metav1.ListOptions{}))
	}
	for _, n := range nodes {
		b.must(b.CoreV1().Nodes().Delete(ctx, n, now))
	}
	return bound, refused
}

var now = metav1.DeleteOptions{GracePeriodSeconds: new(int64)}

func (b *beside) namespace(of string) string { return fmt.Sprintf("sched-%d-%s", b.seed, of) }

func (b *beside) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *beside) until(what string, ok func(context.Context) (bool, error)) {
	b.Helper()
	if err := wait.PollUntilContextTimeout(b.Context(), 10*time.Millisecond, 3*time.Minute, true, ok); err != nil {
		b.Fatalf("wait until %s: %v", what, err)
	}
}

// node makes a node with random labels, taints and resources.
func (b *beside) node(i int) string {
	name := fmt.Sprintf("sched-%d-%d", b.seed, i)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	if b.IntN(8) > 0 {
		n.Labels[corev1.LabelTopologyZone] = string(rune('a' + b.IntN(3)))
	}
	if b.IntN(2) == 0 {
		n.Labels["disk"] = []string{"ssd", "hdd"}[b.IntN(2)]
	}
	n.Labels["size"] = fmt.Sprint(b.IntN(20))
	switch b.IntN(8) {
	case 0:
		n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}}
	case 1:
		n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "w", Effect: corev1.TaintEffectPreferNoSchedule}}
	case 2:
		n.Spec.Unschedulable = true
	}
	n, err := b.CoreV1().Nodes().Create(b.Context(), n, metav1.CreateOptions{})
	b.must(err)
	amount := func(format string, of ...int) resource.Quantity {
		return resource.MustParse(fmt.Sprintf(format, of[b.IntN(len(of))]))
	}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: amount("%dm", 1000, 2000, 3920), corev1.ResourceMemory: amount("%dMi", 2048, 4096, 15000), corev1.ResourcePods: amount("%d", 4, 8, 20),
		corev1.ResourceEphemeralStorage: amount("%dGi", 5, 20), "example.com/gpu": amount("%d", 0, 2),
	}
	n.Status.Capacity = n.Status.Allocatable
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}
	patch, err := json.Marshal(map[string]any{"status": n.Status})
	b.must(err)
	_, err = b.CoreV1().Nodes().Patch(b.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	b.must(err)
	return name
}

// settle waits until kube-scheduler knows the nodes as they are, and hands them to the simulated one.
func (b *beside) settle(nodes []string) {
	b.Helper()
	for _, name := range nodes {
		b.until(name+" has only taints of its own", func(ctx context.Context) (bool, error) {
			n, err := b.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			cordoned := false
			for _, t := range n.Spec.Taints {
				if t.Key == corev1.TaintNodeNotReady {
					return false, nil
				}
				cordoned = cordoned || t.Key == corev1.TaintNodeUnschedulable
			}
			return cordoned == n.Spec.Unschedulable, nil
		})
		// A pod that comes there says that kube-scheduler has seen it as well.
		probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe-" + name, Namespace: b.namespace("a")}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "c:1"}}, NodeSelector: map[string]string{corev1.LabelHostname: name},
			Tolerations: []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}, {Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}},
		}}
		b.create(probe)
		b.until(probe.Name+" has a node", func(ctx context.Context) (bool, error) {
			p, err := b.CoreV1().Pods(probe.Namespace).Get(ctx, probe.Name, metav1.GetOptions{})
			return err == nil && p.Spec.NodeName != "", err
		})
		b.must(b.CoreV1().Pods(probe.Namespace).Delete(b.Context(), probe.Name, now))
		n, err := b.CoreV1().Nodes().Get(b.Context(), name, metav1.GetOptions{})
		b.must(err)
		b.sim.API.PutNode(name, func(own *kube.Node) { convert.NodeOfEarlierRun(own, n, clock) })
	}
}

// create creates a pod as soon as its namespace has an account.
func (b *beside) create(p *corev1.Pod) {
	b.Helper()
	b.until("pod "+p.Name+" is created", func(ctx context.Context) (bool, error) {
		_, err := b.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
		if err != nil && strings.Contains(err.Error(), "serviceaccount") {
			return false, nil
		}
		return err == nil, err
	})
}

// decided compares where a pod comes, and has the simulated cluster follow. It returns the node, or "".
func (b *beside) decided(p *corev1.Pod, spec string) string {
	b.Helper()
	b.create(p)
	real := p
	b.until("kube-scheduler has decided on "+spec, func(ctx context.Context) (bool, error) {
		var err error
		real, err = b.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(real.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }), nil
	})
	own := &kube.Pod{}
	pending := real.DeepCopy()
	pending.Spec.NodeName, pending.Status.Conditions = "", nil
	b.ts.PodFromAPI(own, pending, clock, true)
	own.Labels = own.Labels.Without(corev1.LabelTopologyZone)
	best, why := b.sim.Scheduler.Best(own)
	is := real.Spec.NodeName
	if is == "" {
		if message := real.Status.Conditions[0].Message; message != why {
			b.Errorf("seed %d, pod %s in %s of %v: %s\nkube-scheduler says\n%s\nand ours chose %v, or says\n%s\nwith %s", b.seed, p.Name, p.Namespace, p.Labels, spec, message, best, why, b.state())
		}
		b.must(b.CoreV1().Pods(p.Namespace).Delete(b.Context(), p.Name, now))
		return ""
	}
	if !slices.Contains(best, is) {
		b.Errorf("seed %d, pod %s in %s of %v: %s\nkube-scheduler chose %s, and ours %v, or says\n%s\nwith %s", b.seed, p.Name, p.Namespace, p.Labels, spec, is, best, why, b.state())
	}
	own.Phase, own.NodeName = "Running", is
	b.must(b.sim.API.CreatePod(own))
	return is
}

// state is what the simulated cluster holds.
func (b *beside) state() string {
	var out strings.Builder
	for _, n := range b.sim.API.Nodes() {
		fmt.Fprintf(&out, "\n%s %v %v %v", n.Name, n.Labels, n.Taints, n.Allocatable)
		for _, p := range b.sim.API.PodsOn(n.Name) {
			d, _ := json.Marshal(p.Template.Demands)
			fmt.Fprintf(&out, "\n  %s %s %v %+v %s", p.Namespace, p.Name, p.Labels, p.Template.Containers, d)
		}
	}
	return out.String()
}

// pod makes a random pod, and returns the spec that it was made of.
func (b *beside) pod(i int) (*corev1.Pod, string) {
	b.Helper()
	one := func(of ...string) string { return of[b.IntN(len(of))] }
	var fields []string
	add := func(odds int, format string, args ...any) {
		if b.IntN(odds) == 0 {
			fields = append(fields, fmt.Sprintf(format, args...))
		}
	}
	selector := func() string {
		return one(`{"matchLabels":{"app":"a"}}`, `{"matchLabels":{"app":"b"}}`, `{"matchExpressions":[{"key":"app","operator":"Exists"}]}`, `{}`, `{"matchExpressions":[{"key":"app","operator":"NotIn","values":["a"]}]}`)
	}
	term := func() string {
		return fmt.Sprintf(`{"topologyKey":%q,"labelSelector":%s%s}`, one(corev1.LabelHostname, corev1.LabelTopologyZone, "disk"), selector(),
			one("", "", `,"namespaceSelector":{}`, `,"namespaceSelector":{"matchLabels":{"team":"b"}}`, `,"namespaces":["`+b.namespace("b")+`"]`, `,"matchLabelKeys":["version"]`))
	}
	nodeTerm := func() string {
		return fmt.Sprintf(`{"matchExpressions":[%s]}`, one(`{"key":"disk","operator":"In","values":["ssd"]}`, `{"key":"disk","operator":"DoesNotExist"}`, `{"key":"size","operator":"Gt","values":["9"]}`,
			`{"key":"size","operator":"Lt","values":["12"]},{"key":"disk","operator":"Exists"}`, `{"key":"topology.kubernetes.io/zone","operator":"NotIn","values":["a"]}`))
	}
	requests := fmt.Sprintf(`"cpu":%q,"memory":%q`, one("100m", "500m", "900m", "3"), one("64Mi", "500Mi", "2Gi"))
	requests += one("", "", "", `,"example.com/gpu":"1"`, `,"ephemeral-storage":"4Gi"`)
	ports := ""
	if b.IntN(6) == 0 {
		ports = `,"ports":[{"containerPort":80,"hostPort":8080,"hostIP":"` + one("", "10.0.0.1") + `"}]`
	}
	limits := ""
	if strings.Contains(requests, "gpu") {
		limits = `,"limits":{"example.com/gpu":"1"}`
	}
	add(1, `"containers":[{"name":"c","image":"c:1","resources":{"requests":{%s}%s}%s}]`, requests, limits, ports)
	add(8, `"initContainers":[{"name":"i","image":"c:1","resources":{"requests":{"cpu":%q}}}]`, one("1", "2"))
	add(6, `"nodeSelector":{"disk":%q}`, one("ssd", "hdd"))
	add(4, `"tolerations":[{"key":"k","operator":%s}]`, one(`"Exists"`, `"Equal","value":"v"`))
	spread := func() string {
		return fmt.Sprintf(`{"maxSkew":%d,"topologyKey":%q,"whenUnsatisfiable":%q,"labelSelector":%s%s}`, 1+b.IntN(2), one(corev1.LabelHostname, corev1.LabelTopologyZone), "DoNotSchedule", selector(),
			one("", "", `,"minDomains":3`, `,"nodeTaintsPolicy":"Honor"`, `,"nodeAffinityPolicy":"Ignore"`, `,"matchLabelKeys":["version"]`))
	}
	add(4, `"topologySpreadConstraints":[%s]`, spread())
	if len(fields) > 0 && !strings.Contains(strings.Join(fields, ""), "topologySpread") {
		add(4, `"topologySpreadConstraints":[{"maxSkew":%d,"topologyKey":%q,"whenUnsatisfiable":"ScheduleAnyway","labelSelector":%s}]`, 1+b.IntN(3), one(corev1.LabelHostname, corev1.LabelTopologyZone), selector())
	}
	var affinity []string
	more := func(odds int, format string, args ...any) {
		if b.IntN(odds) == 0 {
			affinity = append(affinity, fmt.Sprintf(format, args...))
		}
	}
	preferred := fmt.Sprintf(`{"weight":%d,"preference":%s},{"weight":%d,"preference":%s}`, 1+b.IntN(100), nodeTerm(), 1+b.IntN(100), nodeTerm())
	switch b.IntN(6) {
	case 0:
		more(1, `"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[%s,%s]}}`, nodeTerm(), nodeTerm())
	case 1:
		more(1, `"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[%s]}`, preferred)
	}
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		switch b.IntN(7) {
		case 0:
			more(1, `%q:{"requiredDuringSchedulingIgnoredDuringExecution":[%s]}`, kind, term())
		case 1:
			more(1, `%q:{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":%d,"podAffinityTerm":%s}]}`, kind, 1+b.IntN(100), term())
		case 2:
			more(2, `%q:{"requiredDuringSchedulingIgnoredDuringExecution":[%s,%s]}`, kind, term(), term())
		}
	}
	if affinity != nil {
		add(1, `"affinity":{%s}`, strings.Join(affinity, ","))
	}
	spec := "{" + strings.Join(fields, ",") + "}"
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i), Namespace: b.namespace(one("a", "a", "b")), Labels: map[string]string{"app": one("a", "b"), "version": one("1", "2")}, UID: types.UID("")}}
	b.must(json.Unmarshal([]byte(spec), &p.Spec))
	return p, spec
}
