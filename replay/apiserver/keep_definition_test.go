package apiserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	gvr "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/timeline"
)

var definitionsOf = timeline.Resource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"}

const gadget = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"gadgets","kind":"Gadget","shortNames":["gd"]},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}],"selectableFields":[{"jsonPath":".spec.color"}],
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","description":"How large it is."},"color":{"type":"string","default":"red"}}}}}}}]}}`

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// get is a document of a server in this process, as one of some media type.
func get(t *testing.T, config *rest.Config, path, accept string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	res, err := config.Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return string(raw)
}

// What a client defines is there at once: in discovery, in OpenAPI, for informers and for tables.
func TestClientsDefineResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := keeping(t, nil, definitionsOf)
		config := s.RESTConfig()
		ctx, cancel := context.WithCancel(t.Context())
		c := dynamic.NewForConfigOrDie(config)
		about := discovery.NewDiscoveryClientForConfigOrDie(config)
		crds := c.Resource(gvr.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
		if _, err := crds.Create(ctx, parsed(t, gadget), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		resources, err := about.ServerResourcesForGroupVersion("example.com/v1")
		if err != nil || len(resources.APIResources) != 2 || resources.APIResources[0].ShortNames[0] != "gd" {
			t.Error(err, resources)
		}
		if all := get(t, config, "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"); !strings.Contains(all, `"responseKind":{"group":"example.com","version":"v1","kind":"Gadget"}`) {
			t.Error("aggregated discovery doesn't have it:", all)
		}
		for path, want := range map[string]string{
			"/openapi/v3": "apis/example.com/v1", "/openapi/v3/apis/example.com/v1": "How large it is.", "/openapi/v2": "com.example.v1.Gadget",
		} {
			if text := get(t, config, path, "application/json"); !strings.Contains(text, want) {
				t.Errorf("%s doesn't have %q", path, want)
			}
		}
		gadgets := gvr.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}
		informers := dynamicinformer.NewDynamicSharedInformerFactory(c, 0)
		known := informers.ForResource(gadgets).Lister()
		informers.Start(ctx.Done())
		informers.WaitForCacheSync(ctx.Done())
		for _, text := range []string{
			`{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":1}}`,
			`{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"b"},"spec":{"size":2,"color":"blue"}}`,
		} {
			if _, err := c.Resource(gadgets).Namespace("team").Create(ctx, parsed(t, text), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if o, err := known.ByNamespace("team").Get("a"); err != nil || o.(*unstructured.Unstructured).Object["spec"].(map[string]any)["color"] != "red" {
			t.Error(err, o)
		}
		l, err := c.Resource(gadgets).List(ctx, metav1.ListOptions{FieldSelector: "spec.color=blue"})
		if err != nil || len(l.Items) != 1 || l.Items[0].GetName() != "b" {
			t.Error(err, l)
		}
		var table metav1.Table
		if err := json.Unmarshal([]byte(get(t, config, "/apis/example.com/v1/gadgets", "application/json;as=Table;v=v1;g=meta.k8s.io")), &table); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{"a", float64(1)}, table.Rows[0].Cells); diff != "" {
			t.Error(diff)
		}
		if err := crds.Delete(ctx, "gadgets.example.com", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if left, err := known.List(labels.Everything()); err != nil || len(left) > 0 {
			t.Error(err, left)
		}
		if _, err := about.ServerResourcesForGroupVersion("example.com/v1"); err == nil {
			t.Error("its group is there still")
		}
		if _, err := crds.Create(ctx, parsed(t, gadget), metav1.CreateOptions{}); err != nil {
			t.Error("define it again:", err)
		}
		cancel()
		informers.Shutdown()
		stop()
	})
}

// A status that has a default has it from the beginning, whatever the client sent.
func TestAStatusHasItsDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := keeping(t, nil, definitionsOf)
		defer stop()
		c := dynamic.NewForConfigOrDie(s.RESTConfig())
		definition := strings.Replace(gadget, `"properties":{"spec"`, `"properties":{"status":{"type":"object","default":{"phase":"Ready"},"properties":{"phase":{"type":"string"}}},"spec"`, 1)
		crds := c.Resource(gvr.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
		if _, err := crds.Create(t.Context(), parsed(t, definition), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		gadgets := c.Resource(gvr.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}).Namespace("default")
		u := parsed(t, `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"},"status":{"phase":"Broken"}}`)
		u, err := gadgets.Create(t.Context(), u, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase != "Ready" {
				t.Errorf("phase %q, want Ready", phase)
			}
			if u, err = gadgets.Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// While a definition waits for its objects' finalizers nothing is created, and a deprecated version warns with each answer.
func TestADefinitionThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := keeping(t, nil, definitionsOf)
		defer stop()
		config := s.RESTConfig()
		c := dynamic.NewForConfigOrDie(config)
		crds := c.Resource(gvr.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
		if _, err := crds.Create(t.Context(), parsed(t, strings.Replace(gadget, `"served":true`, `"served":true,"deprecated":true`, 1)), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/apis/example.com/v1/gadgets", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := config.Transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if got := res.Header.Get("Warning"); got != `299 - "example.com/v1 Gadget is deprecated"` {
			t.Errorf("found the warning %q", got)
		}
		gadgets := c.Resource(gvr.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}).Namespace("default")
		object := func(name string) *unstructured.Unstructured {
			return parsed(t, `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"`+name+`","finalizers":["example.com/stay"]}}`)
		}
		for _, name := range []string{"a", "b"} {
			if _, err := gadgets.Create(t.Context(), object(name), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := crds.Delete(t.Context(), "gadgets.example.com", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		_, created := gadgets.Create(t.Context(), object("c"), metav1.CreateOptions{})
		_, applied := gadgets.Apply(t.Context(), "d", object("d"), metav1.ApplyOptions{FieldManager: "m"})
		for what, err := range map[string]error{"create": created, "apply": applied} {
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "create not allowed while custom resource definition is terminating") {
				t.Errorf("%s: found the error %v", what, err)
			}
		}
		for _, name := range []string{"a", "b"} {
			if _, err := gadgets.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := crds.Get(t.Context(), "gadgets.example.com", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the definition is left: %v", err)
		}
	})
}

// A definition of what Kubernetes has built in, or of another scope than a listed resource has, changes nothing of these, and nothing of discovery.
func TestDefinitionsOfWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := gvr.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
		s, stop := keeping(t, nil, definitionsOf)
		defer stop()
		config := s.RESTConfig()
		c := dynamic.NewForConfigOrDie(config)
		lease := parsed(t, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":{}}`)
		if _, err := c.Resource(leases).Namespace("default").Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		crds := c.Resource(gvr.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
		other := strings.NewReplacer("gadgets.example.com", "leases.coordination.k8s.io", `"group":"example.com"`, `"group":"coordination.k8s.io"`,
			`"plural":"gadgets"`, `"plural":"leases"`, `"metadata":{`, `"metadata":{"annotations":{"api-approved.kubernetes.io":"https://example.com"},`).Replace(gadget)
		for _, text := range []string{other, gadget} {
			if _, err := crds.Create(t.Context(), parsed(t, text), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if all := get(t, config, "/apis/example.com/v1", "application/json"); !strings.Contains(all, `"gadgets"`) {
			t.Error("what is defined afterwards isn't there:", all)
		}
		if err := crds.Delete(t.Context(), "leases.coordination.k8s.io", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Resource(leases).Namespace("default").Get(t.Context(), "l", metav1.GetOptions{}); err != nil {
			t.Error("the Lease:", err)
		}
	})
}
