package ui

import (
	"strings"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/replay"
)

// painter repaints a panel, and the lines below it.
type painter struct {
	screen        *render.Screen
	terminal      Terminal
	view          *View
	width, height int
	status        replay.Status
	help          bool // what the keys do is shown
	last          bool
	live          bool // a cluster is watched: there is nothing to be moved

	mu     sync.Mutex
	notice string // why the last key couldn't be obeyed
}

const hint = "space pause, ? keys, q quit"

// hintAtEnd is shown where nothing comes any more and the panel stays.
const hintAtEnd = "the end: left goes back, q quit"

// The keys in full, for those who have pressed the one that asks.
var help = []string{
	"space pause, left right 10 s, up down 1 min, + - speed, q quit",
	". next event, n next node transition, m M next or last marker, ? hide",
}

// pressed is told of each key.
func (p *painter) pressed(k Key) {
	p.say(nil)
	if k == KeyHelp {
		p.help = !p.help
	}
}

// say notes why a key couldn't be obeyed; nil forgets it.
func (p *painter) say(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.notice = ""; err != nil {
		p.notice = err.Error()
	}
}

// leastHeight is the number of lines that a panel keeps, whatever is to be shown below it.
const leastHeight = 5

// below are the lines below the panel, as many as there is room for.
func (p *painter) below() []string {
	if p.last {
		return nil
	}
	var lines []string
	if p.terminal.Below != nil {
		lines = append(lines, p.terminal.Below()...)
	}
	p.mu.Lock()
	if p.notice != "" {
		lines = append(lines, p.notice)
	}
	p.mu.Unlock()
	if p.help {
		lines = append(lines, help...)
	}
	return lines[:min(len(lines), max(p.height-leastHeight, 0))]
}

func (p *painter) paint(s replay.Status, duration time.Duration) error {
	if width, height := p.terminal.Size(); width != p.width || height != p.height {
		p.width, p.height = width, height
		p.screen.Invalidate()
	}
	f := p.view.Frame()
	f.Position, f.Duration, f.Paused, f.Live = s.Position, duration, s.Paused, p.live
	if !p.live {
		f.Speed = s.Speed.String()
	}
	p.status = s
	switch {
	case p.last:
	case p.terminal.Keys == nil:
		f.Hint = "ctrl-c quit"
	case p.live:
		f.Hint = "q quit"
	case s.Ended && (s.Paused || p.terminal.Stays): // otherwise the end ends it
		f.Hint = hintAtEnd
	default:
		f.Hint = hint
	}
	lines := p.below()
	o := p.terminal.Options
	o.Width, o.Height, o.Fill = p.width, p.height-len(lines), !p.last
	if p.last {
		o.Height = max(p.height-2, 1) // the shell needs some
	}
	var b strings.Builder
	b.WriteString(render.Panel(f, o))
	for _, line := range lines {
		b.WriteByte('\n')
		b.WriteString(render.Line(line, o))
	}
	return p.screen.Draw(b.String())
}
