package report

import (
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// Line is an entry of a feed with the line of the tape that it came with.
type Line struct {
	noderoll.Entry
	Line int
}

// Feed reads a tape to its end and returns its feed, entries of every kind.
func Feed(r *timeline.Reader, o observe.Options) ([]Line, error) {
	var feed []Line
	err := observe.Feed(r, o, func(e noderoll.Entry) error {
		feed = append(feed, Line{e, r.Line()})
		return nil
	})
	return feed, err
}
