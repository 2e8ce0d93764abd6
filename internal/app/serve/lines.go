package serve

import (
	"sync"

	"github.com/nodesim/nodesim/noderoll"
)

// Lines keeps the last lines of what is said, for a panel. The zero value keeps
// three. It may be used by several goroutines.
type Lines struct {
	mu    sync.Mutex
	lines []string
}

// shownLines is the number of faults worth room on a screen.
const shownLines = 3

// Say takes a line.
func (l *Lines) Say(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, noderoll.OneLine(line))
	if len(l.lines) > shownLines {
		l.lines = append(l.lines[:0], l.lines[1:]...)
	}
}

// Last returns them, oldest first.
func (l *Lines) Last() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}
