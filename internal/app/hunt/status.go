package hunt

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nodesim/nodesim/scenarios/hunt"
)

// standing is how far a search is. Its methods may be called from several goroutines.
type standing struct {
	mu sync.Mutex
	is hunt.Progress
}

// note takes how far the search is.
func (s *standing) note(p hunt.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.is = p
}

// line says how far the search is after a time.
func (s *standing) line(took time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return line(s.is, took)
}

// line is the line after a time.
func line(p hunt.Progress, took time.Duration) string {
	rate := int64(p.Tried) * int64(time.Second) / int64(max(took, time.Millisecond))
	text := fmt.Sprintf("hunt: %s rolls, %s/s, ", thousands(int64(p.Tried)), thousands(rate))
	if p.Failed {
		return text + fmt.Sprintf("found one; made small in %s runs so far", thousands(int64(p.Tries)))
	}
	return text + "nothing found"
}

// thousands writes a number with commas: 5,210.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
