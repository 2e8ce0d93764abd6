package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// Markers are those that were set, and those of the tape as far as they are
// known, in the order of their positions.
func (c *Control) Markers() []Marker {
	tape := c.sources.Summary().Markers
	if read := c.player.Markers(); len(read) > len(tape) {
		tape = read
	}
	markers := make([]Marker, 0, len(tape))
	for _, m := range tape {
		markers = append(markers, Marker{Name: m.Name, At: Seconds(m.At)})
	}
	c.mu.Lock()
	markers = append(markers, c.set...)
	c.mu.Unlock()
	slices.SortStableFunc(markers, func(a, b Marker) int { return int(min(max(a.At-b.At, -1), 1)) })
	return markers
}

// The limits of what can be set.
const (
	mostMarkers   = 1000
	longestMarker = 200 // bytes
)

// Mark sets a marker at the present position.
func (c *Control) Mark(name string) error {
	switch {
	case name == "" || name != noderoll.OneLine(name):
		return fmt.Errorf("name %q: want a line of text", name)
	case len(name) > longestMarker:
		return fmt.Errorf("name: has %d bytes: want at most %d", len(name), longestMarker)
	}
	at := c.player.Position()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.set) == mostMarkers {
		return fmt.Errorf("name %q: %d markers are set already, and no more can be", name, mostMarkers)
	}
	c.set = append(c.set, Marker{Name: name, At: Seconds(at), Set: true})
	return nil
}

// NextMarker goes to the next marker; where there is none, it stays.
func (c *Control) NextMarker(ctx context.Context) error {
	at := c.player.Position()
	for _, m := range c.Markers() {
		if time.Duration(m.At) > at {
			return c.Seek(ctx, time.Duration(m.At))
		}
	}
	return nil
}

// PreviousMarker goes back to the last marker, or to the one before that where
// the tape has just come by it; where there is none, it stays.
func (c *Control) PreviousMarker(ctx context.Context) error {
	s := c.player.Status()
	at := s.Position
	at -= passing(s) // who looks for it a second time while the tape continues isn't held where it is
	for _, m := range slices.Backward(c.Markers()) {
		if time.Duration(m.At) < at {
			return c.Seek(ctx, time.Duration(m.At))
		}
	}
	return nil
}
