package writes

import (
	"encoding/json"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nodesim/nodesim/timeline"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

var scaleKind = kind{builtIn: true, Resource: timeline.Resource{Group: "autoscaling", Version: "v1", Kind: "Scale", Resource: "scales", Namespaced: true}}

// scale is the number of replicas of a workload
// (kubernetes/pkg/registry/apps/deployment/storage/storage.go).
func (w *write) scale() view {
	v := w.main()
	v.creates = false
	v.kind = scaleKind
	v.shown = scaleOf
	v.merged = w.scaled
	return v
}

func scaleOf(u unstructured.Unstructured) (unstructured.Unstructured, error) {
	s := autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: u.GetName(), Namespace: u.GetNamespace(), UID: u.GetUID(),
		ResourceVersion: u.GetResourceVersion(), CreationTimestamp: u.GetCreationTimestamp(),
	}}
	s.Spec.Replicas = number(u, "spec", "replicas")
	s.Status.Replicas = number(u, "status", "replicas")
	if selector, found, _ := unstructured.NestedMap(u.Object, "spec", "selector"); found {
		labels, err := as[metav1.LabelSelector](unstructured.Unstructured{Object: selector})
		if err != nil {
			return u, err
		}
		parsed, err := metav1.LabelSelectorAsSelector(labels)
		if err != nil {
			return u, err
		}
		s.Status.Selector = parsed.String()
	}
	return scaleKind.untyped(&s)
}

func number(u unstructured.Unstructured, path ...string) int32 {
	n, _, _ := unstructured.NestedInt64(u.Object, path...)
	return int32(n)
}

// scaled is the workload with the replicas that were asked for.
func (w *write) scaled(sent unstructured.Unstructured, live *object) (unstructured.Unstructured, error) {
	u := *live.DeepCopy()
	replicas, _, _ := unstructured.NestedInt64(sent.Object, "spec", "replicas")
	if replicas < 0 {
		return u, apierrors.NewInvalid(scaleKind.gvk().GroupKind(), w.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), replicas, "must be greater than or equal to 0").WithOrigin("minimum"),
		})
	}
	u.SetResourceVersion(sent.GetResourceVersion())
	return u, unstructured.SetNestedField(u.Object, replicas, "spec", "replicas")
}

// Scale returns what a get of a workload's subresource scale shows, as JSON.
func Scale(workload []byte) ([]byte, error) {
	var u unstructured.Unstructured
	if err := utiljson.Unmarshal(workload, &u.Object); err != nil {
		return nil, err
	}
	scale, err := scaleOf(u)
	if err != nil {
		return nil, err
	}
	return json.Marshal(scale.Object)
}
