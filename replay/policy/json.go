package policy

import (
	"encoding/json"

	"github.com/nodesim/nodesim/timeline"
)

// MarshalJSON writes the position as decimal seconds with an s, as on a tape. Texts of the tape are escaped already.
func (v Violation) MarshalJSON() ([]byte, error) {
	type plain Violation
	out := struct {
		At   string `json:"at,omitempty"`
		Line int    `json:"line,omitempty"`
		plain
		Moment any `json:"moment,omitempty"` // in place of plain's
	}{plain: plain(v)}
	if v.Moment != nil {
		out.At, out.Line = timeline.FormatAt(v.Moment.At), v.Moment.Line
	}
	return json.Marshal(out)
}
