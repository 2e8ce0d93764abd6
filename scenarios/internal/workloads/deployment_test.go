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

const deployment = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"annotations":{"who":"me"}},"spec":{"replicas":4,"selector":{"matchLabels":{"app":"web"}},
"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"web:1"}]}}}}`

func image(n int) string {
	return fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"web:%d"}]}}}}`, n)
}

// settle has pods become Ready and those that are being deleted go, until nothing happens any more.
func (r *rig) settle() {
	for range 40 {
		r.pass(2 * time.Second)
		r.ready(slices.DeleteFunc(r.running(), (*kube.Pod).Ready)...)
		r.leave()
	}
}

// sets says of each ReplicaSet its image, replicas and revision.
func (r *rig) sets() string {
	var all []string
	for key := range r.texts {
		if name, is := strings.CutPrefix(key, "replicasets/"); is {
			rs := &appsv1.ReplicaSet{}
			r.read("replicasets", name, rs)
			line := fmt.Sprintf("%s %d rev %s", rs.Spec.Template.Spec.Containers[0].Image, *rs.Spec.Replicas, rs.Annotations[revision])
			if h := rs.Annotations[revisionHistory]; h != "" {
				line += " was " + h
			}
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func (r *rig) deploymentIs(what, want, sets string) {
	r.t.Helper()
	d := &appsv1.Deployment{}
	r.read("deployments", "web", d)
	if got := deploymentLine(d); got != want {
		r.t.Errorf("%s: %s\nwant %s", what, got, want)
	}
	if got := r.sets(); got != sets {
		r.t.Errorf("%s: ReplicaSets %s\nwant %s", what, got, sets)
	}
}

// A rollout, its way back, and how many revisions are kept.
func TestRolloutsAndBack(t *testing.T) {
	const done = "replicas 4 updated 4 ready 4 available 4 unavailable 0; Available=True MinimumReplicasAvailable; Progressing=True NewReplicaSetAvailable"
	r := newRig(t)
	r.put("deployments", "web", deployment)
	r.pass(5 * time.Second)
	r.deploymentIs("created", "replicas 4 updated 4 ready 0 available 0 unavailable 4; Available=False MinimumReplicasUnavailable; Progressing=True ReplicaSetUpdated", "web:1 4 rev 1")
	r.settle()
	r.deploymentIs("ready", done, "web:1 4 rev 1")
	r.said()
	r.put("deployments", "web", image(2))
	r.pass(3 * time.Second)
	r.deploymentIs("begun", "replicas 5 updated 2 ready 3 available 3 unavailable 2; Available=True MinimumReplicasAvailable; Progressing=True ReplicaSetUpdated", "web:1 3 rev 1, web:2 2 rev 2")
	r.settle()
	r.deploymentIs("updated", done, "web:1 0 rev 1, web:2 4 rev 2")
	r.put("deployments", "web", image(1))
	r.settle()
	r.deploymentIs("back", done, "web:1 4 rev 3 was 1, web:2 0 rev 2")
	d := &appsv1.Deployment{}
	if r.read("deployments", "web", d); d.Annotations[revision] != "3" {
		t.Errorf("the Deployment has revision %s", d.Annotations[revision])
	}
	r.put("deployments", "web", `{"metadata":{"annotations":{"deprecated.deployment.rollback.to":"2"}}}`)
	r.settle()
	r.deploymentIs("by annotation", done, "web:1 0 rev 3 was 1, web:2 4 rev 4 was 2")
	r.put("deployments", "web", `{"spec":{"revisionHistoryLimit":1}}`)
	r.settle()
	r.put("deployments", "web", image(3))
	r.settle()
	r.deploymentIs("truncated", done, "web:2 0 rev 4 was 2, web:3 4 rev 5")
}

func TestDeploymentsPause(t *testing.T) {
	r := newRig(t)
	r.put("deployments", "web", deployment)
	r.settle()
	r.put("deployments", "web", `{"spec":{"paused":true}}`)
	r.put("deployments", "web", image(2))
	r.settle()
	const still = "replicas 4 updated 0 ready 4 available 4 unavailable 0; Available=True MinimumReplicasAvailable; Progressing=Unknown DeploymentPaused"
	r.deploymentIs("paused", still, "web:1 4 rev 1")
	r.put("deployments", "web", `{"spec":{"replicas":6}}`)
	r.settle()
	r.deploymentIs("scaled", "replicas 6 updated 0 ready 6 available 6 unavailable 0; Progressing=Unknown DeploymentPaused; Available=True MinimumReplicasAvailable", "web:1 6 rev 1")
	r.put("deployments", "web", `{"spec":{"paused":false}}`)
	r.settle()
	r.deploymentIs("resumed", "replicas 6 updated 6 ready 6 available 6 unavailable 0; Available=True MinimumReplicasAvailable; Progressing=True NewReplicaSetAvailable", "web:1 0 rev 1, web:2 6 rev 2")
}

func TestDeploymentsAreRecreated(t *testing.T) {
	r := newRig(t)
	r.put("deployments", "web", deployment)
	r.put("deployments", "web", `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`)
	r.settle()
	r.put("deployments", "web", image(2))
	r.pass(10 * time.Second)
	if got := r.sets(); got != "web:1 0 rev 1" {
		t.Errorf("while the old pods end: %s", got)
	}
	r.settle()
	r.deploymentIs("recreated", "replicas 4 updated 4 ready 4 available 4 unavailable 0; Available=True MinimumReplicasAvailable; Progressing=True NewReplicaSetAvailable", "web:1 0 rev 1, web:2 4 rev 2")
}

func TestRolloutsMayBeTooLate(t *testing.T) {
	r := newRig(t)
	r.put("deployments", "web", deployment)
	r.put("deployments", "web", `{"spec":{"progressDeadlineSeconds":60}}`)
	r.pass(50 * time.Second)
	r.deploymentIs("in time", "replicas 4 updated 4 ready 0 available 0 unavailable 4; Available=False MinimumReplicasUnavailable; Progressing=True ReplicaSetUpdated", "web:1 4 rev 1")
	r.pass(20 * time.Second)
	r.deploymentIs("late", "replicas 4 updated 4 ready 0 available 0 unavailable 4; Available=False MinimumReplicasUnavailable; Progressing=False ProgressDeadlineExceeded", "web:1 4 rev 1")
	r.settle()
	r.deploymentIs("after all", "replicas 4 updated 4 ready 4 available 4 unavailable 0; Available=True MinimumReplicasAvailable; Progressing=True NewReplicaSetAvailable", "web:1 4 rev 1")
}

// A Deployment that is scaled during a rollout scales its ReplicaSets by their shares (TestScale of
// pkg/controller/deployment/sync_test.go).
func TestSharesOfAScaling(t *testing.T) {
	set := func(replicas int32, most string) *appsv1.ReplicaSet {
		rs := &appsv1.ReplicaSet{}
		rs.Spec.Replicas = &replicas
		rs.Annotations = map[string]string{maxReplicas: most}
		return rs
	}
	d := &appsv1.Deployment{}
	newRig(t).complete(d)
	for _, c := range []struct {
		replicas, has int32
		most          string
		add, added    int32
		want          int32
	}{
		{10, 5, "13", 0, 0, 0}, {20, 5, "13", 12, 0, 5}, {20, 5, "13", 12, 10, 2}, {5, 5, "13", -6, 0, -2}, {5, 5, "13", -6, -5, -1},
		{0, 5, "13", -5, 0, -5}, {20, 0, "13", 12, 0, 0}, {20, 5, "x", 12, 0, 0},
	} {
		d.Spec.Replicas = &c.replicas
		if c.add == c.added {
			continue
		}
		if got := share(d, set(c.has, c.most), c.add, c.added); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestReplicaSetsAreAdopted(t *testing.T) {
	r := newRig(t)
	r.put("replicasets", "old", `{"metadata":{"labels":{"app":"web"}},"spec":{"replicas":4,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"web:1"}]}}}}`)
	r.settle()
	r.put("deployments", "web", deployment)
	r.settle()
	r.deploymentIs("adopted", "replicas 4 updated 4 ready 4 available 4 unavailable 0; Available=True MinimumReplicasAvailable; Progressing=True NewReplicaSetAvailable", "web:1 4 rev 1")
	rs := &appsv1.ReplicaSet{}
	if r.read("replicasets", "old", rs); len(rs.OwnerReferences) != 1 || rs.OwnerReferences[0].Name != "web" {
		t.Errorf("owners %v", rs.OwnerReferences)
	}
	r.put("replicasets", "old", `{"metadata":{"labels":{"app":"other"}}}`)
	r.settle()
	rs = &appsv1.ReplicaSet{}
	if r.read("replicasets", "old", rs); len(rs.OwnerReferences) != 0 {
		t.Errorf("owners %v", rs.OwnerReferences)
	}
}

// A name that is taken leads to another hash.
func TestHashesCollide(t *testing.T) {
	r := newRig(t)
	d := &appsv1.Deployment{}
	r.put("deployments", "web", deployment)
	hash := templateHash(&r.byName[named{"deployments", "shop", "web"}].api.(*appsv1.Deployment).Spec.Template, nil)
	r.put("replicasets", "web-"+hash, `{"spec":{"replicas":0,"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}}`)
	r.settle()
	if r.read("deployments", "web", d); d.Status.CollisionCount == nil || *d.Status.CollisionCount != 1 || d.Status.AvailableReplicas != 4 {
		t.Errorf("%+v", d.Status)
	}
}

// A Deployment says why its ReplicaSet can't create pods, as long as that lasts.
func TestADeploymentTellsOfReplicaFailure(t *testing.T) {
	r := newRig(t)
	refused := true
	r.Admit = func(*corev1.Pod) error {
		if refused {
			return errors.New("exceeded quota")
		}
		return nil
	}
	r.put("deployments", "web", deployment)
	r.settle()
	d := &appsv1.Deployment{}
	r.read("deployments", "web", d)
	if c := condition(&d.Status, appsv1.DeploymentReplicaFailure); c == nil || c.Status != corev1.ConditionTrue || c.Reason != "FailedCreate" || c.Message != "exceeded quota" {
		t.Errorf("refused: %+v", c)
	}
	refused = false
	for range 20 {
		r.settle()
	}
	r.deploymentIs("admitted", "replicas 4 updated 4 ready 4 available 4 unavailable 0; Available=True MinimumReplicasAvailable; Progressing=True NewReplicaSetAvailable", "web:1 4 rev 1")
}
