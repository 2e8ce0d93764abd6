package openapi

//go:generate go test -count=1 -tags controlplane -run ^TestCapturedIsTheServers$ . -update

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

//go:embed openapi.json.gz
var compressed []byte

// documents are those of kube-apiserver 1.36 with all its APIs, as far as a replay describes the same.
type documents struct {
	Schemas    map[string]json.RawMessage `json:"schemas"`    // of v3, by model
	Kinds      map[string]string          `json:"kinds"`      // models, by GROUP/VERSION/KIND
	Parameters map[string]json.RawMessage `json:"parameters"` // of v2, to which paths refer
	Paths      map[string]json.RawMessage `json:"paths"`      // of v2
}

// captured reads the documents, once; that takes about 20 ms.
var captured = sync.OnceValue(func() *documents {
	d, err := read(compressed)
	if err != nil {
		panic("openapi: the documents that this program was built with: " + err.Error())
	}
	return d
})

func read(compressed []byte) (*documents, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	d := &documents{}
	if err := json.NewDecoder(r).Decode(d); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return d, nil
}

// model is the name of the schema of a kind, or "". A kind in a version that 1.36 doesn't serve has that of the newest
// version that it serves.
func (d *documents) model(kind schema.GroupVersionKind) string {
	if name, ok := d.Kinds[kind.Group+"/"+kind.Version+"/"+kind.Kind]; ok {
		return name
	}
	found, newest := "", ""
	for of, name := range d.Kinds {
		parts := strings.Split(of, "/")
		if parts[0] == kind.Group && parts[2] == kind.Kind && (newest == "" || version.CompareKubeAwareVersionStrings(parts[1], newest) > 0) {
			found, newest = name, parts[1]
		}
	}
	return found
}

var parameterRef = regexp.MustCompile(`\{"\$ref":"#/parameters/([^"]+)"\}`)

// path is the item of a path with its parameters in place, or nothing.
func (d *documents) path(path string) string {
	return parameterRef.ReplaceAllStringFunc(string(d.Paths[path]), func(ref string) string {
		return string(d.Parameters[parameterRef.FindStringSubmatch(ref)[1]])
	})
}
