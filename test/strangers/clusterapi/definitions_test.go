package clusterapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/yaml"
)

// definitions are those of the kinds of Cluster API's core, from its module, and of the provider.
func definitions(t *testing.T) (all []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"clusters", "machinedeployments", "machinedrainrules", "machinehealthchecks", "machinepools", "machines", "machinesets"} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "core", "config", "crd", "bases", "cluster.x-k8s.io_"+kind+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			t.Fatal(err)
		}
		all = append(all, &crd)
	}
	for _, kind := range []schema.GroupVersionKind{machineKind, machineTemplateKind, configKind, configTemplateKind, controlPlaneKind} {
		all = append(all, definition(kind))
	}
	return all
}

// definition says of a kind what Cluster API's contracts want said: the label names the version that keeps the contract.
func definition(kind schema.GroupVersionKind) *apiextensionsv1.CustomResourceDefinition {
	name := contract.CalculateCRDName(kind.Group, kind.Kind)
	plural, _, _ := strings.Cut(name, ".")
	free := true
	whatever := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &free}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": kind.Version}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind.Kind, ListKind: kind.Kind + "List", Plural: plural, Singular: strings.ToLower(kind.Kind)},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: kind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": whatever, "status": whatever},
				}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}
