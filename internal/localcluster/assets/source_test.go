package assets

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/nodesim/nodesim/golden"
)

// carried are the files of test/controlplane that a build of the control plane needs.
var carried = func() []string {
	all := []string{"go.mod", "go.sum", "etcd/main.go"}
	for _, v := range KubernetesVersions() {
		if v != KubernetesVersion {
			all = append(all, minorOf(v)+"/go.mod", minorOf(v)+"/go.sum")
		}
	}
	return all
}()

const module = "../../../test/controlplane"

// nodesim carries the module that `make controlplane` builds from.
func TestThePackedModuleIsTheFolder(t *testing.T) {
	if golden.Updating() {
		pack(t)
		return
	}
	folder, err := unpack(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range carried {
		want, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("source.zip: found another %s than in test/controlplane (%v): run NODESIM_UPDATE=1 go test ./internal/localcluster/assets -run Packed", name, err)
		}
	}
}

// pack writes source.zip again, without times, so that the same files are the same bytes.
func pack(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestCompression) })
	for _, name := range carried {
		text, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("source.zip", out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
