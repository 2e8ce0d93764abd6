package spec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nodesim/nodesim/internal/faultspec"
	"github.com/nodesim/nodesim/timeline"
)

// stream refuses faults of the watch boundary that can't be read, or that name
// what the tape won't hold.
func (c *checker) stream() *Error {
	tape := c.f.resources()
	var known []string
	for _, r := range tape {
		known = append(known, r.String())
	}
	for i, text := range c.f.Stream {
		path := fmt.Sprintf("stream[%d]", i)
		s, err := faultspec.Parse(text)
		if bad := (*faultspec.Error)(nil); errors.As(err, &bad) {
			e := c.bad(path, strconv.Quote(text), bad.Wanted)
			if e.Found += ": found " + bad.Found; bad.At > 0 {
				e.Found = fmt.Sprintf("%q: character %d: found %s", text, bad.At, bad.Found)
			}
			e.Remedy = didYouMean(bad.Near)
			return e
		}
		if !slices.ContainsFunc(tape, func(r timeline.Resource) bool { return s.Names(r.Resource, r.Group, r.Kind) }) {
			return c.unknown(path, "resource", s.Resource, known)
		}
	}
	return nil
}
