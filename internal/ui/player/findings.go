package player

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nodesim/nodesim/internal/ui/render"
)

// nextFinding goes to the next finding on the tape, or to the last one before. The first time it asks for them.
func (m Model) nextFinding(step int) (tea.Model, tea.Cmd) {
	if m.asked && m.findings == nil { // on their way
		m.wanted, m.notice = step, reading
		return m, nil
	}
	if !m.asked {
		m.asked, m.wanted, m.notice = true, step, reading
		return m, answer(FindFindings{})
	}
	if len(m.findings) == 0 {
		m.notice = "no findings"
		return m, nil
	}
	m.finding = m.neighbour(step)
	f := m.findings[m.finding-1]
	m.notice = fmt.Sprintf("finding %d of %d: %s", m.finding, len(m.findings), f.Text)
	if f.Node != "" && !m.shown.Frame.Pods && m.browsing {
		m.selected = f.Node
		if !slices.Contains(render.Keys(m.shown.Frame, m.filter), f.Node) {
			m.filter = "" // which would hide what was found
		}
	}
	return m, answer(SeekTo(f.At))
}

const reading = "findings: reading the tape …"

// neighbour is the number of the finding to go to: the one next to the last one where the tape still stands there, for
// several may begin together, else the one next to the tape's position. There it goes around the ends.
func (m Model) neighbour(step int) int {
	n, at := len(m.findings), m.shown.Frame.Position
	if m.finding > 0 && m.findings[m.finding-1].At == at {
		return (m.finding-1+step+n)%n + 1
	}
	// i is the first finding after the position.
	i, _ := slices.BinarySearchFunc(m.findings, at, func(f Finding, at time.Duration) int {
		if f.At <= at {
			return -1
		}
		return 1
	})
	if step > 0 {
		return i%n + 1
	}
	for i > 0 && m.findings[i-1].At == at {
		i--
	}
	return (i-1+n)%n + 1
}

// found takes the findings, and goes where the user wanted to go.
func (m Model) found(msg Found) (tea.Model, tea.Cmd) {
	if msg.Err != nil {
		m.asked, m.notice = false, msg.Err.Error()
		return m, nil
	}
	m.findings = slices.Clone(msg.Findings)
	slices.SortStableFunc(m.findings, func(a, b Finding) int { return int(min(max(a.At-b.At, -1), 1)) })
	if m.findings == nil {
		m.findings = []Finding{}
	}
	step := m.wanted
	if m.wanted = 0; step == 0 {
		return m, nil
	}
	m.notice = ""
	return m.nextFinding(step)
}
