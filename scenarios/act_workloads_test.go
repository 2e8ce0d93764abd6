package scenarios_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	faults "github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

func decode[T any](t testing.TB, raw []byte) *T {
	t.Helper()
	o := new(T)
	if err := json.Unmarshal(raw, o); err != nil {
		t.Fatal(err)
	}
	return o
}

// replicaSet is that of a Deployment.
func (c *cluster) replicaSet(deployment string) *appsv1.ReplicaSet {
	c.t.Helper()
	for _, raw := range c.list("replicasets") {
		if rs := decode[appsv1.ReplicaSet](c.t, raw); len(rs.OwnerReferences) == 1 && rs.OwnerReferences[0].Name == deployment {
			return rs
		}
	}
	c.t.Fatalf("no ReplicaSet of %s", deployment)
	return nil
}

// Workloads are objects, and own their pods.
func TestWorkloadsAreObjects(t *testing.T) {
	c := act(t, shop)
	d, rs := decode[appsv1.Deployment](t, c.get("deployments", "shop", "web")), c.replicaSet("web")
	if rs.OwnerReferences[0].UID != d.UID || *rs.Spec.Replicas != 8 || rs.Status.ReadyReplicas != 8 {
		t.Errorf("ReplicaSet %s of %s: %+v", rs.OwnerReferences[0].UID, d.UID, rs.Status)
	}
	owned := c.pods(func(p *corev1.Pod) bool { return len(p.OwnerReferences) == 1 && p.OwnerReferences[0].UID == rs.UID })
	if len(owned) != 8 {
		t.Errorf("%d pods are owned by the ReplicaSet, want 8", len(owned))
	}
	want := appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 8, UpdatedReplicas: 8, ReadyReplicas: 8, AvailableReplicas: 8, TerminatingReplicas: new(int32)}
	got := d.Status
	got.Conditions = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := decode[appsv1.StatefulSet](t, c.get("statefulsets", "shop", "queue")).Status; s.ReadyReplicas != 2 || s.CurrentReplicas != 2 {
		t.Errorf("the StatefulSet's status is %+v", s)
	}
}

// A client scales what is there.
func TestAClientScales(t *testing.T) {
	c := act(t, shop)
	c.patch("deployments", "shop", "web", `{"metadata":{"generation":2},"spec":{"replicas":3}}`)
	c.patch("statefulsets", "shop", "queue", `{"metadata":{"generation":2},"spec":{"replicas":4}}`)
	c.pass(5 * time.Minute)
	d, rs := decode[appsv1.Deployment](t, c.get("deployments", "shop", "web")).Status, c.replicaSet("web")
	if d.Replicas != 3 || d.ReadyReplicas != 3 || d.ObservedGeneration != 2 || *rs.Spec.Replicas != 3 || rs.Generation != 2 || c.ready("web") != 3 {
		t.Errorf("scaled down: %+v, %+v, %d Ready", d, rs.Status, c.ready("web"))
	}
	if s := decode[appsv1.StatefulSet](t, c.get("statefulsets", "shop", "queue")).Status; s.ReadyReplicas != 4 || c.ready("queue") != 4 {
		t.Errorf("scaled up: %+v", s)
	}
	c.check()
}

const newDeployment = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"api","namespace":"shop","uid":"u-api","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z"},
"spec":{"replicas":3,"selector":{"matchLabels":{"app":"api"}},"template":{"metadata":{"labels":{"app":"api"}},"spec":{"containers":[{"name":"api","image":"api:1","env":[{"name":"A","value":"b"}],
"resources":{"requests":{"cpu":"100m"}}}],"volumes":[{"name":"scratch","emptyDir":{}}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst"}}}}`

// A client creates a Deployment, scales it and deletes it.
func TestANewDeploymentGetsPods(t *testing.T) {
	c := act(t, shop)
	c.put(timeline.Added, "deployments", []byte(strings.ReplaceAll(newDeployment, "\n", "")))
	c.pass(2 * time.Minute)
	d, rs := decode[appsv1.Deployment](t, c.get("deployments", "shop", "api")).Status, c.replicaSet("api")
	if c.ready("api") != 3 || d.AvailableReplicas != 3 || d.ObservedGeneration != 1 || rs.Status.AvailableReplicas != 3 {
		t.Errorf("%d pods are Ready: %+v, %+v", c.ready("api"), d, rs.Status)
	}
	if env := rs.Spec.Template.Spec.Containers[0].Env; len(env) != 1 {
		t.Errorf("the ReplicaSet's template has the environment %v", env)
	}
	for _, p := range c.pods(func(p *corev1.Pod) bool { return p.Labels["app"] == "api" }) {
		if len(p.Spec.Containers) != 1 || len(p.Spec.Containers[0].Env) != 1 || len(p.Spec.Volumes) != 2 || p.Spec.DNSPolicy != "ClusterFirst" || p.OwnerReferences[0].UID != rs.UID || len(p.Spec.Tolerations) != 2 {
			t.Errorf("a pod isn't what its template says: %+v", p.Spec)
		}
	}
	c.check()
	c.patch("deployments", "shop", "api", `{"metadata":{"generation":2},"spec":{"replicas":5}}`)
	c.pass(2 * time.Minute)
	if c.ready("api") != 5 {
		t.Errorf("%d pods are Ready, want 5", c.ready("api"))
	}
	c.put(timeline.Deleted, "deployments", c.get("deployments", "shop", "api"))
	c.pass(2 * time.Minute)
	if left := c.pods(func(p *corev1.Pod) bool { return p.Labels["app"] == "api" }); len(left) > 0 {
		t.Errorf("%d pods are left of a Deployment that was deleted", len(left))
	}
	for _, raw := range c.list("replicasets") {
		if name := rawjson.Text(raw, "metadata", "name"); strings.HasPrefix(name, "api-") {
			t.Errorf("ReplicaSet %s is left", name)
		}
	}
	c.check()
}

// A new template of a client's, or of the scenario's, Deployment replaces its pods step by step.
func TestARollout(t *testing.T) {
	c := act(t, shop)
	before := c.replicaSet("web").Name
	c.patch("deployments", "shop", "web", `{"metadata":{"generation":2,"labels":{"a":"b"}},"spec":{"template":{"spec":{"dnsPolicy":"ClusterFirst"}}}}`)
	c.pass(time.Minute)
	if n := len(c.list("replicasets")); n != 1 {
		t.Fatalf("%d ReplicaSets after a write that changes no pod", n)
	}
	d := decode[appsv1.Deployment](t, c.get("deployments", "shop", "web"))
	d.Generation = 3
	d.Spec.Template.Spec.Containers[0].Image = "web:2"
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	c.put(timeline.Modified, "deployments", raw)
	least := 8
	for range 600 {
		c.pass(time.Second)
		least = min(least, c.ready("web"))
	}
	d = decode[appsv1.Deployment](t, c.get("deployments", "shop", "web"))
	if s := d.Status; s.UpdatedReplicas != 8 || s.Replicas != 8 || s.AvailableReplicas != 8 || s.ObservedGeneration != 3 || d.Annotations["deployment.kubernetes.io/revision"] != "2" {
		t.Errorf("status %+v", s)
	}
	if least < 6 {
		t.Errorf("at worst %d of 8 pods were Ready, want 6", least)
	}
	for _, p := range c.pods(func(p *corev1.Pod) bool { return p.Labels["app"] == "web" }) {
		if p.Spec.Containers[0].Image != "web:2" || strings.HasPrefix(p.Name, before) {
			t.Errorf("%s has the image %s", p.Name, p.Spec.Containers[0].Image)
		}
	}
	if old := decode[appsv1.ReplicaSet](t, c.get("replicasets", "shop", before)); *old.Spec.Replicas != 0 || old.Status.Replicas != 0 {
		t.Errorf("the old ReplicaSet: %d, %+v", *old.Spec.Replicas, old.Status)
	}
	c.check()
	c.patch("deployments", "shop", "web", `{"metadata":{"generation":4},"spec":{"replicas":2}}`)
	c.pass(2 * time.Minute)
	if c.ready("web") != 2 {
		t.Errorf("%d pods are Ready, want 2", c.ready("web"))
	}
	c.put(timeline.Deleted, "deployments", c.get("deployments", "shop", "web"))
	c.pass(2 * time.Minute)
	if n := len(c.list("replicasets")) + c.ready("web"); n != 0 {
		t.Errorf("%d ReplicaSets and pods are left", n)
	}
}

// A pod whose labels a client changes is released and replaced; with its labels back, it is adopted, and one too many goes.
func TestPodsAreReleasedAndAdopted(t *testing.T) {
	c := act(t, shop)
	rs := c.replicaSet("web")
	of := func(name string) []metav1.OwnerReference {
		return decode[corev1.Pod](t, c.get("pods", "shop", name)).OwnerReferences
	}
	pod := c.pods(func(p *corev1.Pod) bool { return p.Labels["app"] == "web" })[0].Name
	c.patch("pods", "shop", pod, `{"metadata":{"labels":{"app":"quarantine"}}}`)
	c.pass(time.Minute)
	if owners := of(pod); len(owners) > 0 || c.ready("web") != 8 || c.ready("quarantine") != 1 {
		t.Errorf("the pod is owned by %v, and %d pods of web are Ready", owners, c.ready("web"))
	}
	c.check()
	c.patch("pods", "shop", pod, `{"metadata":{"labels":{"app":"web"}}}`)
	c.pass(5 * time.Second)
	if owners := of(pod); len(owners) != 1 || owners[0].UID != rs.UID {
		t.Errorf("the pod is owned by %v", owners)
	}
	c.pass(2 * time.Minute)
	if n := c.ready("web"); n != 8 {
		t.Errorf("%d pods of web are Ready, want 8", n)
	}
	// Owners that aren't controllers stay.
	other := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":%q}`, decode[appsv1.Deployment](t, c.get("deployments", "shop", "web")).UID)
	c.patch("pods", "shop", pod, `{"metadata":{"ownerReferences":[`+other+`]}}`)
	c.pass(5 * time.Second)
	if owners := of(pod); len(owners) != 2 || owners[0].Kind != "Deployment" || owners[1].UID != rs.UID || owners[1].Controller == nil || !*owners[1].Controller {
		t.Errorf("the pod is owned by %v", owners)
	}
	c.check()
	c.patch("pods", "shop", pod, `{"metadata":{"labels":{"app":"other"}}}`)
	c.pass(5 * time.Second)
	if owners := of(pod); len(owners) != 1 || owners[0].Kind != "Deployment" {
		t.Errorf("the pod is owned by %v", owners)
	}
	c.check()
	c.patch("pods", "shop", "queue-0", `{"metadata":{"ownerReferences":null}}`)
	c.pass(time.Minute)
	if len(of("queue-0")) != 1 || c.ready("queue") != 2 {
		t.Errorf("queue-0 is owned by %v", of("queue-0"))
	}
	c.check()
}

// A StatefulSet's and a DaemonSet's new template replaces their pods one after the other.
func TestUpdatesOfNumberedAndDaemonPods(t *testing.T) {
	c := act(t, shop+"- {workload: queue, maxUnavailable: 1}\n")
	image := func(resource, namespace, name string, generation int) {
		raw := c.get(resource, namespace, name)
		d := decode[appsv1.StatefulSet](t, raw)
		d.Spec.Template.Spec.Containers[0].Image = "new:2"
		template, err := json.Marshal(d.Spec.Template)
		if err != nil {
			t.Fatal(err)
		}
		n := strconv.Itoa(generation)
		c.put(timeline.Modified, resource, raw, `{"metadata":{"generation":`+n+`,"annotations":{"deprecated.daemonset.template.generation":"`+n+`"}},"spec":{"template":`+string(template)+`}}`)
	}
	image("statefulsets", "shop", "queue", 2)
	image("daemonsets", "kube-system", "kube-proxy", 2)
	least := 2
	for range 300 {
		c.pass(2 * time.Second)
		least = min(least, c.ready("queue"))
	}
	if s := decode[appsv1.StatefulSet](t, c.get("statefulsets", "shop", "queue")).Status; s.UpdatedReplicas != 2 || s.ReadyReplicas != 2 || s.CurrentRevision != s.UpdateRevision || least != 1 {
		t.Errorf("queue: %+v, at worst %d Ready", s, least)
	}
	if s := decode[appsv1.DaemonSet](t, c.get("daemonsets", "kube-system", "kube-proxy")).Status; s.UpdatedNumberScheduled != 4 || s.NumberReady != 4 || s.ObservedGeneration != 2 {
		t.Errorf("kube-proxy: %+v", s)
	}
	if n := len(c.pods(func(p *corev1.Pod) bool { return p.Spec.Containers[0].Image == "new:2" })); n != 6 {
		t.Errorf("%d pods have the new image, want 6", n)
	}
	c.check()
}

// What the API server would refuse to write to a workload doesn't end the cluster: a fault now is an error, and what a
// scenario has in its time is without effect.
func TestWorkloadsThatAreThereAlready(t *testing.T) {
	c := act(t, strings.Replace(shop, "budgets:", "- {name: late, namespace: shop, replicas: 2, createAt: 5m}\n- {name: first, namespace: lost}\n- {name: last, namespace: lost, createAt: 6m}\nbudgets:", 1))
	do := func(want, text string) {
		t.Helper()
		f, err := faults.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Transact(func(*replay.Tx) error { return c.acting.Do(f) })
		if got := fmt.Sprint(err); !strings.Contains(got, want) || want == "" && err != nil {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	c.pass(time.Minute)
	do("fault: createWorkload: found a Deployment shop/web: want none of that name", "{createWorkload: {workload: web}}")
	do("fault: scale: found no Deployment shop/late: want one that is there", "{scale: {workload: late, replicas: 3}}")
	c.put(timeline.Added, "deployments", c.get("deployments", "shop", "web"),
		`{"metadata":{"name":"late","uid":"a-clients","resourceVersion":null},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"late"}},"template":{"metadata":{"labels":{"app":"late"}}}},"status":null}`)
	c.put(timeline.Deleted, "deployments", c.get("deployments", "lost", "first"))
	lost, err := c.Cluster().Get(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "", "lost", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.put(timeline.Deleted, "namespaces", lost.Raw())
	do("fault: createWorkload: found no namespace \"lost\": want one that is there", "{createWorkload: {workload: first}}")
	c.pass(10 * time.Minute)
	if late := decode[appsv1.Deployment](t, c.get("deployments", "shop", "late")); late.UID != "a-clients" || late.Status.ReadyReplicas != 1 {
		t.Errorf("late has UID %s and %d ready replicas, want that of the client and 1", late.UID, late.Status.ReadyReplicas)
	}
	if n := len(c.list("deployments")); n != 2 {
		t.Errorf("%d Deployments, want web and late", n)
	}
}
