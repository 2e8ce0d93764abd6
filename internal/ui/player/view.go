package player

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/nodesim/nodesim/internal/ui/render"
)

// LeastHeight is the number of lines that a panel keeps, whatever is to be shown below it.
const LeastHeight = 5

// mostNotice is the number of lines that a notice may take.
const mostNotice = 3

// hints are shown in place of the frame's while the keys do something else.
const (
	hintBrowse  = "up down select, enter details, esc back"
	hintDetails = "up down scroll, esc back"
	hintPrompt  = "enter, esc"
)

// mostFolded is the number of lines that one of those below a panel may take.
const mostFolded = 4

// Below are lines below a panel on a terminal of so many cells: what doesn't fit into one is divided.
func Below(lines []string, width int) (all []string) {
	for _, line := range lines {
		all = append(all, render.Folded(line, width, mostFolded)...)
	}
	return all
}

// below are the lines below the panel, as many as there is room for: what the user types comes last and stays.
func (m Model) below() []string {
	lines := Below(m.shown.Below, m.width)
	if m.notice != "" {
		lines = append(lines, render.Wrap(m.notice, m.width, mostNotice)...)
	}
	if m.help {
		lines = append(lines, Below(help, m.width)...)
	}
	room := max(m.height-LeastHeight, 0)
	if m.prompt.open() { // which is seen at any height
		room = max(room, 1)
		lines = append(lines[:min(len(lines), room-1)], m.prompt.line(m.width))
	}
	return lines[:min(len(lines), room)]
}

// panel are the options of the panel above those lines.
func (m Model) panel() render.Options {
	o := m.options.Panel
	o.Width, o.Height, o.Fill = m.width, m.height-len(m.below()), true
	return o
}

// frame is the frame with what the user looks at.
func (m Model) frame() render.Frame {
	f := m.shown.Frame
	if m.browsing {
		f.Browse = &render.Browse{Filter: m.filter, Selected: m.selected}
	}
	if node := m.Node(); m.details {
		f.Details = &render.Details{Node: node, Lacks: []string{"…"}}
		if d := m.shown.Details; d != nil && d.Node == node {
			is := *d
			f.Details = &is
		}
		f.Details.First = m.first
	}
	switch {
	case !m.options.Keys:
	case m.prompt.open():
		f.Hint = hintPrompt
	case m.details:
		f.Hint = hintDetails
	case m.browsing:
		f.Hint = hintBrowse
	}
	return f
}

// Size is that of the terminal at the last Shown.
func (m Model) Size() (width, height int) { return m.width, m.height }

// View implements tea.Model.
func (m Model) View() tea.View { return tea.NewView(m.Text()) }

// Text is what the screen shows.
func (m Model) Text() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	if m.height == 1 && m.prompt.open() {
		o := m.options.Panel
		o.Width = m.width
		return render.Line(m.prompt.line(m.width), o)
	}
	o := m.panel()
	return Joined(render.Panel(m.frame(), o), m.below(), o)
}

// Joined is a panel with lines below it.
func Joined(panel string, below []string, o render.Options) string {
	var b strings.Builder
	b.WriteString(panel)
	for _, line := range below {
		b.WriteByte('\n')
		b.WriteString(render.Line(line, o))
	}
	return b.String()
}
