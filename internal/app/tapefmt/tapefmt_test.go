package tapefmt_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/app/tapefmt"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// demo writes the demo's tape and returns its text, uncompressed.
func demo(t *testing.T, path string) string {
	t.Helper()
	s, err := scenarios.Find("demo")
	if err != nil {
		t.Fatal(err)
	}
	header, _ := scenarios.Demo()
	w, err := timeline.Create(path, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := tapefmt.File(t.Context(), &text, path, timeline.StyleLines); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestThereAndBackInPlace(t *testing.T) {
	for _, ending := range []string{".yaml", ".yaml.gz", ".yaml.zst"} {
		path := filepath.Join(t.TempDir(), "roll"+ending)
		want := demo(t, path)
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		magic := read(t, path)[:4]
		for _, style := range []timeline.Style{timeline.StyleBlock, timeline.StyleJSON, timeline.StyleLines} {
			torn, changed, err := tapefmt.InPlace(t.Context(), path, style)
			if err != nil || torn != "" || !changed {
				t.Fatalf("%s to %s: torn %q, changed %v, %v", ending, style, torn, changed, err)
			}
			if _, changed, err := tapefmt.InPlace(t.Context(), path, style); changed || err != nil {
				t.Errorf("%s to %s again: changed %v, %v", ending, style, changed, err)
			}
			if ending != ".yaml" && !bytes.Equal(read(t, path)[:4], magic) {
				t.Errorf("%s to %s: no longer compressed", ending, style)
			}
		}
		var got bytes.Buffer
		if _, err := tapefmt.File(t.Context(), &got, path, timeline.StyleLines); err != nil || got.String() != want {
			t.Errorf("%s: came back as something else: %v", ending, err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v, %v", ending, info.Mode(), err)
		}
	}
}

func TestErrorLeavesTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "roll.yaml")
	bad := demo(t, path) + "--- {\"at\":\"oops\"}\n"
	if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	_, changed, err := tapefmt.InPlace(t.Context(), path, timeline.StyleBlock)
	if err == nil || changed || string(read(t, path)) != bad {
		t.Errorf("changed %v, %v", changed, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("found %v beside the tape, %v", entries, err)
	}
}

func TestLinkStays(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "roll.yaml"), filepath.Join(dir, "link.yaml")
	demo(t, path)
	if err := os.Symlink("roll.yaml", link); err != nil {
		t.Fatal(err)
	}
	if _, changed, err := tapefmt.InPlace(t.Context(), link, timeline.StyleBlock); err != nil || !changed {
		t.Fatal(changed, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "roll.yaml" || !strings.Contains(string(read(t, path)), "\n---\n") {
		t.Errorf("link to %q, %v", to, err)
	}
}

func TestTornEndIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "roll.yaml")
	text := demo(t, path)
	if err := os.WriteFile(path, []byte(text[:len(text)-5]), 0o644); err != nil {
		t.Fatal(err)
	}
	torn, _, err := tapefmt.InPlace(t.Context(), path, timeline.StyleLines)
	if err != nil || torn == "" {
		t.Errorf("torn %q, %v", torn, err)
	}
}

func TestFolderIsRefused(t *testing.T) {
	if _, _, err := tapefmt.InPlace(t.Context(), t.TempDir(), timeline.StyleLines); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("got %v", err)
	}
}
