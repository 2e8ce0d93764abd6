package nodemanager

import "time"

// Backoff is a pause that doubles with each failure in a row, from First up to Max. The zero value never pauses.
type Backoff struct {
	First, Max time.Duration
}

// After returns the pause after a number of failures in a row.
func (b Backoff) After(failures int) time.Duration {
	if failures <= 0 || b.First <= 0 {
		return 0
	}
	pause := b.First
	for range failures - 1 {
		if pause >= b.Max/2 {
			return max(b.First, b.Max)
		}
		pause *= 2
	}
	return pause
}
