package diff

import (
	"encoding/json"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

type jsonRow struct {
	Scope   Scope        `json:"scope"`
	Object  string       `json:"object"`
	Measure string       `json:"measure"`
	A       any          `json:"a"` // null where the side has none
	B       any          `json:"b"`
	Delta   any          `json:"delta,omitempty"`
	Why     []jsonReason `json:"why,omitempty"`
}

type jsonReason struct {
	Kind   string `json:"kind"`
	Object string `json:"object,omitempty"`
	A      string `json:"a"`
	B      string `json:"b"`
}

// MarshalJSON writes durations as decimal seconds with an s, as on a tape.
func (s Side) MarshalJSON() ([]byte, error) {
	type plain Side
	return json.Marshal(struct {
		plain
		Duration string `json:"duration"`
	}{plain(s), seconds(s.Duration)})
}

// MarshalJSON implements json.Marshaler. Texts of the tapes are escaped as in Text.
func (d *Diff) MarshalJSON() ([]byte, error) {
	out := struct {
		Headline string    `json:"headline"`
		A        Side      `json:"a"`
		B        Side      `json:"b"`
		Rows     []jsonRow `json:"rows"`
	}{d.Headline(), d.A, d.B, []jsonRow{}}
	for _, r := range d.Rows {
		row := jsonRow{Scope: r.Scope, Object: r.Object, Measure: r.Measure, A: r.A.json(), B: r.B.json()}
		if delta, ok := r.Delta(); ok {
			row.Delta = (&delta).json()
		}
		for _, w := range r.Why {
			row.Why = append(row.Why, jsonReason{w.Kind, w.Object, seconds(w.A), seconds(w.B)})
		}
		out.Rows = append(out.Rows, row)
	}
	return json.Marshal(out)
}

func (v *Value) json() any {
	switch {
	case v == nil:
		return nil
	case v.Unit == UnitDuration:
		return seconds(v.Duration)
	case v.Unit == UnitCount:
		return v.Count
	}
	return v.Word
}

func seconds(d time.Duration) string { return timeline.FormatAt(d) }
