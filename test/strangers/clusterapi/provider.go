package clusterapi

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nodesim/nodesim/test/strangers/place"
)

// The provider's kinds. They have no fields but those of Cluster API's contracts (docs/book/src/developer/providers/contracts
// of its repository).
var (
	machineKind         = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "SimMachine"}
	machineTemplateKind = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "SimMachineTemplate"}
	configKind          = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1", Kind: "SimConfig"}
	configTemplateKind  = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1", Kind: "SimConfigTemplate"}
	controlPlaneKind    = schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1", Kind: "SimControlPlane"}
)

func objectOf(kind schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u
}

// addProvider adds the provider's reconcilers to a manager.
func addProvider(m ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(m).Named("simconfig").For(objectOf(configKind)).Complete(bootstrap(m.GetClient()))
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(m).Named("simmachine").For(objectOf(machineKind)).Complete(infrastructure(m.GetClient()))
}

// bootstrap writes the data that a machine begins with.
func bootstrap(c client.Client) reconcile.Func {
	return func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
		config := objectOf(configKind)
		if err := c.Get(ctx, r.NamespacedName, config); err != nil || config.GetDeletionTimestamp() != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		if done, _, _ := unstructured.NestedBool(config.Object, "status", "initialization", "dataSecretCreated"); done {
			return ctrl.Result{}, nil
		}
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: r.Namespace, Name: r.Name, Labels: map[string]string{clusterv1.ClusterNameLabel: config.GetLabels()[clusterv1.ClusterNameLabel]},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(config, configKind)},
			},
			Type: clusterv1.ClusterSecretType, Data: map[string][]byte{"value": []byte("#cloud-config")},
		}
		if err := c.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
			return ctrl.Result{}, err
		}
		before := config.DeepCopy()
		config.Object["status"] = map[string]any{"dataSecretName": r.Name, "initialization": map[string]any{"dataSecretCreated": true}}
		return ctrl.Result{}, c.Status().Patch(ctx, config, client.MergeFrom(before))
	}
}

// boots is how long a machine takes until its kubelet registers the node.
const boots = 10 * time.Second

// infrastructure launches a machine when its Machine has data to begin with. It ends with its Node, which Cluster API deletes
// when the SimMachine is gone.
func infrastructure(c client.Client) reconcile.Func {
	return func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
		is := objectOf(machineKind)
		if err := c.Get(ctx, r.NamespacedName, is); err != nil || is.GetDeletionTimestamp() != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		later := ctrl.Result{RequeueAfter: time.Second}
		owner := metav1.GetControllerOf(is)
		if owner == nil || owner.Kind != "Machine" {
			return later, nil
		}
		var machine clusterv1.Machine
		if err := c.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: owner.Name}, &machine); err != nil {
			return ctrl.Result{}, err
		}
		if machine.Spec.Bootstrap.DataSecretName == nil {
			return later, nil
		}
		id := "sim:///" + r.Name
		if found, _, _ := unstructured.NestedString(is.Object, "spec", "providerID"); found == "" {
			before := is.DeepCopy()
			if err := unstructured.SetNestedField(is.Object, id, "spec", "providerID"); err != nil {
				return ctrl.Result{}, err
			}
			if err := c.Patch(ctx, is, client.MergeFrom(before)); err != nil {
				return ctrl.Result{}, err
			}
			before = is.DeepCopy()
			is.Object["status"] = map[string]any{"initialization": map[string]any{"provisioned": true}}
			return ctrl.Result{RequeueAfter: boots}, c.Status().Patch(ctx, is, client.MergeFrom(before))
		}
		if left := boots - time.Since(is.GetCreationTimestamp().Time); left > 0 {
			return ctrl.Result{RequeueAfter: left}, nil
		}
		return ctrl.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, place.Machine(r.Name, id)))
	}
}
