package openapi

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Every captured schema and path reads, and refers to what is captured too.
func TestCapturedReads(t *testing.T) {
	if n, m := len(captured().Schemas), len(captured().Paths); n < 700 || m < 250 {
		t.Errorf("found %d schemas and %d paths, want those of all groups", n, m)
	}
	l := newLibrary(true)
	for name, raw := range captured().Schemas {
		if err := json.Unmarshal(raw, &spec.Schema{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		l.add(name)
	}
	for path := range captured().Paths {
		text := captured().path(path)
		if err := json.Unmarshal([]byte(text), &spec.PathItem{}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		l.addRefs(text)
	}
	if found, want := len(l.schemas), len(captured().Schemas); found != want {
		t.Errorf("found %d schemas with those that are referred to, want %d", found, want)
	}
	for kind, name := range captured().Kinds {
		if captured().Schemas[name] == nil {
			t.Errorf("%s: found no schema %s", kind, name)
		}
	}
}

func TestDocumentsThatAreBroken(t *testing.T) {
	for what, text := range map[string]string{"nothing": "", "no gzip": "{}", "cut off": string(compressed[:len(compressed)/2])} {
		if _, err := read([]byte(text)); err == nil {
			t.Errorf("%s: found no error", what)
		}
	}
}

// A kind in a version that the captured server doesn't serve is described like its newest one.
func TestModelsOfOtherVersions(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]string{
		{Version: "v1", Kind: "Node"}:                                                    "io.k8s.api.core.v1.Node",
		{Group: "policy", Version: "v1beta1", Kind: "PodDisruptionBudget"}:               "io.k8s.api.policy.v1.PodDisruptionBudget",
		{Group: "autoscaling", Version: "v2beta2", Kind: "HorizontalPodAutoscaler"}:      "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
		{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim"}:                        "",
	} {
		if found := captured().model(kind); found != want {
			t.Errorf("%s: found %q, want %q", kind, found, want)
		}
	}
}
