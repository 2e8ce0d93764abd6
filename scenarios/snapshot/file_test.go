package snapshot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

func TestMain(m *testing.M) { golden.Main(m) }

// TestFileIsRead pins the file of a small cluster as people read it.
func TestFileIsRead(t *testing.T) {
	golden.Assert(t, "shop.yaml", written(t, shop(t).file(snapshot.Options{At: read})))
}

// TestOwners: what keeps a pod is found by the objects that are there, or by the names of those that aren't.
func TestOwners(t *testing.T) {
	for name, hidden := range map[string][]string{
		"all objects":    nil,
		"no ReplicaSets": {"ReplicaSet"},
		"pods alone":     {"ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job"},
	} {
		m := newMade(t)
		for _, kind := range hidden {
			m.hidden[kind] = true
		}
		m.node("a", "workers", "eu-central-1a", nil)
		m.node("b", "workers", "eu-central-1b", nil)
		m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a", "b"}})
		m.workload(part{kind: "StatefulSet", namespace: "shop", name: "web", on: []string{"a", "b"}})
		m.workload(part{kind: "DaemonSet", namespace: "shop", name: "log", on: []string{"a", "b"}})
		m.workload(part{kind: "Job", namespace: "shop", name: "once", on: []string{"a"}})
		m.workload(part{kind: "StrimziPodSet", namespace: "shop", name: "kafka.one", on: []string{"a"}})
		m.workload(part{kind: "Pod", namespace: "shop", name: "debug", on: []string{"b"}})
		m.workload(part{kind: "Node", namespace: "kube-system", name: "kube-proxy", on: []string{"a"}})
		f := m.file(snapshot.Options{At: read})
		for ref, want := range map[string]string{
			"shop/web": "Deployment web-6d4cf56db6-x0@a web-6d4cf56db6-x1@b", "shop/web-statefulset": "StatefulSet web-statefulset-0@a web-statefulset-1@b",
			"shop/log": "DaemonSet log-x0@a log-x1@b", "shop/once": "Job once-x0@a", "shop/kafka-one": "ReplicaSet kafka.one-x0@a",
			"shop/debug": "Pod debug@b", "kube-system/kube-proxy": "DaemonSet kube-proxy-a@a",
		} {
			w := workloadOf(t, f, ref)
			got := string(w.Kind)
			for _, p := range w.Pods {
				got += " " + p.Name + "@" + p.Node
			}
			if got != want {
				t.Errorf("%s: %s: found %q, want %q", name, ref, got, want)
			}
		}
		for _, line := range []string{
			"pods that nothing keeps: 1 (shop/debug); ", "static pods, which a kubelet starts by itself: 1 (kube-system/kube-proxy); ",
			"workloads of kinds that nodesim has no model of: 1 (shop/kafka.one); ", "workloads whose name is taken or no DNS label: 2 (shop/kafka.one, shop/web); ",
		} {
			if !says(f, line) {
				t.Errorf("%s: found %q left out, want a line %q", name, f.LeftOut, line)
			}
		}
		if on := workloadOf(t, f, "kube-system/kube-proxy").PodSpec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Values; len(on) != 1 || on[0] != "a" {
			t.Errorf("%s: static pods are on %v, want a alone", name, on)
		}
	}
}

// TestWhatIsLeftOut names the things of a cluster that a file can't say, each once.
func TestWhatIsLeftOut(t *testing.T) {
	m := newMade(t)
	m.node("a", "Big_Nodes", "eu-central-1a", func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule}}
	})
	m.node("b", "Big_Nodes", "eu-central-1a", func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceMemory] = resource.MustParse("4Gi") })
	m.node("f", "", "eu-central-1a", func(n *corev1.Node) { n.Labels["eks.amazonaws.com/compute-type"] = "fargate" })
	m.node("w", "win", "eu-central-1a", func(n *corev1.Node) { n.Labels[corev1.LabelOSStable] = "windows" })
	deleted := metav1.NewTime(read)
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a", "f", "f"}, spec: corev1.PodSpec{NodeSelector: map[string]string{"eks.amazonaws.com/nodegroup": "Big_Nodes"}}})
	m.workload(part{kind: "Deployment", namespace: "shop", name: "gone", on: []string{"a", "a"}, replicas: 1, pod: func(p *corev1.Pod) {
		if p.Name == "gone-6d4cf56db6-x1" {
			p.DeletionTimestamp = &deleted
		}
	}})
	m.workload(part{kind: "ReplicaSet", namespace: "shop", name: "surplus", on: []string{"a", "b"}, replicas: 1})
	m.workload(part{kind: "StatefulSet", namespace: "shop", name: "db", on: []string{"a", "b"}, pod: claims})
	m.workload(part{kind: "DaemonSet", namespace: "shop", name: "log", on: []string{"a", ""}})
	m.workload(part{kind: "Deployment", namespace: "kube-system", name: "cluster-autoscaler", on: []string{"a"}})
	m.workload(part{kind: "Deployment", namespace: "shop", name: "wide", on: []string{"a"}, spec: corev1.PodSpec{Containers: make17()}})
	m.budget("shop", "nothing", map[string]string{"app": "nobody"}, intstr.FromInt32(1))
	f := m.file(snapshot.Options{At: read, LeftOut: []string{"can't list jobs.batch: forbidden"}})
	for _, line := range []string{
		"nodes without a machine (Fargate, virtual-kubelet): 1 (f); ", "nodes of Windows: 1 (w); ", "nodes that are being taken away already: 1 (a); ",
		"nodes with more allocatable than others of their instance type: 1 (a); ", "pods on nodes that aren't here: 2 (", "pods that are being deleted: 1 (",
		"pods of DaemonSets that wait for room on their nodes: 1 (", "workloads with more pods than replicas: 1 (shop/surplus); ",
		"pods whose claims aren't among the objects: 2 (shop/db-0, shop/db-1); ", "budgets that select no pod: 1 (shop/nothing); ",
		"autoscalers: 1 (kube-system/cluster-autoscaler); ", "can't list jobs.batch: forbidden", "workload shop/wide and its pods: podSpec.containers: 17 of them",
	} {
		if !says(f, line) {
			t.Errorf("found %q left out, want a line %q", f.LeftOut, line)
		}
	}
	web := workloadOf(t, f, "shop/web")
	if web.Replicas != 1 || len(web.Pods) != 1 || web.PodSpec.NodeSelector["eks.amazonaws.com/nodegroup"] != "big-nodes" {
		t.Errorf("found %d replicas, %d pods on %v: want one, on the group as the file calls it", web.Replicas, len(web.Pods), web.PodSpec.NodeSelector)
	}
	if db := workloadOf(t, f, "shop/db"); db.Volume == nil || f.Groups[0].Name != "big-nodes" || !f.Groups[0].Members[0].Cordoned {
		t.Errorf("found volume %v, group %s: want a disk, and big-nodes with a cordoned node", db.Volume, f.Groups[0].Name)
	}
	if memory := f.Cluster.InstanceTypes[0].Allocatable["memory"]; memory.String() != "4Gi" {
		t.Errorf("found %s of memory, want the least of the type's nodes, 4Gi", memory.String())
	}
}

func make17() (list []corev1.Container) {
	for i := range 17 {
		list = append(list, corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "a:1"})
	}
	return list
}

// TestTies: what keeps pods where they are in the cluster does so in the file, and what nobody would ever set there is left out.
func TestTies(t *testing.T) {
	m := newMade(t)
	for _, name := range []string{"a", "b"} {
		m.node(name, "workers", "eu-central-1"+name, func(n *corev1.Node) { n.Labels[corev1.LabelHostname] = name + ".example" })
	}
	m.workload(part{kind: "Deployment", namespace: "shop", name: "disk", on: []string{"b"}, pod: claims})
	m.disk("shop", "data-disk-6d4cf56db6-x0", "eu-central-1b")
	m.workload(part{kind: "Deployment", namespace: "shop", name: "regional", on: []string{"b"}, pod: claims}) // a disk that is in two zones
	m.disk("shop", "data-regional-6d4cf56db6-x0", "eu-central-1a")
	zones := m.objects[len(m.objects)-1].(*corev1.PersistentVolume).Spec.NodeAffinity.Required
	zones.NodeSelectorTerms = append(zones.NodeSelectorTerms, *zones.NodeSelectorTerms[0].DeepCopy())
	zones.NodeSelectorTerms[1].MatchExpressions[0].Values = []string{"eu-central-1b"}
	m.workload(part{kind: "StatefulSet", namespace: "shop", name: "local", on: []string{"a"}, pod: claims})
	m.disk("shop", "data-local-0", "eu-central-1a")
	on := &m.objects[len(m.objects)-1].(*corev1.PersistentVolume).Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]
	on.Key, on.Values = corev1.LabelHostname, []string{"a.example"}
	m.workload(part{kind: "StrimziPodSet", namespace: "shop", name: "kafka", on: []string{"a", "b"}, pod: func(p *corev1.Pod) {
		p.Name = "kafka-" + strings.TrimPrefix(p.Name, "kafka-x")
		claims(p)
	}})
	m.disk("shop", "data-kafka-0", "eu-central-1a")
	m.disk("shop", "data-kafka-1", "eu-central-1b")
	m.hidden["StatefulSet"] = true
	m.workload(part{kind: "StatefulSet", namespace: "shop", name: "late", on: []string{"a"}, pod: func(p *corev1.Pod) { p.Name = "late-5" }})
	m.workload(part{kind: "Deployment", namespace: "shop", name: "gated", on: []string{"a", ""}, spec: corev1.PodSpec{
		NodeSelector:   map[string]string{corev1.LabelHostname: "a.example"},
		ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "example.com/served"}}, SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/wait"}},
	}, pod: func(p *corev1.Pod) { p.Spec.SchedulerName = "another" }})
	f := m.file(snapshot.Options{At: read})
	for ref, want := range map[string]string{
		"shop/disk":  "topology.kubernetes.io/zone in [eu-central-1b]",
		"shop/local": "kubernetes.io/hostname in [a]",
		"shop/kafka": "", "shop/late": "", "shop/regional": "",
	} {
		got := ""
		if a := workloadOf(t, f, ref).PodSpec.Affinity; a != nil {
			for _, e := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions {
				got += fmt.Sprintf("%s in %v", e.Key, e.Values)
			}
		}
		if got != want {
			t.Errorf("%s: found the node affinity %q, want %q", ref, got, want)
		}
	}
	if kafka := workloadOf(t, f, "shop/kafka"); kafka.Kind != spec.KindStatefulSet || kafka.Volume == nil || kafka.Pods[1].Name != "kafka-1" {
		t.Errorf("found kafka as a %s with %+v: want a StatefulSet with disks", kafka.Kind, kafka.Pods)
	}
	if late := workloadOf(t, f, "shop/late"); late.Pods[0].Name != "late-0" {
		t.Errorf("found the pod %s, want it numbered from 0", late.Pods[0].Name)
	}
	if own := workloadOf(t, f, "shop/gated").PodSpec; own.ReadinessGates != nil || own.SchedulingGates != nil || own.SchedulerName != "" || own.NodeSelector[corev1.LabelHostname] != "a" {
		t.Errorf("found %+v: want no gates and no scheduler that a simulation doesn't have, on node a", own)
	}
	for _, line := range []string{
		"pods with a volume of one node alone: 1 (shop/local-0); ", "StatefulSets whose pods aren't numbered from 0 on: 1 (shop/late); ",
		"workloads with readiness gates: 1 ", "workloads with a scheduler of their own: 1 ", "workloads with scheduling gates that somebody removes: 1 ",
	} {
		if !says(f, line) {
			t.Errorf("found %q left out, want a line %q", f.LeftOut, line)
		}
	}
}

// TestARollThatHasBegun: nodes of the newest kubelet in a group are what its other nodes become, however many there are of each.
func TestARollThatHasBegun(t *testing.T) {
	for updated := 1; updated < 4; updated++ {
		m := newMade(t)
		for i, name := range []string{"a", "b", "c", "d"} {
			m.node(name, "workers", "eu-central-1a", func(n *corev1.Node) {
				if i < updated {
					n.Status.NodeInfo.KubeletVersion = "v1.34.10-eks-ecaa3a6"
					n.Labels["eks.amazonaws.com/nodegroup-image"] = "ami-00000000000000010"
				}
			})
		}
		g := m.file(snapshot.Options{At: read}).Groups[0]
		if g.To.Version != "v1.34.10-eks-ecaa3a6" || g.To.Image != "ami-00000000000000010" || g.From.Version != "v1.34.2-eks-ecaa3a6" || g.From.Image != "ami-0a1b2c3d4e5f60718" {
			t.Errorf("%d of 4 are updated: found from %+v to %+v", updated, g.From, g.To)
		}
		for i := range g.Members {
			if got := g.Updated(&g.Members[i]); got != (i < updated) {
				t.Errorf("%d of 4 are updated: found %s updated: %v", updated, g.Members[i].Name, got)
			}
		}
	}
}

// TestPseudonyms: names are others, the same each time with the same key, and what refers to each other still does.
func TestPseudonyms(t *testing.T) {
	own := []string{"shop", "batch", "web", "name: db", "train", "ip-10-0", "workers", "team", "payments", "ami-0a1b2c3d4e5f60718", "prod", "fpga", "2.0.0"}
	plain := shop(t).file(snapshot.Options{At: read})
	text := written(t, shop(t).file(snapshot.Options{At: read, Key: []byte("one key")}))
	for _, name := range own {
		if strings.Contains(text, name) {
			t.Errorf("found %q in\n%s", name, text)
		}
	}
	if again := written(t, shop(t).file(snapshot.Options{At: read, Key: []byte("one key")})); again != text {
		t.Error("found another text with the same key")
	}
	if other := written(t, shop(t).file(snapshot.Options{At: read, Key: []byte("another key")})); other == text {
		t.Error("found the same text with another key")
	}
	hidden := parsed(t, text)
	if hidden.Nodes() != plain.Nodes() || len(hidden.Workloads) != len(plain.Workloads) || len(hidden.Budgets) != len(plain.Budgets) {
		t.Errorf("found %d nodes, %d workloads, %d budgets: want as many as without pseudonyms", hidden.Nodes(), len(hidden.Workloads), len(hidden.Budgets))
	}
	for i := range hidden.Budgets {
		selector, err := metav1.LabelSelectorAsSelector(&hidden.Budgets[i].Selector.LabelSelector)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(hidden.Workloads, func(w spec.Workload) bool {
			return w.Namespace == hidden.Budgets[i].Namespace && selector.Matches(labels.Set(w.PodLabels))
		}) {
			t.Errorf("budget %s selects nothing: found the selector %s", hidden.Budgets[i].Name, selector)
		}
	}
	for _, kept := range []string{"kube-system", "aws-node", "nvidia.com/gpu", "node-role.kubernetes.io/gpu", "eu-central-1a", "m5.large", "registry.example/img-", "cpu: 250m"} {
		if !strings.Contains(text, kept) {
			t.Errorf("found no %q in\n%s", kept, text)
		}
	}
}

// TestCanaries: nothing that isn't decoded is in a file, and credentials in names of images are masked.
func TestCanaries(t *testing.T) {
	m := shop(t)
	m.workload(part{kind: "Deployment", namespace: "shop", name: "canary", on: []string{"ip-10-0-1-10"}, pod: func(p *corev1.Pod) {
		p.Annotations = map[string]string{"example.com/password": "hunter2", "kubectl.kubernetes.io/last-applied-configuration": "hunter2"}
		p.Spec.Hostname, p.Spec.Subdomain, p.Spec.ServiceAccountName = "hunter2", "hunter2", "hunter2"
		p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "hunter2"}}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "hunter2", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "hunter2"}}})
		c := &p.Spec.Containers[0]
		c.Image, c.WorkingDir, c.Args = "user:hunter2@registry.example/web:1", "hunter2", []string{"hunter2"}
		c.Env = []corev1.EnvVar{{Name: "hunter2", Value: "hunter2"}}
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"hunter2"}}}}
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "hunter2"}}}
		p.Status.Message = "hunter2"
	}})
	m.node("ip-10-0-1-99", "workers", "eu-central-1a", func(n *corev1.Node) { n.Annotations = map[string]string{"example.com/password": "hunter2"} })
	if text := written(t, m.file(snapshot.Options{At: read})); strings.Contains(text, "hunter2") {
		t.Errorf("found a canary in\n%s", text)
	}
}

// TestNamesAreOnce: however many workloads are alike in their names, each has one of its own, and each time the same.
func TestNamesAreOnce(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", nil)
	long := strings.Repeat("x", 63)
	for _, name := range []string{"w-eb", "w.eb", "web", long, long + "y", long + "z"} {
		m.workload(part{kind: "Pod", namespace: "shop", name: name, on: []string{"a"}, labels: map[string]string{"app": "x"}})
	}
	f := m.file(snapshot.Options{At: read})
	seen := map[string]bool{}
	for i := range f.Workloads {
		seen[f.Workloads[i].Name] = true
	}
	for _, want := range []string{"web", "w-eb", "w-eb-pod", long, long[:59] + "-pod", long[:57] + "-pod-2"} {
		if !seen[want] {
			t.Errorf("found the names %v, want %s; left out: %q", seen, want, f.LeftOut)
		}
	}
}

// TestBounds: what no scenario can hold is refused on one line.
func TestBounds(t *testing.T) {
	var r snapshot.Reading
	var err error
	for i := 0; err == nil && i <= spec.MaxNodes+1; i++ {
		err = r.Add("v1", "Node", fmt.Appendf(nil, `{"metadata":{"name":"n%d"}}`, i))
	}
	if err == nil || !strings.HasPrefix(err.Error(), "found more than 100000 nodes: want at most as many") {
		t.Errorf("found error %v, want one line about the nodes", err)
	}
	if _, err := new(snapshot.Reading).File(snapshot.Options{}); err == nil || !strings.HasPrefix(err.Error(), "found no nodes: ") {
		t.Errorf("found error %v of an empty cluster", err)
	}
}

// A roll of EKS brings up two nodes for each zone of its group, and a group may have zones that nobody sees: it has none that has two nodes
// in one of its zones.
func TestZonesWithoutANode(t *testing.T) {
	for zones, hidden := range map[string]bool{"a": true, "ab": true, "abc": true, "aab": false, "abcb": false} {
		m := newMade(t)
		for i, zone := range zones {
			m.node(string(rune('a'+i)), "workers", "eu-central-1"+string(zone), nil)
		}
		said := strings.Join(m.file(snapshot.Options{Name: "prod"}).LeftOut, "\n")
		if strings.Contains(said, "node groups with one node in each zone that they are seen in: 1 (workers); ") != hidden {
			t.Errorf("nodes in the zones %s: it says %q, want zones without a node named: %t", zones, said, hidden)
		}
	}
}
