package simcluster_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios/simcluster"
)

// family are ConfigMaps that own each other.
type family struct {
	t *testing.T
	c *simcluster.TestCluster
	k kubernetes.Interface
}

// inFamily starts a cluster at rest.
func inFamily(t *testing.T, do func(t *testing.T, f *family)) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
		c.Start()
		do(t, &family{t: t, c: c, k: clients(t, c)})
		sound(t, c)
	})
}

func by(o metav1.Object, blocks bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: o.GetName(), UID: o.GetUID(), BlockOwnerDeletion: &blocks}
}

func (f *family) add(namespace, name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	f.t.Helper()
	o, err := f.k.CoreV1().ConfigMaps(namespace).Create(f.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return o
}

func (f *family) get(namespace, name string) *corev1.ConfigMap {
	f.t.Helper()
	o, err := f.k.CoreV1().ConfigMaps(namespace).Get(f.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return o
}

func (f *family) delete(namespace, name string, policy metav1.DeletionPropagation) {
	f.t.Helper()
	if err := f.k.CoreV1().ConfigMaps(namespace).Delete(f.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		f.t.Fatal(err)
	}
}

// rest lets everything settle, and returns the names of the ConfigMaps that are left.
func (f *family) rest(namespace string) (names []string) {
	f.t.Helper()
	<-time.After(time.Minute)
	list, err := f.k.CoreV1().ConfigMaps(namespace).List(f.t.Context(), metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, o := range list.Items {
		if o.Name != "kube-root-ca.crt" {
			names = append(names, o.Name)
		}
	}
	return names
}

func (f *family) left(namespace string, want ...string) {
	f.t.Helper()
	if got := f.rest(namespace); !slices.Equal(got, want) {
		f.t.Errorf("left in %s: %q, want %q", namespace, got, want)
	}
}

// What loses its last owner goes, and what loses another one loses the reference.
func TestDependentsAreCollected(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		a, b := f.add("default", "a"), f.add("default", "b")
		f.add("default", "both", by(a, false), by(b, false))
		c := f.add("default", "child", by(a, false))
		f.add("default", "grandchild", by(c, true))
		f.delete("default", "a", metav1.DeletePropagationBackground)
		f.left("default", "b", "both")
		if refs := f.get("default", "both").OwnerReferences; len(refs) != 1 || refs[0].UID != b.UID {
			t.Errorf("the owners that are left: %+v", refs)
		}
	})
}

// An owner that isn't there, has another UID, or is in another namespace is none; one of a kind that isn't known may be.
func TestOwnersThatArentThere(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		a := f.add("default", "a")
		other := by(a, false)
		other.UID = "00000000-0000-0000-0000-000000000000"
		unknown := by(a, false)
		unknown.APIVersion, unknown.Kind, unknown.UID = "example.com/v1", "Widget", "00000000-0000-0000-0000-000000000001"
		f.add("default", "child", by(a, false))
		f.add("default", "stranger", other)
		f.add("default", "widget", unknown)
		abroad := f.add("shop", "abroad", by(a, false))
		f.left("default", "a", "child", "widget")
		f.left("shop")
		list, err := f.k.CoreV1().Events("shop").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=OwnerRefInvalidNamespace"})
		want := "ownerRef [v1/ConfigMap, namespace: shop, name: a, uid: " + string(a.UID) + `] does not exist in namespace "shop"`
		if err != nil || len(list.Items) != 1 || list.Items[0].InvolvedObject.UID != abroad.UID || list.Items[0].Message != want || list.Items[0].Type != "Warning" {
			t.Errorf("Events %+v: %v", list.Items, err)
		}
		// A node owns what is in any namespace.
		node, err := f.k.CoreV1().Nodes().Get(t.Context(), firstNode(t, f.k), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f.add("default", "of-node", metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID})
		f.left("default", "a", "child", "of-node", "widget")
	})
}

// With propagation Foreground an owner goes after the dependents that block it, with Orphan without them.
func TestPropagation(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		a := f.add("default", "a")
		f.add("default", "loose", by(a, false))
		blocks := f.add("default", "blocks", by(a, true))
		held := f.add("default", "held", by(blocks, true))
		held.Finalizers = []string{"example.com/hold"}
		if _, err := f.k.CoreV1().ConfigMaps("default").Update(t.Context(), held, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.delete("default", "a", metav1.DeletePropagationForeground)
		f.left("default", "a", "blocks", "held")
		for _, name := range []string{"a", "blocks"} {
			if o := f.get("default", name); o.DeletionTimestamp == nil || !slices.Equal(o.Finalizers, []string{metav1.FinalizerDeleteDependents}) || *o.DeletionGracePeriodSeconds != 0 {
				t.Errorf("%s waits: %+v", name, o.ObjectMeta)
			}
		}
		if _, err := f.k.CoreV1().ConfigMaps("default").Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		f.left("default")

		b := f.add("default", "b")
		f.add("default", "child", by(b, true))
		f.delete("default", "b", metav1.DeletePropagationOrphan)
		f.left("default", "child")
		if refs := f.get("default", "child").OwnerReferences; len(refs) != 0 {
			t.Errorf("an orphan has owners: %+v", refs)
		}
	})
}

// A Job that is deleted by a client that says nothing of its pods leaves them, as it did before there was a garbage collector.
func TestPodsOfAJobStayByDefault(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		jobs, pods := f.k.BatchV1().Jobs("default"), f.k.CoreV1().Pods("default")
		_, err := jobs.Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work"}, Spec: batchv1.JobSpec{
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "registry.example/job:1.0", Command: []string{"sleep", "100000"}}},
			}},
		}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f.rest("default")
		if err := jobs.Delete(t.Context(), "work", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.rest("default")
		if _, err := jobs.Get(t.Context(), "work", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the Job: %v, want it to be gone", err)
		}
		left, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=work"})
		if err != nil {
			t.Fatal(err)
		}
		if len(left.Items) != 1 || len(left.Items[0].OwnerReferences) != 0 {
			t.Errorf("found %d pods: want one, without an owner", len(left.Items))
		}
	})
}

// Objects that own each other go, whichever way one of them is deleted; and they stay as long as none is.
func TestACircleOfOwners(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			inFamily(t, func(t *testing.T, f *family) {
				a := f.add("default", "a")
				b := f.add("default", "b", by(a, true))
				c := f.add("default", "c", by(b, true))
				a.OwnerReferences = []metav1.OwnerReference{by(c, true)}
				if _, err := f.k.CoreV1().ConfigMaps("default").Update(t.Context(), a, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				f.left("default", "a", "b", "c")
				f.delete("default", "b", policy)
				f.left("default")
			})
		})
	}
}

// A namespace goes with all that is in it, and says what it waits for.
func TestANamespaceEnds(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, spaces := t.Context(), f.k.CoreV1().Namespaces()
		if _, err := spaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.left("team")
		if _, err := f.k.CoreV1().ServiceAccounts("team").Get(ctx, "default", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if root := f.get("team", "kube-root-ca.crt"); root == nil || !strings.Contains(root.Data["ca.crt"], "BEGIN CERTIFICATE") {
			t.Errorf("the certificate of the authority: %+v", root)
		}
		if err := f.k.CoreV1().ServiceAccounts("team").Delete(ctx, "default", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.k.CoreV1().ConfigMaps("team").Patch(ctx, "kube-root-ca.crt", types.MergePatchType, []byte(`{"data":{"ca.crt":"mine"}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if _, err := f.k.CoreV1().ServiceAccounts("team").Get(ctx, "default", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if f.get("team", "kube-root-ca.crt").Data["ca.crt"] == "mine" {
			t.Error("the certificate stays changed")
		}
		deploy(t, f.k, "team", "api", 3)
		<-time.After(time.Minute)
		held := f.add("team", "held")
		held.Finalizers = []string{"example.com/hold"}
		if _, err := f.k.CoreV1().ConfigMaps("team").Update(ctx, held, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := spaces.Delete(ctx, "team", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.left("team", "held")
		_, err := f.k.CoreV1().ConfigMaps("team").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
		if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			t.Errorf("a create in it: %v", err)
		}
		team, err := spaces.Get(ctx, "team", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		said := map[corev1.NamespaceConditionType]string{}
		for _, c := range team.Status.Conditions {
			said[c.Type] = string(c.Status) + " " + c.Reason + ": " + c.Message
		}
		for kind, want := range map[corev1.NamespaceConditionType]string{
			corev1.NamespaceDeletionDiscoveryFailure: "False ResourcesDiscovered: All resources successfully discovered",
			corev1.NamespaceDeletionGVParsingFailure: "False ParsedGroupVersions: All legacy kube types successfully parsed",
			corev1.NamespaceDeletionContentFailure:   "False ContentDeleted: All content successfully deleted, may be waiting on finalization",
			corev1.NamespaceContentRemaining:         "True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
			corev1.NamespaceFinalizersRemaining:      "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
		} {
			if said[kind] != want {
				t.Errorf("%s: %q, want %q", kind, said[kind], want)
			}
		}
		if _, err := f.k.CoreV1().ConfigMaps("team").Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		f.c.Eventually(5*time.Minute, "the end of the namespace", func() bool {
			_, err := spaces.Get(ctx, "team", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
		list, err := f.k.CoreV1().Events("team").List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("%d Events are left: %v", len(list.Items), err)
		}
	})
}

// The Events of clients go after an hour.
func TestEventsOfClientsExpire(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx := t.Context()
		if _, err := f.k.CoreV1().Events("default").Create(ctx, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: "said"}, InvolvedObject: corev1.ObjectReference{Namespace: "default", Kind: "Pod", Name: "x"},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		is := func(want bool) {
			t.Helper()
			if _, err := f.k.CoreV1().Events("default").Get(ctx, "said", metav1.GetOptions{}); apierrors.IsNotFound(err) == want {
				t.Errorf("there: %v, want %v", err, want)
			}
		}
		<-time.After(30 * time.Minute)
		if _, err := f.k.CoreV1().Events("default").Patch(ctx, "said", types.MergePatchType, []byte(`{"count":2}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(59 * time.Minute)
		is(true)
		<-time.After(2 * time.Minute)
		is(false)
	})
}
