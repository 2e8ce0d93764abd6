//go:build controlplane

package openapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

const capturedFile = "openapi.json.gz"

var update = flag.Bool("update", false, "write "+capturedFile+" from the server's documents")

// The documents that the program is built with are the server's: go generate ./replay/apiserver/internal/openapi writes them
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
		t.Errorf("%s isn't of this server: found %d bytes, want %d: go generate ./replay/apiserver/internal/openapi", capturedFile, len(found), len(want))
	}
}

// captured is what a replay needs of the documents.
type captured struct {
	Schemas    map[string]map[string]any  `json:"schemas"`    // of v3, by model
	Kinds      map[string]string          `json:"kinds"`      // models, by GROUP/VERSION/KIND
	Parameters map[string]json.RawMessage `json:"parameters"` // of v2, to which paths refer
	Paths      map[string]json.RawMessage `json:"paths"`      // of v2
}

// examples are a namespaced and a cluster-scoped custom resource, whose paths and schemas are the models of all others.
const examples = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"PLURAL.thegroup.example.com"},"spec":{
"group":"thegroup.example.com","scope":"SCOPE","names":{"plural":"PLURAL","kind":"KIND"},"versions":[
{"name":"v7alpha7","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
 "subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}}]}}`

const exampleDocument = "apis/thegroup.example.com/v7alpha7"

// object is the path of a resource's objects, of one of them, or of a subresource that a replay may have.
var object = regexp.MustCompile(`^(/api|/apis/[^/]+)/[^/]+(/namespaces/\{namespace\})?/[^/{}]+(/\{name\}(/(binding|eviction|scale|status))?)?$`)

var reference = regexp.MustCompile(`"\$ref":"#/[^"]*/([^"/]+)"`)

// capture reads the server's documents.
func capture(t *testing.T) []byte {
	t.Helper()
	s := realOne(t)
	for _, names := range [][3]string{{"theplurals", "Thekind", "Namespaced"}, {"thewides", "Thewide", "Cluster"}} {
		s.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", strings.NewReplacer("PLURAL", names[0], "KIND", names[1], "SCOPE", names[2]).Replace(examples))
	}
	listed := map[string]bool{"theplurals": true, "thewides": true}
	for _, r := range s.builtinResources() {
		listed[r.Resource] = true
	}

	// The schemas are the same in all documents, but for the kinds that DeleteOptions and WatchEvent are of.
	all := map[string]map[string]any{}
	s.wait(func() bool {
		var index struct {
			Paths map[string]any `json:"paths"`
		}
		s.get("/openapi/v3", "application/json", &index)
		for name := range index.Paths {
			var document struct {
				Components struct {
					Schemas map[string]map[string]any `json:"schemas"`
				} `json:"components"`
			}
			s.get("/openapi/v3/"+name, "application/json", &document)
			for name, schema := range document.Components.Schemas {
				if strings.HasSuffix(name, ".DeleteOptions") || strings.HasSuffix(name, ".WatchEvent") {
					delete(schema, "x-kubernetes-group-version-kind")
				}
				all[name] = schema
			}
		}
		return index.Paths[exampleDocument] != nil && all["com.example.thegroup.v7alpha7.Thewide"] != nil && all["com.example.thegroup.v7alpha7.Thekind"] != nil
	})
	var v2 captured
	s.wait(func() bool {
		v2 = captured{}
		s.get("/openapi/v2", "application/json", &v2)
		return v2.Paths["/"+exampleDocument+"/thewides"] != nil && v2.Paths["/"+exampleDocument+"/theplurals"] != nil
	})

	kept := captured{Schemas: map[string]map[string]any{}, Kinds: map[string]string{}, Parameters: map[string]json.RawMessage{}, Paths: map[string]json.RawMessage{}}
	var keep func(text []byte)
	keep = func(text []byte) {
		for _, match := range reference.FindAllSubmatch(text, -1) {
			name := string(match[1])
			if parameter, ok := v2.Parameters[name]; ok && kept.Parameters[name] == nil {
				kept.Parameters[name] = parameter
				keep(parameter)
			}
			if schema, ok := all[name]; ok && kept.Schemas[name] == nil {
				kept.Schemas[name] = schema
				text, err := json.Marshal(schema)
				if err != nil {
					t.Fatal(err)
				}
				keep(text)
			}
		}
	}
	for at, item := range v2.Paths {
		if object.MatchString(at) && listed[resourceAt(at)] {
			kept.Paths[at] = item
			keep(item)
		}
	}
	for _, name := range []string{"APIResourceList", "DeleteOptions", "Patch", "Status", "WatchEvent"} {
		keep([]byte(`"$ref":"#/x/io.k8s.apimachinery.pkg.apis.meta.v1.` + name + `"`))
	}
	for name, schemaOf := range kept.Schemas {
		if strings.HasPrefix(name, "com.example.") {
			continue // of the examples
		}
		marks, _ := schemaOf["x-kubernetes-group-version-kind"].([]any)
		for _, mark := range marks {
			m := mark.(map[string]any)
			kept.Kinds[m["group"].(string)+"/"+m["version"].(string)+"/"+m["kind"].(string)] = name
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// resourceAt is the resource of a path of its objects.
func resourceAt(at string) string {
	at, _, _ = strings.Cut(at, "/{name}")
	return at[strings.LastIndex(at, "/")+1:]
}

func (s realServer) create(path, object string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.host+path, strings.NewReader(object))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(response.Body)
		s.t.Fatalf("create %s: %d %s", path, response.StatusCode, text)
	}
}

// wait asks until it is so.
func (s realServer) wait(so func() bool) {
	s.t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for !so() {
		select {
		case <-poll.C:
		case <-s.t.Context().Done():
			s.t.Fatal(s.t.Context().Err())
		}
	}
}
