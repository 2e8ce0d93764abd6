package shift

import "time"

// Time returns what one time of the tape comes out as.
func (s *Shifter) Time(t time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.move(t)
}
