package timeline

import (
	"bytes"
	_ "embed" // for the schemas
)

var (
	//go:embed schema/header.json
	headerSchema []byte
	//go:embed schema/event.json
	eventSchema []byte
)

// HeaderSchema returns the JSON Schema (draft 2020-12) of a tape's header, for
// editors and other programs. A Reader is a little stricter: it refuses what
// looks like a misspelt type as well.
func HeaderSchema() []byte { return bytes.Clone(headerSchema) }

// EventSchema returns the JSON Schema of one event; see [HeaderSchema].
func EventSchema() []byte { return bytes.Clone(eventSchema) }
