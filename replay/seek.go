package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

const (
	keyframeEvery    = 1024 // events, at least
	maxKeyframes     = 16
	maxKeyframeBytes = 32 << 20 // of objects, those that several have in common counted again
)

// keyframe is a moment to come back to without applying what led there.
type keyframe struct {
	number int
	at     time.Duration
	state  *State
}

// keyframe keeps the present moment, if it is time. When there are too many,
// every other is dropped and the distance doubled, so that any length of tape
// has between 8 and 16, or fewer of big states, and none of a state beyond
// maxKeyframeBytes: going back then reads the tape from its beginning.
func (p *Player) keyframe() {
	if p.every == 0 || p.opening {
		return
	}
	last := 0
	if n := len(p.frames); n > 0 {
		last = p.frames[n-1].number
	}
	if p.number-last < p.every || p.number-last < 4*p.cluster.alive() {
		return
	}
	state := p.cluster.State()
	held := state.bytes
	for _, f := range p.frames {
		held += f.state.bytes
	}
	if n := len(p.frames); n == maxKeyframes || held > maxKeyframeBytes {
		for i := range n / 2 {
			p.frames[i] = p.frames[2*i+1]
		}
		clear(p.frames[n/2:])
		p.frames = p.frames[:n/2]
		p.every *= 2
		return
	}
	p.frames = append(p.frames, keyframe{p.number, p.at, state})
}

// mostAhead bounds how far an Engine is moved at once: it has always more to do, and nobody else is answered meanwhile.
const mostAhead = 30 * 24 * time.Hour

// Seek goes to a position: what is at or before it is applied, what stands
// after it isn't. Forward, open watches see everything on the way. Backward
// is a rewind, see [Cluster.Rewind]. A position after the last event is the
// end of the tape, one before From is From.
//
// It continues until it is there, its context ends, or the tape proves bad; in
// the last two cases the position is somewhere on the way. Other methods wait
// for it.
func (p *Player) Seek(ctx context.Context, to time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seek(ctx, max(to, p.from))
}

func (p *Player) seek(ctx context.Context, to time.Duration) (err error) {
	switch {
	case p.engine != nil && to < p.reached:
		return errNoWayBack
	case p.engine != nil && to-p.reached > mostAhead:
		return fmt.Errorf("replay: seek to %s: a cluster that acts has no end: want a position at most %s ahead", to, mostAhead)
	}
	if to < p.at && p.opened {
		err = p.back(ctx, to)
	} else {
		err = p.forward(ctx, to)
	}
	p.anchor()
	if err == nil && !p.ended && to > p.at {
		p.pace.shown = p.pace.Shown(to)
		p.publish()
	}
	p.note(Note{Kind: Moved})
	p.awake()
	return err
}

// forward applies everything up to a position.
func (p *Player) forward(ctx context.Context, to time.Duration) error {
	if _, err := p.open(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if n%batch == batch-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		ev, err := p.peek()
		if err != nil {
			return err
		}
		if ev == nil && p.engine != nil {
			if there, err := p.passToward(to); err != nil || there {
				return err
			}
			continue
		}
		if ev == nil || ev.At > to {
			p.cluster.Settle()
			if ev == nil {
				to = End
			}
			p.cluster.Pass(to)
			return nil
		}
		if _, err := p.apply(); err != nil {
			return err
		}
	}
}

// back rewinds to the last keyframe before a position and goes forward from it.
func (p *Player) back(ctx context.Context, to time.Duration) error {
	if errors.Is(p.err, errClosed) {
		return p.err
	}
	i := len(p.frames)
	for i > 0 && p.frames[i-1].at > to {
		i--
	}
	var k keyframe
	if i > 0 {
		k = p.frames[i-1]
	}
	if err := p.reopen(ctx, k.number); err != nil {
		return err
	}
	p.cluster.Rewind(k.state)
	p.rewinds++
	p.number, p.at, p.opened = k.number, k.at, i > 0
	p.note(Note{Kind: Rewound})
	return p.forward(ctx, to)
}

// reopen reads the tape again, from after its first n events.
func (p *Player) reopen(ctx context.Context, n int) error {
	stream, skip, err := p.openAt(n)
	if err != nil {
		return err
	}
	for i := range skip {
		if i%batch == batch-1 && ctx.Err() != nil {
			err = ctx.Err()
		} else {
			_, err = stream.Next()
		}
		if err != nil {
			_ = stream.Close() // the first error is the one to tell
			return err
		}
	}
	err = p.stream.Close()
	p.stream, p.next, p.ended, p.told, p.err = stream, nil, false, false, nil
	return err
}

// openAt opens the tape and says how many events are left to skip.
func (p *Player) openAt(n int) (timeline.Stream, int, error) {
	if s, ok := p.source.(skipper); ok {
		stream, err := s.openAt(n)
		return stream, 0, err
	}
	stream, err := p.source.Open()
	return stream, n, err
}
