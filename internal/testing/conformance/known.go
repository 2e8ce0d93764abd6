package conformance

import (
	"fmt"
	"regexp"
)

// Excepted is a row of the list of what differs. Both patterns are regular expressions that match a whole text.
type Excepted struct {
	Request    string // of [Request.String]
	Difference string // of [Difference.String]
	Reason     string // one sentence
}

// row is one that is ready for use.
type row struct{ request, difference *regexp.Regexp }

// compile makes a list ready for use.
func compile(rows []Excepted) ([]row, error) {
	all := make([]row, len(rows))
	for i, r := range rows {
		if r.Reason == "" {
			return nil, fmt.Errorf("row %d of what differs: found no reason, want one sentence", i+1)
		}
		var err error
		if all[i].request, err = regexp.Compile("^(?s:" + r.Request + ")$"); err != nil {
			return nil, fmt.Errorf("row %d of what differs: %w", i+1, err)
		}
		if all[i].difference, err = regexp.Compile("^(?s:" + r.Difference + ")$"); err != nil {
			return nil, fmt.Errorf("row %d of what differs: %w", i+1, err)
		}
	}
	return all, nil
}

// covers returns the index of the row that a difference falls under, or -1.
func covers(rows []row, r Request, d Difference) int {
	request, difference := r.String(), d.String()
	for i := range rows {
		if rows[i].request.MatchString(request) && rows[i].difference.MatchString(difference) {
			return i
		}
	}
	return -1
}
