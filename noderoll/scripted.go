package noderoll

import (
	"context"
	"sync"
)

// ScriptedObserver replays a fixed sequence of snapshots. After the last one it
// keeps returning that. It is safe for concurrent use; each call of Snapshot
// hands out the next frame, whatever makes it.
type ScriptedObserver struct {
	mu     sync.Mutex
	frames []Snapshot
	given  int // frames handed out so far, at most len(frames)
}

// NewScriptedObserver replays frames in order. It keeps its own copy: what the
// caller does to frames later changes nothing.
func NewScriptedObserver(frames []Snapshot) *ScriptedObserver {
	own := make([]Snapshot, len(frames))
	for i, f := range frames {
		own[i] = f.Clone()
	}
	return &ScriptedObserver{frames: own}
}

// Snapshot returns the next frame as a copy that belongs to the caller, or the
// zero Snapshot when there are no frames. The only error is that of ctx, and it
// consumes no frame.
func (o *ScriptedObserver) Snapshot(ctx context.Context) (Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return Snapshot{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.frames) == 0 {
		return Snapshot{}, nil
	}
	if o.given < len(o.frames) {
		o.given++
	}
	return o.frames[o.given-1].Clone(), nil
}

// AtEnd reports whether the last frame has been handed out. A script without
// frames is at its end from the start.
func (o *ScriptedObserver) AtEnd() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.given == len(o.frames)
}
