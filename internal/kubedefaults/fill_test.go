package kubedefaults_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/internal/kubedefaults"
)

// samples are the objects of testdata/samples.yaml as a server has read them, before it fills in anything.
func samples(t testing.TB) (all []unstructured.Unstructured) {
	t.Helper()
	raw, err := os.ReadFile("testdata/samples.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for d := yaml.NewYAMLToJSONDecoder(bytes.NewReader(raw)); ; {
		u := unstructured.Unstructured{}
		err := d.Decode(&u)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		typed, err := apischeme.Scheme().New(u.GroupVersionKind())
		if err != nil {
			t.Fatal(err)
		}
		gvk := u.GroupVersionKind()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, typed, true); err != nil {
			t.Fatal(u.GetName(), err)
		}
		if u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
			t.Fatal(err)
		}
		u.SetGroupVersionKind(gvk)
		all = append(all, u)
	}
}

func filled(u unstructured.Unstructured) map[string]any {
	gvk := u.GroupVersionKind()
	object := u.DeepCopy().Object
	kubedefaults.Fill(gvk.Group, gvk.Version, gvk.Kind, object)
	return object
}

// leaves holds what an object says, by path.
func leaves(v any, at string, into map[string]string) map[string]string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			into[at] = "{}"
		}
		for name, v := range v {
			leaves(v, at+"."+name, into)
		}
	case []any:
		if len(v) == 0 {
			into[at] = "[]"
		}
		for i, v := range v {
			leaves(v, fmt.Sprintf("%s[%d]", at, i), into)
		}
	case nil:
	default:
		into[at] = fmt.Sprint(v)
	}
	return into
}

// What is filled in, object by object; the test with a control plane compares the same with kube-apiserver.
func TestFill(t *testing.T) {
	var said strings.Builder
	for _, u := range samples(t) {
		fmt.Fprintf(&said, "%s %s\n", u.GetKind(), u.GetName())
		was, is := leaves(u.Object, "", map[string]string{}), filled(u)
		var lines []string
		for path, v := range leaves(is, "", map[string]string{}) {
			if old, had := was[path]; !had || old != v {
				lines = append(lines, fmt.Sprintf("  %s: %s\n", path[1:], v))
			}
		}
		slices.Sort(lines)
		said.WriteString(strings.Join(lines, ""))
		again := filled(unstructured.Unstructured{Object: is})
		if diff := cmp.Diff(is, again); diff != "" {
			t.Errorf("%s %s, filled in twice (-once +twice):\n%s", u.GetKind(), u.GetName(), diff)
		}
	}
	golden.Assert(t, "filled", said.String())
}
