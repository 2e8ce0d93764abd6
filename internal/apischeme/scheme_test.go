package apischeme

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// leftOut are the groups' versions of client-go that this scheme doesn't have: no supported Kubernetes serves them unless it is
// told to.
var leftOut = []string{
	"admissionregistration.k8s.io/v1alpha1", "admissionregistration.k8s.io/v1beta1", "apps/v1beta1", "apps/v1beta2",
	"authentication.k8s.io/v1alpha1", "authentication.k8s.io/v1beta1", "authorization.k8s.io/v1beta1",
	"autoscaling/v2beta1", "autoscaling/v2beta2", "batch/v1beta1",
	"certificates.k8s.io/v1alpha1", "certificates.k8s.io/v1beta1", "coordination.k8s.io/v1alpha2",
	"coordination.k8s.io/v1beta1", "discovery.k8s.io/v1beta1", "events.k8s.io/v1beta1", "extensions/v1beta1",
	"flowcontrol.apiserver.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta2", "flowcontrol.apiserver.k8s.io/v1beta3",
	"internal.apiserver.k8s.io/v1alpha1", "networking.k8s.io/v1beta1", "node.k8s.io/v1alpha1", "node.k8s.io/v1beta1",
	"rbac.authorization.k8s.io/v1alpha1", "rbac.authorization.k8s.io/v1beta1", "resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2",
	"scheduling.k8s.io/v1alpha1", "scheduling.k8s.io/v1beta1", "storage.k8s.io/v1alpha1", "storage.k8s.io/v1beta1", "storagemigration.k8s.io/v1beta1",
	"extensions/__internal", "internal.apiserver.k8s.io/__internal", "storagemigration.k8s.io/__internal", // where nothing else of the group is left
}

// TestScheme compares with client-go's: what isn't left out by name is the same. Of definitions of custom resources
// client-go knows nothing.
func TestScheme(t *testing.T) {
	theirs, ours := scheme.Scheme.AllKnownTypes(), Scheme().AllKnownTypes()
	missing := map[string]bool{}
	for kind, want := range theirs {
		version := kind.GroupVersion().String()
		switch got, ok := ours[kind]; {
		case slices.Contains(leftOut, version):
			missing[version] = true
		case !ok || got != want:
			t.Errorf("%s: got %v, want %v", kind, got, want)
		}
	}
	for kind := range ours {
		if kind.Group == "apiextensions.k8s.io" {
			continue
		}
		if _, ok := theirs[kind]; !ok || slices.Contains(leftOut, kind.GroupVersion().String()) {
			t.Errorf("%s: found in the scheme: want it left out", kind)
		}
	}
	for _, version := range leftOut {
		if !missing[version] {
			t.Errorf("%s: client-go doesn't have it: want it off the list", version)
		}
	}
}

// TestSchemeIsItsOwn proves that kinds that a program adds to client-go's scheme aren't in this one.
func TestSchemeIsItsOwn(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	scheme.Scheme.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
	if Scheme().Recognizes(kind) {
		t.Errorf("%s: found in the scheme: want it in client-go's alone", kind)
	}
}
