package simcluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// definitions is what defines custom resources.
var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define defines a custom resource of example.com that may hold anything, and returns it.
func (f *family) define(d dynamic.Interface, plural, kind string) dynamic.NamespaceableResourceInterface {
	f.t.Helper()
	if _, err := d.Resource(definitions).Create(f.t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + ".example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": plural, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	return d.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: plural})
}

// Custom resources own others, are owned, and go with their namespace.
func TestCustomResourcesAreCollected(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx := t.Context()
		d, err := dynamic.NewForConfig(f.c.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		early := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "none", UID: "00000000-0000-0000-0000-000000000001"}
		f.add("default", "early", early)
		f.left("default", "early")

		widgets := f.define(d, "widgets", "Widget")
		f.left("default") // the kind is known now, and the owner isn't there
		add := func(namespace, name string, finalizers ...string) metav1.OwnerReference {
			t.Helper()
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
			o.SetName(name)
			o.SetFinalizers(finalizers)
			o, err := widgets.Namespace(namespace).Create(ctx, o, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			yes := true
			return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: name, UID: o.GetUID(), BlockOwnerDeletion: &yes}
		}
		for policy, left := range map[metav1.DeletionPropagation][]string{
			metav1.DeletePropagationBackground: nil, metav1.DeletePropagationForeground: nil, metav1.DeletePropagationOrphan: {"child"},
		} {
			f.add("default", "child", add("default", "owner"))
			if err := widgets.Namespace("default").Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
				t.Fatal(err)
			}
			if got := f.rest("default"); !slices.Equal(got, left) {
				t.Errorf("%s: left %q, want %q", policy, got, left)
			}
			if _, err := widgets.Namespace("default").Get(ctx, "owner", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("%s: the owner is left: %v", policy, err)
			}
			if left != nil {
				f.delete("default", "child", metav1.DeletePropagationBackground)
			}
		}

		if _, err := f.k.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		add("team", "held", "example.com/hold")
		add("team", "free")
		if err := f.k.CoreV1().Namespaces().Delete(ctx, "team", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		team, err := f.k.CoreV1().Namespaces().Get(ctx, "team", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := "Some resources are remaining: widgets.example.com has 1 resource instances"
		if !slices.ContainsFunc(team.Status.Conditions, func(c corev1.NamespaceCondition) bool { return c.Message == want }) {
			t.Errorf("conditions %+v, want %s", team.Status.Conditions, want)
		}
	})
}

// A custom resource may be called events: its objects are no Events, and go with their namespace and their owners.
func TestCustomResourceCalledEvents(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		d, err := dynamic.NewForConfig(f.c.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		parties := f.define(d, "events", "Party")
		if _, err := f.k.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "venue"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, namespace := range []string{"venue", "default"} {
			party := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Party"}}
			party.SetName("party")
			if namespace == "default" {
				party.SetOwnerReferences([]metav1.OwnerReference{by(f.add("default", "host"), false)})
			}
			if _, err := parties.Namespace(namespace).Create(t.Context(), party, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.k.CoreV1().Namespaces().Delete(t.Context(), "venue", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.delete("default", "host", metav1.DeletePropagationBackground)
		f.left("default")
		if list, err := parties.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
			t.Errorf("left %v, %v", list, err)
		}
		if _, err := f.k.CoreV1().Namespaces().Get(t.Context(), "venue", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the namespace is left: %v", err)
		}
	})
}
