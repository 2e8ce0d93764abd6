package applyschema

import (
	"testing"

	"gopkg.in/yaml.v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// The schema is that of the client-go in go.mod: go generate ./replay/internal/applyschema makes it again.
func TestSchemaIsClientGos(t *testing.T) {
	node := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}}
	theirs, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(node)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := TypeConverter().ObjectToTyped(node)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(ours.Schema().Types); n < 700 {
		t.Errorf("the schema has %d types: want those of all groups", n)
	}
	// Compared as text: each of the two caches other things once it is used.
	got, want := text(t, ours.Schema()), text(t, theirs.Schema())
	if got != want {
		t.Error("the schema isn't that of client-go: want go generate ./replay/internal/applyschema")
	}
}

func text(t *testing.T, s *schema.Schema) string {
	t.Helper()
	b, err := yaml.Marshal(s)
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
