package writes

import (
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nodesim/nodesim/replay/internal/crd"
	"github.com/nodesim/nodesim/timeline"
)

var scaleKind = kind{builtIn: true, Resource: timeline.Resource{Group: "autoscaling", Version: "v1", Kind: "Scale", Resource: "scales", Namespaced: true}}

// scale is the number of replicas of a workload
// (kubernetes/pkg/registry/apps/deployment/storage/storage.go).
func (w *write) scale() view {
	v := w.main()
	v.creates = false
	v.kind = scaleKind
	v.shown = w.kind.scaleOf
	v.merged = w.scaled
	return v
}

// counts are where a kind says how many replicas it wants and has, and by which
// labels they are known.
func (k kind) counts() (spec, status, selector []string) {
	if k.version == nil || k.version.Scale == nil {
		return []string{"spec", "replicas"}, []string{"status", "replicas"}, []string{"spec", "selector"}
	}
	s := k.version.Scale
	if s.LabelSelectorPath != nil {
		selector = crd.Path(*s.LabelSelectorPath)
	}
	return crd.Path(s.SpecReplicasPath), crd.Path(s.StatusReplicasPath), selector
}

func (k kind) scaleOf(u unstructured.Unstructured) (unstructured.Unstructured, error) {
	s := autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: u.GetName(), Namespace: u.GetNamespace(), UID: u.GetUID(),
		ResourceVersion: u.GetResourceVersion(), CreationTimestamp: u.GetCreationTimestamp(),
	}}
	wanted, has, by := k.counts()
	s.Spec.Replicas, s.Status.Replicas = number(u, wanted...), number(u, has...)
	if k.version != nil {
		if _, said, _ := unstructured.NestedInt64(u.Object, wanted...); !said {
			return u, fmt.Errorf("the spec replicas field %q does not exist", k.version.Scale.SpecReplicasPath)
		}
		if len(by) > 0 {
			s.Status.Selector, _, _ = unstructured.NestedString(u.Object, by...)
		}
	} else if selector, found, _ := unstructured.NestedMap(u.Object, by...); found {
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
	// An update of a custom resource's scale needs no version, though one of the resource does (UpdatedObject of
	// k8s.io/apiextensions-apiserver/pkg/registry/customresource/etcd.go).
	if rv := sent.GetResourceVersion(); rv != "" || w.kind.builtIn {
		u.SetResourceVersion(rv)
	}
	wanted, _, _ := w.kind.counts()
	return u, unstructured.SetNestedField(u.Object, replicas, wanted...)
}

// View returns what makes of a stored custom resource what a client of a version
// sees, nil where that is what is stored, and what a server warns of with each
// answer in that version, "" where it isn't deprecated.
func View(definition []byte, version string) (view func(raw []byte) ([]byte, error), warning string) {
	if definition == nil {
		return nil, ""
	}
	d, err := crd.Read(definition)
	if err != nil || d.Version(version) == nil {
		return nil, ""
	}
	if warning = d.Version(version).Warning; d.Plain() {
		return nil, warning
	}
	return func(raw []byte) ([]byte, error) {
		content := map[string]any{}
		if err := utiljson.Unmarshal(raw, &content); err != nil {
			return nil, err
		}
		d.View(content, version)
		return json.Marshal(content)
	}, warning
}

// Scale returns what a get of a workload's subresource scale shows, as JSON.
// definition is that of a custom resource in this version, or nil.
func Scale(workload, definition []byte, version string) ([]byte, error) {
	var u unstructured.Unstructured
	if err := utiljson.Unmarshal(workload, &u.Object); err != nil {
		return nil, err
	}
	k := kind{}
	if definition != nil {
		d, err := crd.Read(definition)
		if err != nil {
			return nil, err
		}
		k.version = d.Version(version)
	}
	scale, err := k.scaleOf(u)
	if err != nil {
		return nil, err
	}
	return json.Marshal(scale.Object)
}
