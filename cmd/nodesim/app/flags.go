package app

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value string
	of    []string
}

func newChoice(preset string, of ...string) *choice { return &choice{preset, of} }

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return oneOf(c.of) }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return fmt.Errorf("want %s", strings.Join(c.of, ", "))
	}
	c.value = s
	return nil
}

// speed is a flag such as 20x; zero means that it wasn't given.
type speed struct{ replay.Speed }

func (s *speed) Type() string { return "SPEED" }

func (s *speed) String() string {
	if s.Speed == 0 {
		return ""
	}
	return s.Speed.String()
}

func (s *speed) Set(text string) (err error) {
	if s.Speed, err = replay.ParseSpeed(text); err != nil {
		return tail(err, "speed ", text)
	}
	return nil
}

// position is a flag such as T+1m32s.
type position struct {
	time.Duration
	given bool
}

func (p *position) Type() string { return "TIME" }

func (p *position) String() string {
	switch {
	case !p.given:
		return ""
	case p.Duration == replay.End:
		return "end"
	}
	return p.Duration.String()
}

func (p *position) Set(text string) (err error) {
	p.given = true
	if p.Duration, err = replay.ParsePosition(text); err != nil {
		return tail(err, "position ", text)
	}
	return nil
}

// wantTape refuses --at of what has one moment alone.
func (p *position) wantTape(why string) error {
	if p.given {
		return usagef("flag --at: want a tape with it: %s", why)
	}
	return nil
}

// Why --at isn't for what is no tape.
const (
	scenarioMoment = "a scenario has its first moment alone"
	clusterMoment  = "the cluster itself is read as it is now"
)

// tail drops what pflag says as well: which value it is about.
func tail(err error, word, value string) error {
	return errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("%s%q: ", word, value)))
}

// seed is a flag such as 7; nil where it wasn't given.
type seed struct{ value *uint64 }

func (s *seed) Type() string { return "N" }

func (s *seed) String() string {
	if s.value == nil {
		return ""
	}
	return strconv.FormatUint(*s.value, 10)
}

func (s *seed) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("want a whole number from 0 to %d", uint64(math.MaxUint64))
	}
	s.value = &n
	return nil
}

// instant is a flag such as 2026-11-27T12:00:00Z; zero where it wasn't given.
type instant struct{ time.Time }

func (i *instant) Type() string { return "TIME" }

func (i *instant) String() string {
	if i.IsZero() {
		return ""
	}
	return i.UTC().Format(time.RFC3339)
}

func (i *instant) Set(text string) error {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.IsZero() {
		return errors.New("want a time, such as 2026-11-27T12:00:00Z")
	}
	i.Time = at
	return nil
}
