package timeline

import _ "embed" // for the schemas

// HeaderSchema and EventSchema are the JSON Schemas (draft 2020-12) of a
// tape's header and of one event, for editors and other programs. A Reader is
// a little stricter: it refuses what looks like a misspelt type as well.
var (
	//go:embed schema/header.json
	HeaderSchema []byte
	//go:embed schema/event.json
	EventSchema []byte
)
