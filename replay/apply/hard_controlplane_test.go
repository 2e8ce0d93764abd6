//go:build controlplane

package apply_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apply"
	"github.com/nodesim/nodesim/timeline"
)

const poolDefinition = `{"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"pools","singular":"pool","kind":"Pool","listKind":"PoolList"},
	"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object",
	"x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
	"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`

const nodeBody = `{"spec":{"taints":[{"key":"dedicated","value":"x","effect":"NoSchedule"}]},
	"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-02-28T12:00:00Z","lastHeartbeatTime":"2026-03-01T11:59:59Z"}]}}`

// hardTape holds what an API server doesn't take as it stands.
func hardTape(t *testing.T) *writer {
	w := newTape(t, "hard objects", nodes, pods, evs, crds, pools)
	w.add(timeline.Added, crds, "", "pools.example.com", "crd-1", poolDefinition)
	w.add(timeline.Added, pools, "", "blue", "pool-1", `{"spec":{"size":3,"note":"a"},"status":{"ready":2}}`)
	w.add(timeline.Added, nodes, "", "hard-1", "node-1", nodeBody)
	w.add(timeline.Added, pods, "shop", "web-1", "pod-1", `{"metadata":{"finalizers":["example.com/keep"],"ownerReferences":[
		{"apiVersion":"apps/v1","kind":"DaemonSet","name":"ds","uid":"gone","controller":true,"blockOwnerDeletion":true}]},
		"spec":{"nodeName":"hard-1","serviceAccountName":"shopper","priorityClassName":"gold","priority":1000,"preemptionPolicy":"Never","runtimeClassName":"kata","overhead":{"cpu":"1"},
		"terminationGracePeriodSeconds":30,"containers":[{"name":"web","image":"web:1"},{"name":"side"}],
		"volumes":[{"name":"a","configMap":{}},{"name":"b","secret":{}},{"name":"c","hostPath":{}},{"name":"d","emptyDir":{}},{"name":"e"},{"name":"f","csi":{}},{"name":"g","projected":{}}]},
		"status":{"phase":"Running","qosClass":"Guaranteed","startTime":"2026-03-01T11:00:00Z","conditions":[{"type":"Ready","status":"True","lastTransitionTime":null}]}}`)
	w.add(timeline.Added, pods, "kube-system", "static-hard-1", "pod-2", `{"metadata":{"annotations":{"kubernetes.io/config.mirror":"m"},
		"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"hard-1","uid":"node-1","controller":true}]},
		"spec":{"nodeName":"hard-1","serviceAccountName":"x","priorityClassName":"system-node-critical","priority":2000001000,"containers":[{"name":"c","image":"i"}]}}`)
	w.begun()
	w.add(timeline.Added, evs, "shop", "web-1.1", "event-1", `{"involvedObject":{"kind":"Pod","namespace":"shop","name":"web-1","uid":"pod-1"},
		"reason":"Killing","message":"Stopping","firstTimestamp":"2026-03-01T12:00:01Z","lastTimestamp":"2026-03-01T12:00:01Z","count":1,"type":"Normal"}`)
	w.add(timeline.Modified, pools, "", "blue", "pool-1", `{"spec":{"size":4},"status":{"ready":4}}`)
	return w
}

func TestHardObjects(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.Shared(t)
	client, config := cluster.Client(), cluster.Config()
	w := hardTape(t)
	terminating := strings.Replace(nodeBody, `{"spec"`, `{"metadata":{"deletionTimestamp":"2026-03-01T12:00:03Z","finalizers":["karpenter.sh/termination"]},"spec"`, 1)
	w.add(timeline.Modified, nodes, "", "hard-1", "node-1", terminating)
	held := len(w.events)
	w.add(timeline.Deleted, nodes, "", "hard-1", "node-1", terminating)

	a := play(t, config, replay.Events(&w.header, w.events[:held]), replay.Max)
	report, err := a.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Skipped) > 0 {
		t.Errorf("left out: %v", report.Skipped)
	}
	node, err := client.CoreV1().Nodes().Get(ctx, "hard-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if node.DeletionTimestamp == nil || len(node.Spec.Taints) != 1 || node.Spec.Taints[0].Key != "dedicated" || len(node.Status.Conditions) != 1 {
		t.Errorf("the node isn't being deleted with the tape's own taint: %+v", node)
	}
	if at := node.Status.Conditions[0].LastTransitionTime.Time; time.Since(at) < 23*time.Hour || time.Since(at) > 25*time.Hour {
		t.Errorf("what was a day ago on the tape is at %s", at)
	}
	pod, err := client.CoreV1().Pods("shop").Get(ctx, "web-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owner := pod.OwnerReferences[0]
	if pod.Spec.NodeName != "hard-1" || pod.Status.Phase != corev1.PodRunning || len(pod.Spec.Volumes) != 7 || len(pod.Finalizers) > 0 ||
		owner.Kind != "DaemonSet" || owner.APIVersion == "apps/v1" || pod.Annotations[apply.AnnotationUID] != "pod-1" {
		t.Errorf("the pod is %+v", pod)
	}
	for _, word := range []string{"example.com/keep", `"uid":"gone"`} {
		if !strings.Contains(pod.Annotations[apply.AnnotationOriginal], word) {
			t.Errorf("%s isn't remembered: %v", word, pod.Annotations)
		}
	}
	mirror, err := client.CoreV1().Pods("kube-system").Get(ctx, "static-hard-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if mirror.OwnerReferences[0].UID != node.UID || mirror.Annotations[corev1.MirrorPodAnnotationKey] != "m" || *mirror.Spec.Priority != 2000001000 {
		t.Errorf("the mirror pod is %+v", mirror)
	}
	event, err := client.CoreV1().Events("shop").Get(ctx, "web-1.1", metav1.GetOptions{})
	if err != nil || event.InvolvedObject.UID != pod.UID {
		t.Errorf("the Event speaks of %+v: %v", event, err)
	}
	pool, err := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "pools"}).Get(ctx, "blue", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if spec := pool.Object["spec"].(map[string]any); spec["size"] != int64(4) || spec["note"] != nil {
		t.Errorf("the pool's spec is %v", spec)
	}
	if status := pool.Object["status"].(map[string]any); status["ready"] != int64(4) {
		t.Errorf("the pool's status is %v", status)
	}
	for _, said := range []string{"spec.priorityClassName gold", "spec.runtimeClassName kata", "metadata.finalizers", "configMap.name", "image is not on the tape"} {
		if !slices.ContainsFunc(report.Changed, func(r apply.Remark) bool { return strings.Contains(r.Reason, said) }) {
			t.Errorf("the report doesn't say %q:\n%s", said, report)
		}
	}

	// Again, up to the end: what is being deleted is made again, and then goes.
	whole := play(t, config, w.source(), replay.Max)
	if _, err := whole.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Nodes().Get(ctx, "hard-1", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the node is still there: %v", err)
	}
	cleaned(ctx, t, whole)
	if _, err := client.CoreV1().Namespaces().Get(ctx, "shop", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace is still there: %v", err)
	}
}

// Another client writes to what the replay writes, and deletes it.
func TestSomebodyElseWrites(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.Shared(t)
	client := cluster.Client()
	w := newTape(t, "others", nodes)
	w.add(timeline.Added, nodes, "", "other-1", "n1", nodeBody)
	w.add(timeline.Added, nodes, "", "other-2", "n2", nodeBody)
	w.begun()
	w.add(timeline.Modified, nodes, "", "other-1", "n1", strings.Replace(nodeBody, `"True"`, `"False"`, 1))
	w.add(timeline.Modified, nodes, "", "other-2", "n2", strings.Replace(nodeBody, `"True"`, `"False"`, 1))
	a := play(t, cluster.Config(), w.source(), replay.Max)
	if err := a.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Nodes().Patch(ctx, "other-1", types.MergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"Unknown"}],"phase":"Running"}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().Nodes().Delete(ctx, "other-2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	report, err := a.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if report.Conflicts != 1 || len(report.Skipped) > 0 {
		t.Errorf("want one conflict and nothing left out:\n%s", report)
	}
	for _, name := range []string{"other-1", "other-2"} {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(node.Status.Conditions) != 1 || node.Status.Conditions[0].Status != corev1.ConditionFalse || node.Status.Phase != "" {
			t.Errorf("%s isn't as the tape has it: %+v", name, node.Status)
		}
	}
	cleaned(ctx, t, a)
}

// A resource that the user may not write, or that the server doesn't have, is
// left out, with one line that says so; the rest continues.
func TestWhatTheUserMayNot(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.Shared(t)
	all := []string{"get", "list", "create", "patch", "delete"}
	user, err := cluster.User(ctx, "replayer", testcluster.Rule("", []string{"nodes", "nodes/status", "events", "namespaces"}, all...),
		testcluster.Rule("", []string{"pods"}, "get", "list", "create", "patch"), testcluster.Rule("coordination.k8s.io", []string{"leases"}, all...))
	if err != nil {
		t.Fatal(err)
	}
	w := newTape(t, "rights", nodes, pods, pools)
	w.add(timeline.Added, nodes, "", "right-1", "n1", nodeBody)
	w.add(timeline.Added, pods, "default", "right-1", "p1", `{"spec":{"nodeName":"right-1","containers":[{"name":"c","image":"i"}]}}`)
	w.add(timeline.Added, pools, "", "blue", "q1", `{}`)
	w.begun()
	w.add(timeline.Deleted, pools, "", "blue", "q1", `{}`)
	a := play(t, user, w.source(), replay.Max)
	report, err := a.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, s := range report.Skipped {
		said = append(said, s.Resource+": "+s.Reason)
	}
	slices.Sort(said)
	want := []string{"pods: the user may not delete pods", "pools.example.com: the server has no pools in example.com/v1"}
	if !slices.Equal(said, want) {
		t.Errorf("found %q, want %q", said, want)
	}
	if _, err := cluster.Client().CoreV1().Nodes().Get(ctx, "right-1", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	cleaned(ctx, t, play(t, cluster.Config(), w.source(), replay.Max))
}
