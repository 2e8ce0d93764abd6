package tables

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
	"text/tabwriter"
	"time"

	"gopkg.in/yaml.v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/timeline"
)

// now is the moment of every table in testdata.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestRows prints the objects of testdata/<plural>.<group>.yaml, which an API server stores just so, and those of
// testdata/unstored, which tapes hold nevertheless, as tables into the golden files beside them.
func TestRows(t *testing.T) {
	for _, file := range filesOfObjects(t, "testdata/*.yaml", "testdata/unstored/*.yaml") {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".yaml")
		t.Run(name, func(t *testing.T) {
			objects := objectsOf(t, file)
			golden.Assert(t, name, show(t, For(resourceOf(file, objects[0]), nil), objects))
		})
	}
}

func filesOfObjects(t testing.TB, patterns ...string) (files []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: found %d files, want some: %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	return files
}

// resourceOf is the resource that a file's name tells, in the version of the object.
func resourceOf(file string, object []byte) timeline.Resource {
	plural, group, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), ".")
	var meta metav1.TypeMeta
	_ = json.Unmarshal(object, &meta) // an odd object has no version
	return timeline.Resource{Group: group, Version: meta.GroupVersionKind().Version, Resource: plural}
}

// show is a table with all columns, and the reasons of the rows' conditions at their ends.
func show(t testing.TB, p *Printer, objects [][]byte) string {
	t.Helper()
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	for _, column := range p.Columns() {
		fmt.Fprint(w, strings.ToUpper(column.Name), "\t")
	}
	fmt.Fprintln(w)
	for _, object := range objects {
		cells, conditions, err := p.Cells(object, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range cells {
			fmt.Fprint(w, cell, "\t")
		}
		for _, c := range conditions {
			fmt.Fprintf(w, "%s=%s: %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// objectsOf reads the documents of a YAML file as JSON.
func objectsOf(t testing.TB, file string) (objects [][]byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object map[string]any
		err := documents.Decode(&object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		objects = append(objects, raw)
	}
}
