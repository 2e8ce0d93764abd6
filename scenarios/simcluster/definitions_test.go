package simcluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/nodesim/nodesim/scenarios/simcluster"
)

// A tape has the objects of what a client has defined, and lists their resource.
func TestATapeHasCustomResources(t *testing.T) {
	c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
	d, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	text := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster",
"names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer","default":3}}}}}]}}`
	if err := json.Unmarshal([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		t.Fatal(err)
	}
	crds := apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	if _, err := d.Resource(crds).Create(t.Context(), &unstructured.Unstructured{Object: u}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	widget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}}}
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	if widget, err = d.Resource(widgets).Create(t.Context(), widget, metav1.CreateOptions{}); err != nil || widget.Object["size"] != int64(3) {
		t.Fatal(err, widget)
	}
	events, err := c.Tape().Open()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Resource == "widgets.example.com" && strings.Contains(string(ev.Object), `"size":3`) {
			found++
		}
	}
	if err := events.Close(); err != nil {
		t.Error(err)
	}
	if r, listed := events.Header().Lookup("widgets.example.com"); found != 1 || !listed || r.Kind != "Widget" {
		t.Errorf("the tape has %d widgets, of %+v", found, r)
	}
}

// What there is of other definitions isn't looked at again when one is installed.
func TestDefinitionsAreServedOnce(t *testing.T) {
	c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
	d, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	const all = 30
	for i := range all {
		plural, kind := fmt.Sprintf("w%ds", i), fmt.Sprintf("W%d", i)
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + ".example.com"},
			"spec": map[string]any{
				"group": "example.com", "scope": "Cluster", "names": map[string]any{"plural": plural, "kind": kind},
				"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}},
			},
		}}
		crds := apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
		if _, err := d.Resource(crds).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		one := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind, "metadata": map[string]any{"name": "a"}}}
		if _, err := d.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: plural}).Create(t.Context(), one, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Player().Cluster().Definitions(); got > 2*all {
		t.Errorf("%d definitions were served %d times: want %d at most", all, got, 2*all)
	}
}
