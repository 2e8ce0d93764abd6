package calibrate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// ErrNothing says that there is no timing to write.
var ErrNothing = errors.New("found nothing to measure: want tapes on which nodes join, or pods start and stop")

// File is the result as a file of kind Timings, which spec.ParseTimings reads. Comments say what the figures come from.
func (r *Result) File() ([]byte, error) {
	if len(r.Measured) == 0 {
		return nil, ErrNothing
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Measured by nodesim calibrate on %s:\n", phrase.Count(len(r.Tapes), "tape"))
	for _, t := range r.Tapes {
		fmt.Fprintf(&b, "#   %s\n", phrase.Escaped(t.Name))
	}
	fmt.Fprintf(&b, "# What isn't here stays what it is without this file.\napiVersion: %s\nkind: %s\ntimings:\n", spec.APIVersion, spec.TimingsKind)
	for i := range r.Measured {
		m := &r.Measured[i]
		remarks := append([]string{phrase.Count(m.Samples, "sample")}, m.remarks()...)
		fmt.Fprintf(&b, "  %s: {median: %s, p95: %s} # %s\n", m.Name, m.Takes.Median, m.Takes.P95, strings.Join(remarks, "; "))
	}
	b.WriteString("samples:\n")
	for i := range r.Measured {
		fmt.Fprintf(&b, "  %s: %d\n", r.Measured[i].Name, r.Measured[i].Samples)
	}
	return b.Bytes(), nil
}
