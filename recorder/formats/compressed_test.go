package formats_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder/formats"
)

// A dump of watch events that is compressed makes the same tape, from what can be sought in as from what can't.
func TestCompressedDumps(t *testing.T) {
	dump := []byte(`{"t":"2026-11-20T10:00:00Z","resource":"nodes","event":{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1",` +
		`"metadata":{"name":"a","uid":"u1","resourceVersion":"10","creationTimestamp":"2026-11-20T09:00:00Z"}}}}` + "\n" +
		`{"t":"2026-11-20T10:00:20Z","resource":"nodes","event":{"type":"DELETED","object":{"kind":"Node","apiVersion":"v1",` +
		`"metadata":{"name":"a","uid":"u1","resourceVersion":"12","creationTimestamp":"2026-11-20T09:00:00Z"}}}}` + "\n")
	want, _, err := fromBytes(t, dump)
	if err != nil {
		t.Fatal(err)
	}
	for form, raw := range map[string][]byte{
		"gzip": compressed(t, dump), "zstd": zstded(t, dump), "both": compressed(t, zstded(t, dump)),
	} {
		if got, _, err := fromBytes(t, raw); err != nil || got != want {
			t.Errorf("%s: found %v and\n%s\nwant\n%s", form, err, got, want)
		}
		d, err := formats.Open(t.Context(), bytes.NewBuffer(raw))
		if got, _, err := imported(t, d, err); err != nil || got != want {
			t.Errorf("%s as a stream: found %v and\n%s\nwant\n%s", form, err, got, want)
		}
	}
}

// What there is of a dump whose compressed data are cut off makes a tape without an END; half an archive makes none.
func TestCompressedDumpsThatAreCutOff(t *testing.T) {
	var dump strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&dump, `{"t":"2026-11-20T10:00:00Z","resource":"nodes","event":{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1",`+
			`"metadata":{"name":"n%d","uid":"u%d","resourceVersion":"%d","creationTimestamp":"2026-11-20T09:00:00Z"}}}}`+"\n", i, i*i, i+10)
	}
	for form, raw := range map[string][]byte{"gzip": compressed(t, []byte(dump.String())), "zstd": zstded(t, []byte(dump.String()))} {
		tape, _, err := fromBytes(t, raw[:len(raw)*3/4])
		if err != nil || !strings.Contains(tape, `"name":"n1"`) || strings.Contains(tape, `"type":"END"`) {
			t.Errorf("%s: found %v and a tape of %d bytes, want one of what there is, without an END", form, err, len(tape))
		}
	}
	folder := t.TempDir()
	for name, content := range map[string]string{"nodes.json": `{"kind":"NodeList","apiVersion":"v1","items":[]}`, "notes.txt": dump.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive := compressed(t, tarOf(t, folder))
	if _, _, err := fromBytes(t, archive[:len(archive)*3/4]); err == nil || !strings.Contains(err.Error(), "the compressed data end in the middle") {
		t.Errorf("half an archive: %v", err)
	}
}

// Files of a folder that aren't read are named.
func TestFolderWithLinksAndCompressedFiles(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"nodes.json":   `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"12"},"items":[{"metadata":{"name":"a","uid":"u1","resourceVersion":"10"}}]}`,
		"pods.json.gz": "packed", "readme.gz": "packed",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nodes.json", filepath.Join(folder, "events.json")); err != nil {
		t.Fatal(err)
	}
	d, err := formats.OpenFolder(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if said := strings.Join(d.LeftOut, "; "); !strings.Contains(said, `2 links and compressed files of the folder, such as "events.json"`) {
		t.Errorf("found %q", said)
	}
}
