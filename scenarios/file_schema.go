package scenarios

import _ "embed" // for the schema

// FileSchema is the JSON Schema (draft 2020-12) of a scenario file, for
// editors and other programs. What [Parse] refuses besides is what a schema
// can't say: names that refer to nothing, sizes, and what contradicts itself.
//
//go:embed schema/scenario.json
var FileSchema []byte
