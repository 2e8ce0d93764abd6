package record_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/recorder"
)

const watched = `{"t":"2026-11-20T22:21:05Z","resource":"nodes","event":{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"5"}}}}` + "\n"

// An import that fails leaves nothing behind, whether or not the tape had
// begun, and an import never takes away what was there before.
func TestFailedImportLeavesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "roll.yaml")
	o := recorder.ImportOptions{Input: "x", Name: "x"}
	begun := &failing{Reader: strings.NewReader(watched), name: name}
	for story, in := range map[string]io.Reader{"a bad dump": strings.NewReader(watched + "nonsense\n"), "a disk that fails": begun} {
		_, err := record.Import(t.Context(), in, name, o)
		if _, stat := os.Stat(name); err == nil || !errors.Is(stat, os.ErrNotExist) {
			t.Errorf("%s: %v leaves the file: %v", story, err, stat)
		}
	}
	if begun.size == 0 {
		t.Error("no import had begun its tape")
	}
	if _, err := record.Import(t.Context(), strings.NewReader(watched), name, o); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = record.Import(t.Context(), strings.NewReader("nonsense"), name, o)
	if after, _ := os.ReadFile(name); err == nil || string(after) != string(before) {
		t.Errorf("a tape that was there: %v, and now %q", err, after)
	}
}

// failing fails from when the tape has begun on.
type failing struct {
	*strings.Reader
	name string
	size int64 // of the tape, then
}

func (f *failing) Read(p []byte) (int, error) {
	if info, err := os.Stat(f.name); err == nil {
		f.size = info.Size()
		return 0, errors.New("input/output error")
	}
	return f.Reader.Read(p)
}
