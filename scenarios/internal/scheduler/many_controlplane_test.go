//go:build controlplane

package scheduler_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	manyNodes = 300
	// manyGPUs is how many of them have a GPU: the large ones of zone b.
	manyGPUs = 45
	// kubeCompares is how many feasible nodes kube-scheduler looks for among so many, 48 % (numFeasibleNodesToFind of
	// pkg/scheduler/schedule_one.go).
	kubeCompares = manyNodes * (50 - manyNodes/125) / 100
	// weCompare is how many the simulated scheduler looks for: enough of find.go, which says why it isn't as many.
	weCompare = 100
	// manySlack is ten pods that are elsewhere: each counts twice.
	manySlack = 20
)

// TestComparesAShareOfManyNodes: above 100 nodes kube-scheduler compares a share of them, and begins where its last search has ended
// (nextStartNodeIndex of pkg/scheduler/schedule_one.go). The simulated scheduler compares fewer, and of each group of like nodes its
// part. Each follows its own choices. Both find a node for the same pods, and look for as many feasible ones as they say: for all, where
// there are few. Two runs never place pods alike; a simulated one may be as far from one of kube-scheduler as twice the most that two of
// these are apart, and manySlack.
func TestComparesAShareOfManyNodes(t *testing.T) {
	judge := startJudge(t)
	var theirs, ours [][2]map[string]int
	for seed := range uint64(4) {
		w := many(seed)
		verdicts, err := judge.of(w)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s, left := simulate(t, w), manyGPUs
		var kube, own []string
		for i := range verdicts {
			v, p, fit := &verdicts[i], s.pod(&w.Waiting[i]), kubeCompares
			if w.Waiting[i].Labels["app"] == "gpu" {
				fit, left = left, max(left-1, 0)
			}
			node, compared := s.Scheduler.Choose(p)
			if (node == "") != (v.Node == "") {
				t.Fatalf("seed %d, pod %s comes to the node %q, want %q: %s", seed, p.Name, node, v.Node, v.Message)
			}
			if v.Found != fit || compared != min(fit, weCompare) {
				t.Fatalf("seed %d, pod %s: kube-scheduler compares %d nodes and the simulated one %d, want %d and %d", seed, p.Name, v.Found, compared, fit, min(fit, weCompare))
			}
			if err := s.follow(p, &verdict{Node: node}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			kube, own = append(kube, v.Node), append(own, node)
		}
		theirs, ours = append(theirs, w.shares(kube)), append(ours, w.shares(own))
	}
	for view, what := range [2]string{"pods by kind, zone and shape", "pods by node, sorted in each zone and shape"} {
		varies, differs := 0, 0
		for i := range theirs {
			for j := range theirs {
				varies = max(varies, apart(theirs[i][view], theirs[j][view]))
				differs = max(differs, apart(ours[i][view], theirs[j][view]))
			}
		}
		t.Logf("%s: two runs of kube-scheduler differ by up to %d, and a simulated one from one of these by up to %d", what, varies, differs)
		if differs > 2*varies+manySlack {
			t.Errorf("%s: the simulated scheduler differs from kube-scheduler by %d, want at most twice %d, by which kube-scheduler's runs differ, and %d", what, differs, varies, manySlack)
		}
	}
}

// many makes a cluster of three zones and two shapes in which 400 pods of four kinds wait. The seed orders the pods, and the nodes by
// their names: so the fake clientset lists them (filterByNamespace of k8s.io/client-go/testing/fixture.go). Five pods find no GPU.
func many(seed uint64) *world {
	r, yes := rand.New(rand.NewPCG(seed, 36)), true
	w := &world{Free: true, Namespaces: []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "namespace-a", Labels: map[string]string{corev1.LabelMetadataName: "a"}}}}}
	for i, at := range r.Perm(manyNodes) {
		name, zone, shape, cpu, memory := fmt.Sprintf("n%03d", i), "a", "small", "3920m", "15000Mi"
		switch {
		case at >= 240:
			zone = "c"
		case at >= 150:
			zone = "b"
		}
		if at%2 == 0 {
			shape, cpu, memory = "large", "7910m", "31000Mi"
		}
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{hostKey: name, zoneKey: zone, "shape": shape}}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourcePods: resource.MustParse("110")}
		if zone == "b" && shape == "large" {
			n.Status.Allocatable[gpu] = resource.MustParse("1")
		}
		n.Status.Capacity = n.Status.Allocatable
		w.Nodes = append(w.Nodes, n)
	}
	for _, kind := range []struct {
		app, cpu, memory string
		pods             int
		owned            bool // by a ReplicaSet: spread over hosts and zones by default
		on               map[string]string
	}{
		{app: "web", cpu: "1", memory: "2Gi", pods: 150, owned: true},
		{app: "store", cpu: "1500m", memory: "4Gi", pods: 100, owned: true, on: map[string]string{"shape": "large"}},
		{app: "batch", cpu: "500m", memory: "2Gi", pods: 100},
		{app: "gpu", cpu: "500m", memory: "1Gi", pods: manyGPUs + 5},
	} {
		labels := map[string]string{"app": kind.app}
		c := corev1.Container{Name: "c", Image: "registry.example/absent:1"}
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(kind.cpu), corev1.ResourceMemory: resource.MustParse(kind.memory)}
		if kind.app == "gpu" {
			c.Resources.Requests[gpu] = resource.MustParse("1")
			c.Resources.Limits = corev1.ResourceList{gpu: c.Resources.Requests[gpu]}
		}
		var owners []metav1.OwnerReference
		if kind.owned {
			rs := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: kind.app, UID: types.UID("rs-" + kind.app)}}
			rs.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
			w.ReplicaSets = append(w.ReplicaSets, rs)
			owners = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: rs.Name, UID: rs.UID, Controller: &yes}}
		}
		for i := range kind.pods {
			name := fmt.Sprint(kind.app, "-", i)
			w.Waiting = append(w.Waiting, corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID("uid-" + name), Labels: labels, OwnerReferences: owners},
				Spec:       corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, RestartPolicy: corev1.RestartPolicyAlways, NodeSelector: kind.on, Containers: []corev1.Container{c}},
				Status:     corev1.PodStatus{Phase: corev1.PodPending},
			})
		}
	}
	r.Shuffle(len(w.Waiting), func(i, j int) { w.Waiting[i], w.Waiting[j] = w.Waiting[j], w.Waiting[i] })
	return w
}

// shares are where the pods that wait have come, node by node: how many of a kind to each zone and shape, and how many to each node of
// these, the emptiest first.
func (w *world) shares(nodes []string) (views [2]map[string]int) {
	views = [2]map[string]int{{}, {}}
	parts, on, sorted := map[string]string{}, map[string]int{}, map[string][]int{}
	for i := range w.Nodes {
		parts[w.Nodes[i].Name] = w.Nodes[i].Labels[zoneKey] + " " + w.Nodes[i].Labels["shape"]
	}
	for i, node := range nodes {
		if node != "" {
			on[node]++
			views[0][w.Waiting[i].Labels["app"]+" "+parts[node]]++
		}
	}
	for node, part := range parts {
		sorted[part] = append(sorted[part], on[node])
	}
	for part, pods := range sorted {
		slices.Sort(pods)
		for rank, n := range pods {
			views[1][fmt.Sprint(part, " ", rank)] = n
		}
	}
	return views
}

// apart is the sum of the differences between two counts.
func apart(a, b map[string]int) (sum int) {
	all := maps.Clone(a)
	for key, n := range b {
		all[key] -= n
	}
	for _, n := range all {
		sum += max(n, -n)
	}
	return sum
}
