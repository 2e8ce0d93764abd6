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

	request, difference *regexp.Regexp
}

// compile makes a list ready for use.
func compile(rows []Excepted) ([]Excepted, error) {
	all := make([]Excepted, len(rows))
	for i, row := range rows {
		if row.Reason == "" {
			return nil, fmt.Errorf("row %d of what differs: found no reason, want one sentence", i+1)
		}
		var err error
		if row.request, err = regexp.Compile("^(?s:" + row.Request + ")$"); err != nil {
			return nil, fmt.Errorf("row %d of what differs: %w", i+1, err)
		}
		if row.difference, err = regexp.Compile("^(?s:" + row.Difference + ")$"); err != nil {
			return nil, fmt.Errorf("row %d of what differs: %w", i+1, err)
		}
		all[i] = row
	}
	return all, nil
}

// covers returns the index of the row that a difference falls under, or -1.
func covers(rows []Excepted, r Request, d Difference) int {
	request, difference := r.String(), d.String()
	for i := range rows {
		if rows[i].request.MatchString(request) && rows[i].difference.MatchString(difference) {
			return i
		}
	}
	return -1
}

// Known is what differs, and why.
var Known []Excepted
