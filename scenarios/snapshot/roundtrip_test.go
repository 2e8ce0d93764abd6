package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// random is a cluster that a seed draws: pods of every kind of workload, with some of what a pod may ask for.
func random(t *testing.T, seed uint64) *made {
	r := rand.New(rand.NewPCG(seed, 14))
	m := newMade(t)
	if r.IntN(3) == 0 {
		m.hidden["ReplicaSet"], m.hidden["Deployment"], m.hidden["StatefulSet"] = true, r.IntN(2) == 0, r.IntN(2) == 0
	}
	zones := []string{"eu-central-1a", "eu-central-1b", "eu-central-1c"}
	var nodes []string
	for i := range 1 + r.IntN(8) {
		name := fmt.Sprintf("ip-10-0-0-%d.eu-central-1.compute.internal", i)
		nodes = append(nodes, name)
		m.node(name, []string{"workers", "gpu", "Big_Nodes", ""}[r.IntN(4)], zones[r.IntN(3)], func(n *corev1.Node) {
			n.Spec.Unschedulable = r.IntN(4) == 0
			if r.IntN(3) == 0 {
				n.Labels["example.com/team"] = []string{"true", "007", "payments", ""}[r.IntN(4)]
			}
			if r.IntN(3) == 0 {
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule})
			}
			n.Status.NodeInfo.KubeletVersion = []string{"v1.34.2-eks-ecaa3a6", "v1.33.5-eks-1", "v1.20.0"}[r.IntN(3)]
			n.Labels[corev1.LabelInstanceTypeStable] = []string{"m5.large", "x9.huge", "strange type!", ""}[r.IntN(4)]
		})
	}
	pick := func() string { return append(nodes, "")[r.IntN(len(nodes)+1)] }
	for i := range r.IntN(8) {
		p := part{kind: []string{"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "Pod", "Node", "StrimziPodSet"}[r.IntN(8)], namespace: []string{"shop", "kube-system"}[r.IntN(2)], name: fmt.Sprintf("w%d.x", i)}
		switch p.kind {
		case "DaemonSet", "Node":
			p.on = nodes
		case "Pod":
			p.on = []string{pick()}
		default:
			for range r.IntN(5) {
				p.on = append(p.on, pick())
			}
		}
		if p.kind == "StatefulSet" && r.IntN(2) == 0 {
			p.pod = claims
			for k := range p.on {
				m.disk(p.namespace, fmt.Sprintf("data-%s-%d", p.name, k), append(zones, "")[r.IntN(4)])
			}
		}
		p.spec = randomSpec(r)
		m.workload(p)
		if r.IntN(2) == 0 {
			m.budget(p.namespace, p.name, map[string]string{"app": p.name}, []intstr.IntOrString{intstr.FromInt32(1), intstr.FromString("50%")}[r.IntN(2)])
		}
	}
	return m
}

func randomSpec(r *rand.Rand) (s corev1.PodSpec) {
	selector := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "In", Values: []string{"w1.x", "null"}}}}
	grace, priority := int64(r.IntN(3600)), int32(r.IntN(1000))
	for _, change := range []func(){
		func() { s.NodeSelector = map[string]string{"example.com/team": "007"} },
		func() { s.TerminationGracePeriodSeconds = &grace },
		func() { s.Priority, s.PriorityClassName = &priority, "high" },
		func() { s.HostNetwork = true },
		func() {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}}
		},
		func() {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 7, PodAffinityTerm: corev1.PodAffinityTerm{LabelSelector: selector, TopologyKey: corev1.LabelHostname, Namespaces: []string{"shop"}}},
			}}}
		},
		func() {
			s.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: "Equal", Value: "gpu", Effect: "NoSchedule"}}
		},
		func() {
			s.Containers = []corev1.Container{
				{Name: "a", Image: "user:hunter2@registry.example/a:1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1e0"), "memory": resource.MustParse("1.5Gi")}}},
				{Name: "b", Image: "b+c", Ports: []corev1.ContainerPort{{ContainerPort: 53, HostPort: 53, Protocol: "UDP", HostIP: "10.1.2.3"}}},
			}
			always := corev1.ContainerRestartPolicyAlways
			s.InitContainers = []corev1.Container{{Name: "sidecar", Image: "c:1", RestartPolicy: &always}}
		},
	} {
		if r.IntN(3) == 0 {
			change()
		}
	}
	return s
}

// TestWrittenFilesReadTheSame: what is written reads as the same file, and is written as the same text.
func TestWrittenFilesReadTheSame(t *testing.T) {
	for seed := range uint64(150) {
		o := snapshot.Options{At: read}
		if seed%3 == 0 {
			o.Key = []byte("a key")
		}
		f := random(t, seed).file(o)
		text := written(t, f)
		again := parsed(t, text)
		if differ := cmp.Diff(f, again, cmpopts.EquateEmpty()); differ != "" {
			t.Fatalf("seed %d: the file reads otherwise (-want +got):\n%s\nof\n%s", seed, differ, text)
		}
		if next := written(t, again); next != text {
			t.Fatalf("seed %d: written again it is\n%s\nwant\n%s", seed, next, text)
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("seed %d: found a credential in\n%s", seed, text)
		}
	}
}

func parsed(t *testing.T, text string) *spec.File {
	t.Helper()
	doc, err := spec.Parse("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, err := doc.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestShippedScenariosReadTheSame: files with rolls, faults and timings are written as well.
func TestShippedScenariosReadTheSame(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Document == nil {
			continue // the demo has no file
		}
		f, err := s.Document.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := written(t, &f.File)
		again := parsed(t, text)
		f.Parameters, f.Settings = nil, nil
		if differ := cmp.Diff(&f.File, again, cmpopts.EquateEmpty()); differ != "" {
			t.Errorf("%s: the file reads otherwise (-want +got):\n%s\nof\n%s", s.Name, differ, text)
		}
	}
}

// TestPodsAreWhereTheyWere: a simulation of the file begins with the cluster that was read.
func TestPodsAreWhereTheyWere(t *testing.T) {
	for seed := range uint64(20) {
		f := &scenarios.File{File: *random(t, seed).file(snapshot.Options{At: read})}
		at := map[string]string{}
		sim, err := f.Simulate(func(ev timeline.Event) error {
			if ev.At == 0 && ev.Type == timeline.Added && ev.Resource == "pods" {
				at[ev.Namespace+"/"+ev.Name] = nodeOf(ev.Object)
			}
			return nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		sim.Close()
		for i := range f.Workloads {
			w := &f.Workloads[i]
			for _, p := range w.Pods {
				if node, there := at[w.Namespace+"/"+p.Name]; !there || p.Node != "" && node != p.Node {
					t.Errorf("seed %d: pod %s/%s: found it on %q (%v), want %q", seed, w.Namespace, p.Name, node, there, p.Node)
				}
			}
		}
	}
}

// A setting of a roll that is zero, where its strategy's default isn't, is said.
func TestZeroSettingsOfARoll(t *testing.T) {
	f, err := spec.Bare(spec.Metadata{Name: "zero", Title: "zero"}, spec.Cluster{Provider: spec.ProviderEKS}, []spec.Group{{Name: "workers", Nodes: 2}})
	if err != nil {
		t.Fatal(err)
	}
	roll := spec.Roll{Groups: []string{"workers"}, OnFailure: spec.OnFailureLeave, At: 30 * time.Second}.By(spec.StrategyEKSDefault)
	roll.SettleAfterDrain = 0
	f.Roll = &roll
	var b strings.Builder
	if err := snapshot.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "settleAfterDrain: 0s") || strings.Contains(text, "joinTimeout") || strings.Contains(text, "maxSurge") {
		t.Errorf("found %s: want settleAfterDrain: 0s, and no other setting", text)
	}
}
