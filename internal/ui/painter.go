package ui

import (
	"maps"
	"slices"
	"time"

	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/replay"
)

// painter makes the frames of a panel, and paints those that nobody moves: a live one, and the last one.
type painter struct {
	screen        *render.Screen
	terminal      Terminal
	view          *View
	width, height int
	status        replay.Status
	last          bool
	live          bool // a cluster is watched: there is nothing to be moved

	details   *render.Details // as they were read last
	detailsAt replay.Status   // of which
}

const hint = "space pause, ? keys, q quit"

// hintAtEnd is shown where nothing comes any more and the panel stays.
const hintAtEnd = "the end: left goes back, q quit"

// below are the lines below the panel.
func (p *painter) below() []string {
	if p.last || p.terminal.Below == nil {
		return nil
	}
	return p.terminal.Below()
}

// frame is what the panel shows.
func (p *painter) frame(s replay.Status, duration time.Duration) render.Frame {
	f := p.view.Frame()
	f.Position, f.Duration, f.Paused, f.Live = s.Position, duration, s.Paused, p.live
	if !p.live {
		f.Speed = s.Speed.String()
	}
	p.status = s
	switch {
	case p.last:
	case p.terminal.Keys == nil && p.terminal.Typed == nil:
		f.Hint = "ctrl-c quit"
	case p.live:
		f.Hint = "q quit"
	case s.Ended && (s.Paused || p.terminal.Stays): // otherwise the end ends it
		f.Hint = hintAtEnd
	default:
		f.Hint = hint
	}
	return f
}

// shown is a frame for a Model, which keeps it while the View goes on, with the details of a node where it asks for one.
func (p *painter) shown(s replay.Status, duration time.Duration, c *replay.Cluster, node string) player.Shown {
	f := p.frame(s, duration)
	f.Snapshot = f.Snapshot.Clone()
	f.Recent, f.Blocked = slices.Clone(f.Recent), maps.Clone(f.Blocked)
	shown := player.Shown{Frame: f, Below: p.below()}
	shown.Width, shown.Height = p.terminal.Size()
	if node != "" {
		// While a tape stands still, its details do too: reading them goes through all Events.
		if p.live || p.details == nil || p.details.Node != node || p.detailsAt.Number != s.Number || p.detailsAt.Position != s.Position {
			p.details, p.detailsAt = nodeDetails(c, node, p.view.header.Metadata.Start.Add(s.Position)), s
		}
		shown.Details = p.details
	}
	return shown
}

// paint paints a panel and the lines below it.
func (p *painter) paint(s replay.Status, duration time.Duration) error {
	return p.screen.Draw(p.text(s, duration))
}

// text is what paint paints.
func (p *painter) text(s replay.Status, duration time.Duration) string {
	if width, height := p.terminal.Size(); width != p.width || height != p.height {
		p.width, p.height = width, height
		p.screen.Invalidate()
	}
	lines := player.Below(p.below(), p.width)
	lines = lines[:min(len(lines), max(p.height-player.LeastHeight, 0))]
	o := p.terminal.Options
	o.Width, o.Height, o.Fill = p.width, p.height-len(lines), !p.last
	if p.last {
		o.Height = max(p.height-2, 1) // the shell needs some
	}
	return player.Joined(render.Panel(p.frame(s, duration), o), lines, o)
}
