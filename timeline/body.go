package timeline

import (
	"fmt"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// Body returns what the line of an event holds of a whole object, as
// [Writer.WriteLine] takes it: canonical JSON, without the identity that is
// beside it on the line.
func (w *Writer) Body(object []byte, r Resource) ([]byte, error) {
	var err error
	if w.canon, err = rawjson.CompactOutline(w.canon[:0], object, &w.outline); err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	body, _, fail := split(nil, w.canon, w.outline.Parts, r)
	if fail != nil {
		return nil, fail
	}
	return body, nil
}
