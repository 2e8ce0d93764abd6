package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis"
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

// feedOf are the entries of all sides in the order of time.
func feedOf(sides []Side, t *interned) entries {
	type placed struct {
		Line
		side int
		by   time.Duration
	}
	var all []placed
	for i, s := range sides {
		for _, e := range s.Feed {
			all = append(all, placed{e, i, s.by})
		}
	}
	if len(sides) > 1 {
		slices.SortStableFunc(all, func(x, y placed) int { return cmp.Compare(x.At+x.by, y.At+y.by) })
	}
	out := entries{
		moments: moments{[]int64{}, []int{}},
		Kind:    []int{}, Node: []int{}, Object: []int{}, Reason: []int{}, Message: []int{}, Default: []int{},
	}
	for _, e := range all {
		out.add(&analysis.Moment{At: e.At, Line: e.Line.Line}, e.by)
		out.Kind, out.Node = append(out.Kind, t.id(string(e.Kind))), append(out.Node, t.id(e.Node))
		out.Object, out.Reason = append(out.Object, t.id(e.Object)), append(out.Reason, t.id(e.Reason))
		out.Message, out.Default = append(out.Message, t.id(e.Message)), append(out.Default, flag(e.Kind.Default()))
		if len(sides) > 1 {
			out.Side = append(out.Side, e.side)
		}
	}
	return out
}
