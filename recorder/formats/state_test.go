package formats_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder/formats"
)

// In a namespace that has the name of a resource nothing is taken but the kinds that a roll is about, and JSON is read as
// JSON: it may hold U+007F, which YAML forbids.
func TestStateOfKindsOnly(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"nodes.json": `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"12"},"items":[
			{"metadata":{"name":"a","uid":"u1","resourceVersion":"10","creationTimestamp":"2026-11-20T09:00:00Z","labels":{"x":"` + "\x7f" + `"}}}]}`,
		"events/configmaps.json": `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"12"},"items":[
			{"metadata":{"name":"settings","namespace":"events","resourceVersion":"10"},"data":{"x":"hunter2"}}]}`,
		"namespaces/pods/core/secrets.yaml": "apiVersion: v1\nkind: SecretList\nitems:\n- apiVersion: v1\n  kind: Secret\n" +
			"  metadata: {name: key, namespace: pods, resourceVersion: \"9\"}\n  data: {x: aHVudGVyMg==}\n",
		"namespaces/pods/core/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: pods, resourceVersion: \"9\"}\ndata: {x: aHVudGVyMg==}\n",
	} {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := formats.OpenFolder(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	dump, err := io.ReadAll(d)
	if err != nil {
		t.Fatal(err)
	}
	clean(t, string(dump))
	if text := string(dump); strings.Count(text, "\n") != 1 || !strings.Contains(text, `"kind":"NodeList"`) {
		t.Errorf("found\n%s\nwant one list, of nodes", text)
	}
}
