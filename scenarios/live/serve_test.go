package live

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios"
)

// A kind that the server refuses to define, and one that it never serves, are gone on
// without, each said once.
func TestKindsThatAreNotServed(t *testing.T) {
	kind := func(resource string) scenarios.CustomKind {
		return scenarios.CustomKind{GroupVersionResource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: resource}, Kind: resource}
	}
	synctest.Test(t, func(t *testing.T) {
		served, refused, silent := kind("served"), kind("refused"), kind("unheard")
		lists := map[schema.GroupVersionResource]string{definitionsResource: "CustomResourceDefinitionList"}
		for _, k := range []scenarios.CustomKind{served, refused, silent} {
			lists[k.GroupVersionResource] = "List"
		}
		client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
		client.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			name := a.(clienttesting.CreateAction).GetObject().(metav1.Object).GetName()
			return strings.HasPrefix(name, refused.Resource), nil, apierrors.NewForbidden(definitionsResource.GroupResource(), name, errors.New("a policy"))
		})
		client.PrependReactor("list", silent.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewNotFound(silent.GroupResource(), "")
		})
		var said []string
		r := &run{
			Runner:  &Runner{label: "surge", clock: clock.RealClock{}, warn: func(err error) { said = append(said, err.Error()) }},
			clients: &clients{dynamic: client}, undefined: []scenarios.CustomKind{served, refused, silent},
			apiServer: &apiServer{prerequisites: &prerequisites{label: "surge", client: client}, customResources: &customResources{kinds: []scenarios.CustomKind{served, refused, silent}}},
		}
		if err := r.define(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := r.apiServer.customResources.written(); !slices.Equal(left, []scenarios.CustomKind{served}) {
			t.Errorf("%v are written, want what is served", left)
		}
		if len(said) != 2 || !strings.Contains(said[0], "leaving out refused.example.com: create") || !strings.Contains(said[1], "leaving out unheard.example.com: their definition") {
			t.Errorf("said %q", said)
		}
	})
}
