//go:build controlplane

package discovery_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const capturedFile = "discovery.json.gz"

var update = flag.Bool("update", false, "write "+capturedFile+" from the server's documents")

// The lists that the program is built with are the server's: go generate ./replay/apiserver/internal/discovery writes them
// again.
func TestCapturedIsTheServers(t *testing.T) {
	want := capture(t)
	if *update {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(want); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(capturedFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(capturedFile)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	found, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(found, want) {
		t.Errorf("%s isn't of this server: found\n%s\nwant\n%s\ngo generate ./replay/apiserver/internal/discovery", capturedFile, found, want)
	}
}

// capture reads the lists of resources with objects, and the order of the groups.
func capture(t *testing.T) []byte {
	t.Helper()
	s := realOne(t)
	type list struct {
		Resources []metav1.APIResource `json:"resources"`
	}
	kept := struct {
		Groups    []string                        `json:"groups"`
		Resources map[string][]metav1.APIResource `json:"resources"`
	}{[]string{""}, map[string][]metav1.APIResource{}}
	keep := func(path, version string) {
		var all list
		s.read(path, "", &all)
		held := map[string]bool{} // those with objects
		for _, r := range all.Resources {
			held[r.Name] = slices.Contains(r.Verbs, "list")
		}
		for _, r := range all.Resources {
			of, sub, isSub := strings.Cut(r.Name, "/")
			if held[of] && !(isSub && slices.Contains(unserved, sub)) {
				kept.Resources[version] = append(kept.Resources[version], r)
			}
		}
	}
	keep("/api/v1", "v1")
	var groups metav1.APIGroupList
	s.read("/apis", "", &groups)
	for _, g := range groups.Groups {
		if g.Name == "example.dev" { // of these tests
			continue
		}
		kept.Groups = append(kept.Groups, g.Name)
		for _, v := range g.Versions {
			keep("/apis/"+v.GroupVersion, v.GroupVersion)
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
