package daemon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/yaml.v3"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nodesim/nodesim/internal/apischeme"
)

// packaging is the folder of the chart, and of its objects for kustomize.
const packaging = "../../../packaging"

// rbac returns the objects of the chart's templates/rbac.yaml for a release that is called nodesim, with the chart's values, or with
// events=true and recorder.machines=true. Helm isn't needed: the template calls four functions, and
// TestTheChartsRightsAreThoseForKustomize compares the result with Helm's.
func rbac(t *testing.T, namespace string, everything bool) []runtime.Object {
	t.Helper()
	folder := filepath.Join(packaging, "helm", "nodesim")
	text, err := os.ReadFile(filepath.Join(folder, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	if everything {
		values["events"] = true
		values["recorder"].(map[string]any)["machines"] = true
	}
	functions := template.FuncMap{
		"include": func(name string, _ any) (string, error) {
			switch name {
			case "nodesim.name":
				return "nodesim", nil
			case "nodesim.labels":
				return "app.kubernetes.io/name: nodesim", nil
			}
			return "", fmt.Errorf("include %q: want nodesim.name or nodesim.labels; add it to this test", name)
		},
		"int":     func(n int) int { return n },
		"nindent": func(n int, line string) string { return "\n" + strings.Repeat(" ", n) + line },
		"toYaml": func(v any) (string, error) {
			text, err := json.Marshal(v)
			return string(text), err
		},
	}
	page, err := template.New("rbac.yaml").Funcs(functions).Option("missingkey=error").ParseFiles(filepath.Join(folder, "templates", "rbac.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := page.Execute(&out, map[string]any{"Values": values, "Release": map[string]any{"Name": "nodesim", "Namespace": namespace}}); err != nil {
		t.Fatal(err)
	}
	return objects(t, out.Bytes())
}

// objects are those of a file of YAML documents.
func objects(t *testing.T, text []byte) (all []runtime.Object) {
	t.Helper()
	for docs := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var raw runtime.RawExtension
		if err := docs.Decode(&raw); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if len(raw.Raw) == 0 { // comments alone
			continue
		}
		o, _, err := apischeme.Codecs().UniversalDeserializer().Decode(raw.Raw, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
}

// The chart's template allows what Helm has rendered for kustomize, and gives it to the same account.
func TestTheChartsRightsAreThoseForKustomize(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(packaging, "kustomize", "nodesim.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var want []runtime.Object
	for _, o := range objects(t, text) {
		switch o.(type) {
		case *corev1.ServiceAccount, *rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding, *rbacv1.Role, *rbacv1.RoleBinding:
			want = append(want, o)
		}
	}
	if diff := cmp.Diff(want, rbac(t, "nodesim", false), cmpopts.IgnoreFields(metav1.ObjectMeta{}, "Labels")); diff != "" {
		t.Errorf("templates/rbac.yaml (+) isn't what packaging/kustomize/nodesim.yaml has (-): run make kustomize\n%s", diff)
	}
}
