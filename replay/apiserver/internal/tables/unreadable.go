package tables

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unknown is in a cell for what the object doesn't tell.
const unknown = "<unknown>"

// unreadable is the row of an object that doesn't decode as its kind: its name, its age, and unknown.
func (p *Printer) unreadable(raw []byte, now time.Time) ([]any, error) {
	var object struct {
		Metadata struct {
			Name              string `json:"name"`
			CreationTimestamp string `json:"creationTimestamp"`
		} `json:"metadata"`
	}
	// A member of another type is skipped and the rest is read, so only bad syntax ends it here.
	if err := json.Unmarshal(raw, &object); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return nil, fmt.Errorf("table row: found %s, want a JSON object: %w", excerpt(raw), err)
	}
	var created metav1.Time
	if t, err := time.Parse(time.RFC3339, object.Metadata.CreationTimestamp); err == nil {
		created = metav1.NewTime(t)
	}
	cells := make([]any, len(p.columns))
	for i, column := range p.columns {
		switch column.Name {
		case "Name":
			cells[i] = object.Metadata.Name
		case "Age":
			cells[i] = since(created, now)
		case "Created At":
			cells[i] = stamp(created)
		default:
			cells[i] = unknown
		}
	}
	return cells, nil
}

// excerpt is the beginning of what was found, for an error.
func excerpt(raw []byte) string {
	const most = 40
	if len(raw) == 0 {
		return "nothing"
	}
	if len(raw) > most {
		return fmt.Sprintf("%q…", raw[:most])
	}
	return fmt.Sprintf("%q", raw)
}
