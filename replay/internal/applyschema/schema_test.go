package applyschema

import (
	"regexp"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// unstable are versions that may go with any minor, and gone what was alpha in 1.35.
var (
	unstable = regexp.MustCompile(`\.v\d+(alpha|beta)\d+\.`)
	gone     = []string{"io.k8s.api.core.v1.WorkloadReference", "workloadRef"}
)

// The schema has what client-go's has, which is the same or older: go generate ./replay/internal/applyschema makes it again.
func TestSchemaHasClientGos(t *testing.T) {
	node := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}}
	theirs, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(node)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := TypeConverter().ObjectToTyped(node)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(theirs.Schema().Types); n < 700 {
		t.Errorf("client-go's schema has %d types: want those of all groups", n)
	}
	types := map[string]schema.Atom{}
	for _, d := range ours.Schema().Types {
		types[d.Name] = d.Atom
	}
	for _, d := range theirs.Schema().Types {
		if unstable.MatchString(d.Name) || slices.Contains(gone, d.Name) {
			continue
		}
		if got, want := rows(t, types[d.Name]), rows(t, d.Atom); !subset(want, got) {
			t.Errorf("%s: found\n%q\nwant all of client-go's,\n%q\nrun go generate ./replay/internal/applyschema", d.Name, got, want)
		}
	}
}

// rows are a type's fields, or what else it is, each as text. The schema caches other things once it is used.
func rows(t *testing.T, a schema.Atom) []string {
	t.Helper()
	var all []string
	for _, v := range []any{a.Scalar, a.List} {
		all = append(all, text(t, v))
	}
	if a.Map != nil {
		all = append(all, text(t, a.Map.ElementType), text(t, a.Map.ElementRelationship), text(t, a.Map.Unions))
		for _, f := range a.Map.Fields {
			if !slices.Contains(gone, f.Name) {
				all = append(all, text(t, f))
			}
		}
	}
	return all
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSchemaThatIsBroken(t *testing.T) {
	for what, text := range map[string]string{"nothing": "", "no gzip": "types: []", "cut off": string(compressed[:len(compressed)/2])} {
		if _, err := read([]byte(text)); err == nil {
			t.Errorf("%s: found no error", what)
		}
	}
}
