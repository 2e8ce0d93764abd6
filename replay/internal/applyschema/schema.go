// Package applyschema is the schema of Kubernetes' built-in kinds for server-side apply: which lists are sets or maps, by
// which keys, and what is replaced as a whole. It is that of client-go's applyconfigurations, whose package links the apply
// configurations of every group with it, 51 packages; so its text is kept here, compressed, and read when it is first asked
// for. It is the text of the newest minor that is tested with: clients apply what their cluster has, whatever libraries a
// program is built with. A test checks that it has all of client-go's, the oldest and the newest.
package applyschema

//go:generate go run ./generate

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sync"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/nodesim/nodesim/internal/apischeme"
)

//go:embed schema.yaml.gz
var compressed []byte

// Parser reads the schema, once; that takes about 30 ms of CPU. It may be called from several goroutines.
var Parser = sync.OnceValue(func() *typed.Parser {
	parser, err := read(compressed)
	if err != nil {
		panic("applyschema: the schema that this program was built with: " + err.Error())
	}
	return parser
})

// TypeConverter converts objects of Kubernetes' own kinds by the schema.
func TypeConverter() managedfields.TypeConverter {
	return managedfields.NewSchemeTypeConverter(apischeme.Scheme(), Parser())
}

func read(compressed []byte) (*typed.Parser, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	parser := &typed.Parser{}
	if err := yaml.Unmarshal(text, &parser.Schema); err != nil { // typed.NewParser checks it first, which takes as long again
		return nil, err
	}
	return parser, nil
}
