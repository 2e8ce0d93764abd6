package formats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/recorder/formats"
	"github.com/nodesim/nodesim/timeline"
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
	text := textOf(t, d)
	clean(t, text)
	if strings.Count(text, "\n") != 2 || strings.Count(text, `"kind":"Node"`) != 2 {
		t.Errorf("found\n%s\nwant one node and the end of its list", text)
	}
}

// A kind may have more objects than one List that an import reads, and the newest one, whatever its name, says when that was.
func TestStateOfManyObjects(t *testing.T) {
	folder := t.TempDir()
	var items []string
	for i, name := range []string{"a", "b", "c"} {
		items = append(items, fmt.Sprintf(`{"metadata":{"name":%q,"uid":"u%d","resourceVersion":"%d","creationTimestamp":"2026-11-20T09:%d0:00Z","annotations":{"example.com/x":%q}}}`,
			name, i, 10+i, i, strings.Repeat("x", 12<<20)))
	}
	list := `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"20"},"items":[` + strings.Join(items, ",") + `]}`
	if err := os.WriteFile(filepath.Join(folder, "nodes.json"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := formats.OpenFolder(t.Context(), folder)
	tape, _, err := imported(t, d, err)
	if err != nil {
		t.Fatal(err)
	}
	r, err := timeline.NewReader(strings.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	if at := r.Header().Metadata.Start.UTC().Format(time.TimeOnly); at != "09:20:00" || strings.Count(tape, `"type":"ADDED"`) != 3 {
		t.Errorf("begins at %s, want 09:20:00, with three nodes:\n%.600s", at, tape)
	}
}
