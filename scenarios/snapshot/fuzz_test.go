package snapshot_test

import (
	"bytes"
	"testing"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// FuzzObjects: whatever objects hold, a file that is made of them reads as the same file, and holds nothing that acts on a terminal.
func FuzzObjects(f *testing.F) {
	t := &testing.T{}
	for seed := range uint64(4) {
		f.Add(bytes.Join(random(t, seed).raw(), []byte("\n")), seed%2 == 0)
	}
	f.Add(bytes.Join(shop(t).raw(), []byte("\n")), true)
	f.Fuzz(func(t *testing.T, lines []byte, hide bool) {
		var r snapshot.Reading
		for line := range bytes.SplitSeq(lines, []byte("\n")) {
			object, err := rawjson.Compact(nil, line)
			if err != nil {
				continue
			}
			if r.Add(rawjson.Text(object, "apiVersion"), rawjson.Text(object, "kind"), object) != nil {
				return
			}
		}
		o := snapshot.Options{}
		if hide {
			o.Key = []byte("a key")
		}
		file, err := r.File(o)
		if err != nil {
			if bytes.ContainsAny([]byte(err.Error()), "\n\x1b") {
				t.Errorf("found an error of several lines: %q", err)
			}
			return
		}
		text := written(t, file)
		if bytes.ContainsRune([]byte(text), '\x1b') {
			t.Errorf("found an escape in\n%s", text)
		}
		again, err := spec.Parse("cluster.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		resolved, err := again.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if next := written(t, resolved); next != text {
			t.Errorf("written again it is\n%s\nwant\n%s", next, text)
		}
	})
}
