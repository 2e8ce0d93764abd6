package policy

import (
	"encoding/json"

	"github.com/nodesim/nodesim/replay/analysis"
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

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Violation) UnmarshalJSON(text []byte) error {
	type plain Violation
	var place struct {
		At   string `json:"at"`
		Line int    `json:"line"`
	}
	var is plain
	if err := json.Unmarshal(text, &is); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &place); err != nil {
		return err
	}
	if is.Moment = nil; place.At != "" {
		at, err := timeline.ParseAt(place.At)
		if err != nil {
			return err
		}
		is.Moment = &analysis.Moment{At: at, Line: place.Line}
	}
	*v = Violation(is)
	return nil
}
