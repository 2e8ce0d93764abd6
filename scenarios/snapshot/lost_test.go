package snapshot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// TestPodsThatComeBack: a StatefulSet's pod that is being deleted is one of its replicas where nothing else says how many there are.
func TestPodsThatComeBack(t *testing.T) {
	deleted := metav1.NewTime(read)
	for _, c := range []struct {
		kind, name     string
		hidden         bool
		replicas, pods int
		waits          string
	}{
		{"StatefulSet", "db", true, 3, 3, "db-1"},
		{"StatefulSet", "db", false, 3, 2, ""},
		{"StrimziPodSet", "db", true, 3, 3, "db-1"},
		{"Deployment", "db", true, 2, 2, ""},
	} {
		m := newMade(t)
		m.hidden[c.kind], m.hidden["ReplicaSet"] = c.hidden, c.hidden
		m.node("a", "workers", "eu-central-1a", nil)
		m.node("b", "workers", "eu-central-1b", nil)
		m.workload(part{kind: c.kind, namespace: "shop", name: c.name, on: []string{"a", "b", "a"}, replicas: 3, pod: func(p *corev1.Pod) {
			if c.kind == "StrimziPodSet" {
				p.Name = strings.Replace(p.Name, "-x", "-", 1)
			}
			if strings.HasSuffix(p.Name, "1") {
				p.DeletionTimestamp = &deleted
			}
			claims(p)
		}})
		f := m.file(snapshot.Options{At: read})
		w := workloadOf(t, f, "shop/db")
		if w.Replicas != c.replicas || len(w.Pods) != c.pods {
			t.Errorf("%s, hidden %v: found %d replicas and %d pods, want %d and %d", c.kind, c.hidden, w.Replicas, len(w.Pods), c.replicas, c.pods)
		}
		for _, p := range w.Pods {
			if waits := p.Node == ""; waits != (p.Name == c.waits) || waits && p.Zone != "eu-central-1b" {
				t.Errorf("%s, hidden %v: found the pod %+v, want %q to wait in the zone of its disk", c.kind, c.hidden, p, c.waits)
			}
		}
		if begins := "pods that are being deleted, of StatefulSets that aren't among the objects: 1 (shop/db-1); "; says(f, begins) != (c.waits != "") {
			t.Errorf("%s, hidden %v: found %q left out", c.kind, c.hidden, f.LeftOut)
		}
	}
}

// TestADeletedPodOfANodeThatIsntHere doesn't come back here.
func TestADeletedPodOfANodeThatIsntHere(t *testing.T) {
	m := newMade(t)
	m.hidden["StatefulSet"] = true
	m.node("a", "workers", "eu-central-1a", nil)
	m.node("w", "windows", "eu-central-1a", func(n *corev1.Node) { n.Labels[corev1.LabelOSStable] = "windows" })
	m.workload(part{kind: "StatefulSet", namespace: "shop", name: "db", on: []string{"a", "w"}, replicas: 2, pod: func(p *corev1.Pod) {
		if p.Spec.NodeName == "w" {
			deleted := metav1.NewTime(read)
			p.DeletionTimestamp = &deleted
		}
	}})
	f := m.file(snapshot.Options{At: read})
	if w := workloadOf(t, f, "shop/db"); len(w.Pods) != 1 || w.Pods[0].Node != "a" || !says(f, "pods that are being deleted: 1 (shop/db-1); they aren't here") {
		t.Errorf("found the pods %+v and %q left out, want the pod of a alone", w.Pods, f.LeftOut)
	}
}

// byName is a node affinity to a node by its name, and to a label.
func byName(node string) *corev1.Affinity {
	fields := []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: fields, MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}},
		}}},
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchFields: fields}}},
	}}
}

// TestAffinityToANodeByItsName: it stays, but for a DaemonSet's pods, whose controller sets it; and no pseudonym is left out.
func TestAffinityToANodeByItsName(t *testing.T) {
	m := newMade(t)
	m.node("secret-1", "workers", "eu-central-1a", func(n *corev1.Node) {
		n.Labels["node-role.kubernetes.io/secret"], n.Labels["node-role.kubernetes.io/infra"] = "", ""
	})
	m.node("secret-2", "workers", "eu-central-1a", func(n *corev1.Node) {
		n.Labels["eks.amazonaws.com/nodegroup-image"], n.CreationTimestamp = "ami-secret", metav1.NewTime(read)
	})
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"secret-1"}, spec: corev1.PodSpec{
		Affinity: byName("secret-1"), NodeSelector: map[string]string{"node-role.kubernetes.io/secret": "", "node-role.kubernetes.io/infra": ""},
	}})
	m.workload(part{kind: "DaemonSet", namespace: "shop", name: "log", on: []string{"secret-1", "secret-2"}})
	m.workload(part{kind: "StatefulSet", namespace: "shop", name: "db", on: []string{"secret-1"}})
	m.workload(part{kind: "NodeAgent", namespace: "shop", name: "agent", on: []string{"secret-1", "secret-2"}, pod: func(p *corev1.Pod) {
		p.Spec.Affinity = byName(p.Spec.NodeName)
		p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions = nil
		p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}})
	m.budget("shop", "db", map[string]string{"statefulset.kubernetes.io/pod-name": "db-0"}, intstr.FromInt32(1))
	f := m.file(snapshot.Options{At: read})
	terms := workloadOf(t, f, "shop/web").PodSpec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 || len(terms[0].MatchFields) != 1 || terms[0].MatchFields[0].Values[0] != "secret-1" || len(terms[0].MatchExpressions) != 1 {
		t.Errorf("found the terms %+v, want the node's name and its label", terms)
	}
	for _, ref := range []string{"shop/log", "shop/agent"} {
		if a := workloadOf(t, f, ref).PodSpec.Affinity; a != nil && a.NodeAffinity != nil {
			t.Errorf("%s: found the affinity %+v, want none, which a controller has set", ref, a)
		}
	}
	if !says(f, "workloads of kinds that nodesim has no model of, whose pods are bound to a node each: 1 (shop/agent); ") {
		t.Errorf("found %q left out", f.LeftOut)
	}
	hidden := m.file(snapshot.Options{At: read, Key: []byte("a key")})
	text := written(t, hidden)
	if strings.Contains(text, "secret") || !strings.Contains(text, "node-role.kubernetes.io/infra") || !strings.Contains(text, "node-role.kubernetes.io/key-") {
		t.Errorf("found a name, or no role, in\n%s", text)
	}
	own := hidden.Budgets[0].Selector.MatchLabels["statefulset.kubernetes.io/pod-name"]
	for i := range hidden.Workloads {
		if w := &hidden.Workloads[i]; w.Kind == spec.KindStatefulSet && w.Pods[0].Name != own {
			t.Errorf("found a budget for the pod %s, want %s", own, w.Pods[0].Name)
		}
	}
}

// TestARollToAnotherImageThatHasBegun: where nodes of one kubelet have two images, the younger nodes are updated.
func TestARollToAnotherImageThatHasBegun(t *testing.T) {
	const older, newer = "ami-00000000000000001", "ami-00000000000000002"
	for name, c := range map[string]struct {
		ages    [4]time.Duration
		updated int
	}{
		"half of it":     {[4]time.Duration{time.Hour, 2 * time.Hour, 48 * time.Hour, 49 * time.Hour}, 2},
		"ages that tell": {[4]time.Duration{time.Hour, 60 * time.Hour, 48 * time.Hour, 49 * time.Hour}, 0},
		"the same age":   {[4]time.Duration{time.Hour, time.Hour, time.Hour, time.Hour}, 0},
	} {
		m := newMade(t)
		for i, node := range []string{"a", "b", "c", "d"} {
			m.node(node, "workers", "eu-central-1a", func(n *corev1.Node) {
				n.CreationTimestamp, n.Labels["eks.amazonaws.com/nodegroup-image"] = metav1.NewTime(read.Add(-c.ages[i])), older
				if i < 2 {
					n.Labels["eks.amazonaws.com/nodegroup-image"] = newer
				}
			})
		}
		f := m.file(snapshot.Options{At: read})
		g := &f.Groups[0]
		for i := range g.Members {
			if got := g.Updated(&g.Members[i]); got != (i < c.updated) {
				t.Errorf("%s: found %s updated: %v", name, g.Members[i].Name, got)
			}
		}
		begun, unclear := "nodes that a roll which has begun has updated: 2 (a, b); ", "node groups with several images: 1 (workers); nobody can tell"
		if says(f, begun) != (c.updated > 0) || says(f, unclear) != (c.updated == 0) {
			t.Errorf("%s: found %q left out", name, f.LeftOut)
		}
		if c.updated == 0 {
			continue
		}
		if g.From.Image != older || g.To.Image != newer || g.To.Version != g.From.Version {
			t.Errorf("%s: found from %+v to %+v", name, g.From, g.To)
		}
		again := parsed(t, written(t, f))
		for ref, want := range imagesAtFirst(t, again) {
			if is := map[string]string{"a": newer, "b": newer, "c": older, "d": older}[ref]; is != want {
				t.Errorf("%s: the simulation begins with %s of %s, want %s", name, want, ref, is)
			}
		}
	}
}

// imagesAtFirst are the images of the nodes with which a file's simulation begins.
func imagesAtFirst(t *testing.T, f *spec.File) map[string]string {
	t.Helper()
	images := map[string]string{}
	_, objects := begun(t, &scenarios.File{File: *f})
	for _, ev := range objects {
		if ev.Resource == "nodes" {
			images[ev.Name] = rawjson.Text(ev.Object, "metadata", "labels", "eks.amazonaws.com/nodegroup-image")
		}
	}
	if len(images) != f.Nodes() {
		t.Errorf("found %d nodes at the beginning, want %d", len(images), f.Nodes())
	}
	return images
}

// TestKindsThatNoFileHas are named with what they would do.
func TestKindsThatNoFileHas(t *testing.T) {
	objects := []string{
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}`,
		`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"web"}}`,
		`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"p"}}`,
		`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q"}}`,
		`{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"gp3"}}`,
		`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":1000}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop","name":"web"},"spec":{"template":{"spec":{"priorityClassName":"high","containers":[{"name":"a"}]}}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop","name":"low"},"spec":{"template":{"spec":{"priorityClassName":"low","containers":[{"name":"a"}]}}}}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}`,
		`{"apiVersion":"example.com/v1","kind":"Payment","metadata":{"name":"web"}}`,
		`{"apiVersion":"v1","kind":"Event","metadata":{"name":"web"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop"},"spec":{"nodeName":"a"}}`,
	}
	file := func(key string) *spec.File {
		var r snapshot.Reading
		for _, text := range objects {
			var is metav1.TypeMeta
			if err := json.Unmarshal([]byte(text), &is); err != nil {
				t.Fatal(err)
			}
			if err := r.Add(is.APIVersion, is.Kind, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := r.File(snapshot.Options{At: read, Key: []byte(key)})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := file("")
	for _, line := range []string{
		"objects of the kind HorizontalPodAutoscaler: 1; ", "objects of the kind NodePool: 1; ", "objects of the kind ResourceQuota: 1; ",
		"objects of the kind StorageClass: 1; ", "objects of other kinds: 2 (Payment 1, Service 1); ", "objects without a name: 1 (Pod 1); ",
		"workloads whose PriorityClass isn't among the objects: 1 (shop/low); ",
	} {
		if !says(f, line) {
			t.Errorf("found %q left out, want a line %q", f.LeftOut, line)
		}
	}
	if p := workloadOf(t, f, "shop/web").PodSpec.Priority; p == nil || *p != 1000 {
		t.Errorf("found the priority %v, want that of the PriorityClass", p)
	}
	if hidden := file("a key"); !says(hidden, "objects of other kinds: 2; ") {
		t.Errorf("found %q left out, want the kinds of the user's own unnamed", hidden.LeftOut)
	}
}

// TestANodeThatReportsNothing says nothing of its type.
func TestANodeThatReportsNothing(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", func(n *corev1.Node) { n.Status.Allocatable, n.Status.Capacity = nil, nil })
	m.node("b", "workers", "eu-central-1a", nil)
	f := m.file(snapshot.Options{At: read})
	cpu := f.Cluster.InstanceTypes[0].Allocatable["cpu"]
	if cpu.Cmp(resource.MustParse("1930m")) != 0 || !says(f, "nodes that report nothing allocatable: 1 (a); ") {
		t.Errorf("found %s of CPU and %q left out, want what b reports, and a named", cpu.String(), f.LeftOut)
	}
	alone := newMade(t)
	alone.node("a", "workers", "eu-central-1a", func(n *corev1.Node) { n.Status.Allocatable = nil })
	f = alone.file(snapshot.Options{At: read})
	if !says(f, "nodes that report nothing allocatable, nor does any of their instance type: 1 (a); they have here what nodesim knows of the type") {
		t.Errorf("found %q left out, want that no node of the type reports anything", f.LeftOut)
	}
}

// TestBudgetsOfOnePod: labels that controllers give pods select them.
func TestBudgetsOfOnePod(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", nil)
	m.workload(part{kind: "StatefulSet", namespace: "shop", name: "db", on: []string{"a"}, pod: func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "db", "statefulset.kubernetes.io/pod-name": p.Name, "controller-revision-hash": "db-1"}
	}})
	m.budget("shop", "first", map[string]string{"statefulset.kubernetes.io/pod-name": "db-0"}, intstr.FromInt32(1))
	m.budget("shop", "ninth", map[string]string{"statefulset.kubernetes.io/pod-name": "db-8"}, intstr.FromInt32(1))
	m.budget("shop", "hash", map[string]string{"controller-revision-hash": "db-1"}, intstr.FromInt32(1))
	f := m.file(snapshot.Options{At: read})
	if !says(f, "budgets that select no pod: 1 (shop/ninth); ") || !says(f, "budgets that select pods by labels which controllers give them: 1 (shop/hash); ") {
		t.Errorf("found %q left out", f.LeftOut)
	}
	if l := workloadOf(t, f, "shop/db").PodLabels; len(l) != 1 {
		t.Errorf("found the labels %v of the template, want app alone", l)
	}
}

// TestBudgetsOfPodsThatNothingKeeps: budgets of a share count such a pod as healthy and not as expected, as Kubernetes does.
func TestBudgetsOfPodsThatNothingKeeps(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", nil)
	m.node("b", "workers", "eu-central-1b", nil)
	web := map[string]string{"app": "web"}
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a", "b", "a"}})
	m.workload(part{kind: "Pod", namespace: "shop", name: "fix", on: []string{"b"}, labels: web})
	m.workload(part{kind: "Pod", namespace: "shop", name: "lone", on: []string{"b"}})
	m.budget("shop", "web", web, intstr.FromString("50%"))
	m.budget("shop", "lone", map[string]string{"app": "lone"}, intstr.FromString("50%"))
	_, objects := begun(t, &scenarios.File{File: *m.file(snapshot.Options{At: read})})
	found := map[string]string{}
	for _, ev := range objects {
		switch status := rawjson.Get(ev.Object, "status"); {
		case ev.Resource == "poddisruptionbudgets":
			for _, key := range []string{"expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed"} {
				found[ev.Name] += string(rawjson.Get(status, key)) + " "
			}
		case ev.Resource == "pods" && ev.Name == "fix":
			found["owners"] = string(rawjson.Get(ev.Object, "metadata", "ownerReferences"))
		}
	}
	if found["web"] != "3 2 4 2 " || found["lone"] != "0 0 1 0 " || found["owners"] != "" {
		t.Errorf("found %q, want web 3 2 4 2, lone 0 0 1 0, and no owners", found)
	}
}

// TestTimesThatCantBe: a time ahead of the clock says nothing of when the cluster was read, unless all are ahead of it.
func TestTimesThatCantBe(t *testing.T) {
	for name, c := range map[string]struct {
		made  []string
		dated bool
		start string
		age   time.Duration // of the first
		says  string
	}{
		"one of 2099":    {[]string{"2026-11-19T22:00:00Z", "2026-11-20T20:00:00Z", "2099-01-01T00:00:00Z"}, true, "2026-11-20T20:00:00Z", 22 * time.Hour, "times ahead of this machine's clock: 1; they don't say when"},
		"all of 2099":    {[]string{"2099-01-01T00:00:00Z", "2099-01-01T01:00:00Z"}, true, "2099-01-01T01:00:00Z", time.Hour, "times ahead of this machine's clock: 2; all are, so ages count up to the newest of them"},
		"a clock ahead":  {[]string{"2026-11-20T22:10:00Z"}, true, "2026-11-20T22:10:00Z", 0, ""},
		"all of 1970":    {[]string{"1970-01-01T00:00:00Z"}, false, "", 0, "the time of the cluster: "},
		"all of no time": {[]string{"0001-01-01T00:00:00Z"}, false, "", 0, "the time of the cluster: "},
		"all of 9999":    {[]string{"9999-01-01T00:00:00Z"}, false, "", 0, "the time of the cluster: "},
	} {
		r := snapshot.Reading{Now: read}
		for i, at := range c.made {
			if err := r.Add("v1", "Node", fmt.Appendf(nil, `{"metadata":{"name":"n%d","creationTimestamp":%q}}`, i, at)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := r.File(snapshot.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if snapshot.Dated(f) != c.dated || c.dated && f.Start.Format(time.RFC3339) != c.start || f.Groups[0].Members[0].Age != c.age {
			t.Errorf("%s: found a file of %s, dated %v, and a node of %s: want %s, %v, %s", name, f.Start, snapshot.Dated(f), f.Groups[0].Members[0].Age, c.start, c.dated, c.age)
		}
		if c.says != "" && !says(f, c.says) || c.says == "" && says(f, "times ahead") {
			t.Errorf("%s: found %q left out, want %q", name, f.LeftOut, c.says)
		}
		if again := parsed(t, written(t, f)); snapshot.Dated(again) != c.dated {
			t.Errorf("%s: read again it is dated: %v", name, !c.dated)
		}
	}
}

// TestAtMostPods: more pods than a scenario may have are refused on one line.
func TestAtMostPods(t *testing.T) {
	snapshot.AtMostPods(t, 3)
	var r snapshot.Reading
	for i := range 4 {
		err := r.Add("v1", "Pod", fmt.Appendf(nil, `{"metadata":{"namespace":"shop","name":"p%d"}}`, i))
		if want := "found more than 3 pods: want at most as many"; (err != nil) != (i == 3) || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("pod %d: found error %v, want %q at the fourth", i, err, want)
		}
		if again := r.Add("v1", "Pod", []byte(`{"metadata":{"namespace":"shop","name":"p0"}}`)); i < 3 && again != nil {
			t.Errorf("found error %v of a pod that is there already", again)
		}
	}
}
