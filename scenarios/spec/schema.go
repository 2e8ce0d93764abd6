package spec

import (
	"bytes"
	_ "embed" // for the schema
)

//go:embed schema/scenario.json
var fileSchema []byte

// FileSchema returns the JSON Schema (draft 2020-12) of a scenario file, for
// editors and other programs. [Parse] also refuses what a schema can't express:
// names that refer to nothing, sizes, and contradictions.
func FileSchema() []byte { return bytes.Clone(fileSchema) }
