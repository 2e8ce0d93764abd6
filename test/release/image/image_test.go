package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1"
	ocilayout "github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestImage reads the image by somebody else's library, which checks every digest and size.
func TestImage(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"amd64": "a program", "arm64": "another program", "LICENSES.txt": "licences"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var before []byte
	for range 2 {
		out := filepath.Join(dir, "image.tar")
		programs := []string{"amd64=" + filepath.Join(dir, "amd64"), "arm64=" + filepath.Join(dir, "arm64")}
		if err := run("v1.2.3", "abc", "1790000000", filepath.Join(dir, "LICENSES.txt"), out, programs); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !bytes.Equal(before, text) {
			t.Error("two images of the same input differ")
		}
		before = text
	}
	unpacked := filepath.Join(dir, "layout")
	unpack(t, before, unpacked)
	root, err := ocilayout.ImageIndexFromPath(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(root); err != nil {
		t.Fatal(err)
	}
	outer, err := root.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if got := outer.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; got != "v1.2.3" {
		t.Errorf("the image is called %q, want v1.2.3", got)
	}
	index, err := root.ImageIndex(outer.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(inner.Manifests) != 2 {
		t.Fatalf("found %d architectures, want 2", len(inner.Manifests))
	}
	for i, want := range []struct{ platform, program string }{{"linux/amd64", "a program"}, {"linux/arm64", "another program"}} {
		if got := inner.Manifests[i].Platform.String(); got != want.platform {
			t.Errorf("found an image for %s, want %s", got, want.platform)
		}
		image, err := index.Image(inner.Manifests[i].Digest)
		if err != nil {
			t.Fatal(err)
		}
		check(t, image, want.program)
	}
}

// check looks at one image: who runs what, and what is there.
func check(t *testing.T, image v1.Image, program string) {
	t.Helper()
	is, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if is.Config.User != "65532:65532" || strings.Join(is.Config.Entrypoint, " ") != "/usr/bin/nodesim" || is.Created.Unix() != 1790000000 {
		t.Errorf("found user %s, entry point %q, created %s", is.Config.User, is.Config.Entrypoint, is.Created)
	}
	flat := mutate.Extract(image)
	defer func() { _ = flat.Close() }() // it was only read
	texts := map[string][]byte{}
	for r := tar.NewReader(flat); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Mode&0o6000 != 0 || h.Mode&0o022 != 0 && h.Name != "tmp/" && h.Name != "tmp" {
			t.Errorf("%s: found mode %o: want a file that only its owner writes", h.Name, h.Mode)
		}
		if texts[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(texts["usr/bin/nodesim"]); got != program {
		t.Errorf("found the program %q, want %q", got, program)
	}
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(texts["etc/ssl/certs/ca-certificates.crt"]) {
		t.Error("found no certificate that can be read")
	}
	if n := bytes.Count(texts["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN")); n < 100 {
		t.Errorf("found %d certificates: want Mozilla's, some 140", n)
	}
}

func unpack(t *testing.T, text []byte, dir string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestImageOfNothing(t *testing.T) {
	for _, programs := range [][]string{nil, {"amd64"}, {"amd64=/nowhere"}} {
		if err := run("v1.2.3", "abc", "1", "image_test.go", filepath.Join(t.TempDir(), "x.tar"), programs); err == nil {
			t.Errorf("%q: found no error", programs)
		}
	}
}
