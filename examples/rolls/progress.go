// Package rolls is a subject of docs/testing.md: code over noderoll.Observer,
// and its test against three scenarios.
package rolls

import (
	"context"
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/noderoll"
)

// Progress tells what happens to the nodes of a group, a line for each change.
type Progress struct {
	nodes   noderoll.Observer
	tracker *noderoll.Tracker
}

// New follows the nodes that an Observer sees.
func New(nodes noderoll.Observer) *Progress {
	return &Progress{nodes: nodes, tracker: noderoll.NewTracker()}
}

// Look takes one look at the group.
func (p *Progress) Look(ctx context.Context) error {
	s, err := p.nodes.Snapshot(ctx)
	if err != nil {
		return err
	}
	p.tracker.Observe(s)
	return nil
}

// String returns what was seen so far.
func (p *Progress) String() string {
	var b strings.Builder
	for _, e := range p.tracker.Events {
		fmt.Fprintf(&b, "%-10s  %s\n", e.Kind, e.Node)
	}
	return b.String()
}
