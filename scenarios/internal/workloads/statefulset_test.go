package workloads

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

const statefulSet = `{"kind":"StatefulSet","apiVersion":"apps/v1","spec":{"serviceName":"db","replicas":3,"selector":{"matchLabels":{"app":"db"}},
"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"c","image":"web:1"}]}}}}`

func statefulSetLine(set *appsv1.StatefulSet) string {
	s := &set.Status
	return fmt.Sprintf("replicas %d ready %d available %d current %d updated %d same %t", s.Replicas, s.ReadyReplicas, s.AvailableReplicas,
		s.CurrentReplicas, s.UpdatedReplicas, s.CurrentRevision == s.UpdateRevision)
}

func (r *rig) statefulSetIs(what, want, pods string) {
	r.t.Helper()
	set := &appsv1.StatefulSet{}
	r.read("statefulsets", "db", set)
	if got := statefulSetLine(set); got != want {
		r.t.Errorf("%s: %s\nwant %s", what, got, want)
	}
	if got := r.images(); got != pods {
		r.t.Errorf("%s: pods %s\nwant %s", what, got, pods)
	}
}

// images are the pods that haven't ended, each with its image.
func (r *rig) images() string {
	var all []string
	for _, p := range r.running() {
		all = append(all, p.Name+"="+p.Template.Containers[0].Image)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// revisionsOf are the numbers of the ControllerRevisions.
func (r *rig) revisionsOf() string {
	var all []string
	for key := range r.texts {
		if name, is := strings.CutPrefix(key, "controllerrevisions/"); is {
			rev := &appsv1.ControllerRevision{}
			r.read("controllerrevisions", name, rev)
			all = append(all, fmt.Sprint(rev.Revision))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Pods come in their order, are updated from the last to the first, and go from the last.
func TestStatefulSetsInOrder(t *testing.T) {
	r := newRig(t)
	r.put("statefulsets", "db", statefulSet)
	r.pass(5 * time.Second)
	r.statefulSetIs("begun", "replicas 1 ready 0 available 0 current 1 updated 1 same true", "db-0=web:1")
	r.settle()
	const all = "db-0=web:1 db-1=web:1 db-2=web:1"
	r.statefulSetIs("created", "replicas 3 ready 3 available 3 current 3 updated 3 same true", all)
	r.put("statefulsets", "db", image(2))
	r.pass(5 * time.Second)
	r.statefulSetIs("update begun", "replicas 3 ready 3 available 3 current 2 updated 0 same false", "db-0=web:1 db-1=web:1")
	r.settle()
	r.statefulSetIs("updated", "replicas 3 ready 3 available 3 current 3 updated 3 same true", strings.ReplaceAll(all, ":1", ":2"))
	if got := r.revisionsOf(); got != "1 2" {
		t.Errorf("revisions %s", got)
	}
	r.put("statefulsets", "db", image(1))
	r.settle()
	r.statefulSetIs("back", "replicas 3 ready 3 available 3 current 3 updated 3 same true", all)
	if got := r.revisionsOf(); got != "2 3" {
		t.Errorf("revisions %s after an earlier one came back", got)
	}
	r.put("statefulsets", "db", `{"spec":{"replicas":1}}`)
	r.pass(5 * time.Second)
	r.statefulSetIs("scaled down", "replicas 3 ready 3 available 3 current 2 updated 2 same true", "db-0=web:1 db-1=web:1")
	r.settle()
	r.statefulSetIs("one left", "replicas 1 ready 1 available 1 current 1 updated 1 same true", "db-0=web:1")
	if said := r.said(); !strings.Contains(said, "SuccessfulCreate: Create Pod db-0 in StatefulSet db successful") || !strings.Contains(said, "SuccessfulDelete: Delete Pod db-2 in StatefulSet db successful") {
		t.Error(said)
	}
}

func TestStatefulSetsPartition(t *testing.T) {
	r := newRig(t)
	r.put("statefulsets", "db", statefulSet)
	r.put("statefulsets", "db", `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}}}}`)
	r.settle()
	r.put("statefulsets", "db", image(2))
	r.settle()
	const want = "db-0=web:1 db-1=web:1 db-2=web:2"
	r.statefulSetIs("partition 2", "replicas 3 ready 3 available 3 current 2 updated 1 same false", want)
	r.env.API.DeletePod(r.env.API.Pod("shop", "db-0"), 0)
	r.settle()
	r.statefulSetIs("a pod below is created as it was", "replicas 3 ready 3 available 3 current 2 updated 1 same false", want)
	r.put("statefulsets", "db", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
	r.settle()
	r.statefulSetIs("no partition", "replicas 3 ready 3 available 3 current 3 updated 3 same true", "db-0=web:2 db-1=web:2 db-2=web:2")
}

func TestStatefulSetsOnDelete(t *testing.T) {
	r := newRig(t)
	r.put("statefulsets", "db", statefulSet)
	r.put("statefulsets", "db", `{"spec":{"updateStrategy":{"type":"OnDelete"}}}`)
	r.settle()
	r.put("statefulsets", "db", image(2))
	r.settle()
	r.env.API.DeletePod(r.env.API.Pod("shop", "db-1"), 0)
	r.settle()
	r.statefulSetIs("one deleted", "replicas 3 ready 3 available 3 current 2 updated 1 same false", "db-0=web:1 db-1=web:2 db-2=web:1")
}

// Pods that may come at once do, from the first ordinal on.
func TestStatefulSetsInParallel(t *testing.T) {
	r := newRig(t)
	r.put("statefulsets", "db", statefulSet)
	r.put("statefulsets", "db", `{"spec":{"podManagementPolicy":"Parallel","ordinals":{"start":5}}}`)
	r.pass(5 * time.Second)
	r.statefulSetIs("begun", "replicas 3 ready 0 available 0 current 3 updated 3 same true", "db-5=web:1 db-6=web:1 db-7=web:1")
	r.put("statefulsets", "db", `{"spec":{"replicas":0}}`)
	r.settle()
	r.statefulSetIs("none", "replicas 0 ready 0 available 0 current 0 updated 0 same true", "")
}

// Each pod has claims of its own, which stay or go as the policy says.
func TestStatefulSetsClaim(t *testing.T) {
	r := newRig(t)
	r.put("statefulsets", "db", statefulSet)
	r.put("statefulsets", "db", `{"spec":{"replicas":2,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete","whenDeleted":"Retain"},
		"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`)
	r.settle()
	c := &corev1.PersistentVolumeClaim{}
	r.read("persistentvolumeclaims", "data-db-1", c)
	if c.Labels["app"] != "db" || c.Status.Phase != "Pending" || len(c.OwnerReferences) != 0 {
		t.Errorf("claim %+v", c)
	}
	if p := r.env.API.Pod("shop", "db-1"); p.Claim != "data-db-1" {
		t.Errorf("the pod claims %q", p.Claim)
	}
	r.put("statefulsets", "db", `{"spec":{"replicas":1}}`)
	r.pass(5 * time.Second)
	c = &corev1.PersistentVolumeClaim{}
	if r.read("persistentvolumeclaims", "data-db-1", c); len(c.OwnerReferences) != 1 || c.OwnerReferences[0].Kind != "Pod" {
		t.Errorf("owners %v", c.OwnerReferences)
	}
}

// A pod that has ended is replaced; one that is somebody else's is left alone.
func TestStatefulSetsReplace(t *testing.T) {
	r := newRig(t)
	if err := r.env.API.CreatePod(&kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: "db-1"}, Template: &kube.Template{Containers: []kube.ContainerSpec{{Image: "other"}}}, Phase: "Running"}); err != nil {
		t.Fatal(err)
	}
	r.put("statefulsets", "db", statefulSet)
	r.settle()
	if got := r.images(); got != "db-0=web:1 db-1=other" {
		t.Error(got)
	}
	r.env.API.DeletePod(r.env.API.Pod("shop", "db-1"), 0)
	r.settle()
	r.end(r.env.API.Pod("shop", "db-1"), "Failed", 1)
	r.settle()
	r.statefulSetIs("replaced", "replicas 3 ready 3 available 3 current 3 updated 3 same true", "db-0=web:1 db-1=web:1 db-2=web:1")
}

// A StatefulSet may ask for more pods than there is memory for.
func TestManyReplicas(t *testing.T) {
	r := newRig(t)
	r.put("statefulsets", "db", strings.Replace(statefulSet, `"replicas":3`, `"replicas":2147483647,"podManagementPolicy":"Parallel"`, 1))
	room := 3 * burst
	r.env.API.Bound(func() bool { return len(r.env.API.Pods()) >= room })
	for pods := 0; pods < room; {
		at, ok := r.env.Next()
		if !ok {
			t.Fatal("nothing happens any more")
		}
		r.pass(at - r.env.Now())
		if made := len(r.running()) - pods; made > burst {
			t.Fatalf("%d pods at one moment, want at most %d", made, burst)
		} else {
			pods += made
		}
	}
	r.said()
	r.pass(10 * time.Second)
	if n := len(r.running()); n != room {
		t.Errorf("%d pods, want %d", n, room)
	}
	if said := r.said(); !strings.Contains(said, "failed error: etcdserver: mvcc: database space exceeded") || strings.Count(said, "\n") > 20 {
		t.Errorf("said %s", said)
	}
	room++
	r.pass(time.Minute)
	if n := len(r.running()); n != room {
		t.Errorf("%d pods, want one more", n)
	}
}

// What could not create pods tries again at once when it has had nothing to create in between.
func TestRefusedPodsBeginAnew(t *testing.T) {
	for _, one := range []struct{ resource, text string }{{"statefulsets", statefulSet}, {"replicasets", strings.Replace(statefulSet, "StatefulSet", "ReplicaSet", 1)}} {
		r := newRig(t)
		tries := 0
		r.Admit = func(*corev1.Pod) error { tries++; return errors.New("not now") }
		r.put(one.resource, "db", one.text)
		r.pass(20 * time.Minute)
		r.put(one.resource, "db", `{"spec":{"replicas":0}}`)
		r.pass(20 * time.Minute)
		tries = 0
		r.put(one.resource, "db", `{"spec":{"replicas":1}}`)
		if r.pass(3 * time.Second); tries < 5 {
			t.Errorf("%s: %d tries within 3 s, want 5 at least", one.resource, tries)
		}
	}
}
