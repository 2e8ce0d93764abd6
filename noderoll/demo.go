package noderoll

import (
	"context"
	"sync"
)

// DemoTimeline is a surge roll of three old nodes to three new ones, one at a
// time: each new node joins and goes Ready, then an old node loses its pods and
// is terminated. 14 frames, rebuilt on each call. Their nodes are in the order of the roll, old before new; Tally sorts them by name,
// as those of an observer are.
func DemoTimeline() []Snapshot {
	const (
		a, b, c = "ip-10-0-1-12", "ip-10-0-3-21", "ip-10-0-2-08" // old
		d, e, f = "ip-10-0-1-44", "ip-10-0-2-77", "ip-10-0-3-05" // new
	)
	old := func(name string) NodeView { return NodeView{Name: name, Ready: true, Phase: PhaseReady} }
	drain := func(name string, pods, total int) NodeView {
		return NodeView{Name: name, Ready: true, Phase: PhaseDraining, Pods: pods, PodsTotal: total}
	}
	join := func(name string) NodeView { return NodeView{Name: name, OnTarget: true, Phase: PhaseJoining} }
	new := func(name string) NodeView {
		return NodeView{Name: name, OnTarget: true, Ready: true, Phase: PhaseReady}
	}
	frame := func(nodes ...NodeView) Snapshot {
		s := Snapshot{Nodes: nodes}
		s.count()
		return s
	}
	return []Snapshot{
		frame(old(a), old(b), old(c)),
		frame(old(a), old(b), old(c), join(d)),
		frame(drain(a, 4, 4), old(b), old(c), new(d)),
		frame(drain(a, 2, 4), old(b), old(c), new(d)),
		frame(drain(a, 0, 4), old(b), old(c), new(d)),
		frame(old(b), old(c), new(d)),
		frame(old(b), old(c), new(d), join(e)),
		frame(drain(b, 3, 3), old(c), new(d), new(e)),
		frame(drain(b, 0, 3), old(c), new(d), new(e)),
		frame(old(c), new(d), new(e)),
		frame(old(c), new(d), new(e), join(f)),
		frame(drain(c, 5, 5), new(d), new(e), new(f)),
		frame(drain(c, 0, 5), new(d), new(e), new(f)),
		frame(new(d), new(e), new(f)),
	}
}

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
