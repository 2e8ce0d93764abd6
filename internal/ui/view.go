package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// keptEntries is the number of entries of the feed a panel can show at the most.
const keptEntries = 64

// A View knows what a panel shows at one position of a tape. It takes the
// tape's events in their order. It is for one goroutine.
//
// What it shows is a function of the events and of the time that has passed
// since the last one: however often a viewer looked on the way, and however the
// tape was moved there, it is the same.
type View struct {
	// FeedOnly says that no frames are shown: what they need besides the
	// feed's entries isn't followed.
	FeedOnly bool
	// Verbose keeps entries of every kind for the panel, and makes a moment of each, not only of those of the default feed.
	Verbose bool

	header   *timeline.Header
	options  observe.Options
	follower *observe.Follower

	recent  []noderoll.Entry
	blocked map[string]string // node to what holds its drain up
	failed  string
	gaps    []gap // the resources whose events may be missing, in the tape's order
	over    bool  // a roll is complete; the next one has a size of its own
	desired int   // how many nodes the roll has to replace; 0 before it begins
	from    string
	to      string
}

// gap is a resource between a GAP and its SYNC: as the events call it, and as
// the feed does.
type gap struct{ key, name string }

// Unmatched says why there was nothing to show so far; see
// [observe.Follower.Unmatched].
func (v *View) Unmatched() error { return v.follower.Unmatched() }

// NewView returns a View at the beginning of a tape. The options' Verbose is
// turned on: a panel needs to know more than it tells.
func NewView(h *timeline.Header, o observe.Options) *View {
	o.Verbose = true
	return &View{header: h, options: o, follower: observe.New(h, o), blocked: map[string]string{}}
}

// reset goes back to the beginning of the tape.
func (v *View) reset() {
	v.follower.Reset()
	*v = View{FeedOnly: v.FeedOnly, Verbose: v.Verbose, header: v.header, options: v.options, follower: v.follower, blocked: map[string]string{}}
}

// At returns the position.
func (v *View) At() time.Duration { return v.follower.At() }

// NextDeadline is when something will show even if no event comes.
func (v *View) NextDeadline() (time.Duration, bool) { return v.follower.NextDeadline() }

// Apply takes the tape's next event. It returns the entries of the verbose
// feed; they are good until the next call.
func (v *View) Apply(ev timeline.Event) ([]noderoll.Entry, error) {
	before := v.follower.OffTarget()
	entries, err := v.follower.Apply(ev)
	v.note(entries, before)
	v.noteGap(&ev, entries)
	if ev.Type == timeline.Sync && !v.FeedOnly {
		v.from, v.to = v.images()
	}
	return entries, err
}

// Advance lets time pass up to a position, without an event.
func (v *View) Advance(at time.Duration) []noderoll.Entry {
	entries := v.follower.Advance(at)
	v.note(entries, v.follower.OffTarget())
	return entries
}

// begun notes how many nodes a roll has to replace: those that are not on
// target at its first transition, one that this takes away included. They stay the
// measure until the next roll has nodes to replace: one that joins after the end of
// this one is no part of it.
func (v *View) begun(before int) {
	if v.desired > 0 && !v.over {
		return
	}
	off := max(before, v.follower.OffTarget())
	if v.over && off > 0 {
		v.over, v.failed = false, ""
	}
	if off > 0 {
		v.desired = off
	}
}

func (v *View) snapshot() noderoll.Snapshot {
	s, err := v.follower.Snapshot(context.Background()) // fails for a dead context alone
	if err != nil {
		return noderoll.Snapshot{}
	}
	return s
}

// note takes in what the feed says; before is the number of nodes off target
// without it.
func (v *View) note(entries []noderoll.Entry, before int) {
	moved := false
	for _, e := range entries {
		switch e.Kind {
		case noderoll.EvtBlocked:
			v.blocked[e.Node] = strings.TrimPrefix(e.Object, "PodDisruptionBudget/")
		case noderoll.EvtUnblocked, noderoll.EvtTerminated,
			noderoll.EvtJoining, noderoll.EvtOnline, noderoll.EvtNotReady: // uncordoned
			delete(v.blocked, e.Node)
		case noderoll.EvtFailed:
			if e.Object == "" { // of a pod it is its update alone
				v.failed = cmp.Or(e.Message, e.Reason, "no reason given")
			}
		}
		switch e.Kind {
		case noderoll.EvtComplete:
			v.over = true
		case noderoll.EvtJoining, noderoll.EvtCordoned, noderoll.EvtDraining, noderoll.EvtTerminated:
			v.begun(before)
		case noderoll.EvtOnline:
			if v.follower.OnTarget() { // else an old one has come back
				v.begun(before)
			}
		case noderoll.EvtUpdating, noderoll.EvtResizing:
			if e.Reason == "" { // no rollback
				v.over, v.failed = false, ""
			}
		}
		moved = moved || Transition(e.Kind)
		if v.Verbose || e.Kind.Default() {
			if len(v.recent) == keptEntries {
				v.recent = append(v.recent[:0], v.recent[1:]...)
			}
			v.recent = append(v.recent, e)
		}
	}
	if moved && !v.FeedOnly {
		v.from, v.to = v.images()
	}
}

// Transition reports whether a kind of entry is a transition of a node, or of a pod
// that a roll is about.
func Transition(k noderoll.EventKind) bool {
	switch k {
	case noderoll.EvtJoining, noderoll.EvtOnline, noderoll.EvtCordoned, noderoll.EvtDraining, noderoll.EvtNotReady, noderoll.EvtTerminated,
		noderoll.EvtUpdating, noderoll.EvtUpdated, noderoll.EvtRolledBack, noderoll.EvtRestarted,
		noderoll.EvtResizing, noderoll.EvtResized, noderoll.EvtDeferred, noderoll.EvtInfeasible:
		return true
	}
	return false
}

// Landmark reports whether a step to the next transition ends at a kind of entry: at
// a transition, at the end of a roll, complete or failed, and at a mark, which
// a user has set to be found.
func Landmark(k noderoll.EventKind) bool {
	switch k {
	case noderoll.EvtComplete, noderoll.EvtFailed, noderoll.EvtMark:
		return true
	}
	return Transition(k)
}

// noteGap notes which resources are between a GAP and its SYNC.
func (v *View) noteGap(ev *timeline.Event, entries []noderoll.Entry) {
	open := slices.IndexFunc(v.gaps, func(g gap) bool { return g.key == ev.Resource })
	switch {
	case ev.Type == timeline.Sync && open >= 0:
		v.gaps = slices.Delete(v.gaps, open, open+1)
	case ev.Type == timeline.Gap && open < 0:
		for _, e := range entries {
			if e.Kind == noderoll.EvtGap {
				v.gaps = append(v.gaps, gap{ev.Resource, e.Object})
			}
		}
	}
}

// Frame returns what a panel shows now; what only a player knows (its pace, the
// tape's length) is left for the caller.
func (v *View) Frame() render.Frame {
	s := v.snapshot()
	from, to := v.images()
	f := render.Frame{
		Title:     v.header.Metadata.Name,
		Nodegroup: cmp.Or(v.options.Pods.String(), v.options.Pool, v.header.Scope.Selector),
		Pods:      v.options.Pods.On(),
		Server:    v.header.Source.Server,
		FromImage: from, ToImage: to,
		Snapshot: s, Desired: v.desired, Rolling: v.desired > 0 && !v.over, Recent: v.recent, Blocked: v.blocked, Failed: v.failed,
		Position: v.follower.At(),
	}
	if to == unknownImage && !f.Rolling { // nothing shows a roll yet
		f.ToImage = from
	}
	if f.Desired == 0 { // who comes in the middle of a roll counts what is left of it
		f.Desired = s.OffTarget
	}
	if len(v.gaps) > 0 {
		names := make([]string, len(v.gaps))
		for i, g := range v.gaps {
			names[i] = g.name
		}
		f.Stale = "gap in " + strings.Join(names, ", ")
	}
	return f
}

// unknownImage stands for what a roll moves towards, until a node shows it.
const unknownImage = "…"

// images finds what the group ran before and what it is to run: the image of
// most nodes off target, and of most on it. Where there are none, it is the one
// found at the last transition or SYNC.
func (v *View) images() (from, to string) {
	if v.options.Pods.On() {
		return v.configurations(v.snapshot())
	}
	old, young := v.follower.Images()
	from = cmp.Or(old, v.from)
	to = cmp.Or(v.options.Target.Image, young, v.to)
	if to == "" && from != "" {
		to = unknownImage
	}
	return from, to
}

// configurations is images of a roll of pods.
func (v *View) configurations(s noderoll.Snapshot) (from, to string) {
	old := map[string]int{}
	for i := range s.Pods {
		if p := &s.Pods[i]; !p.OnTarget {
			old[p.Configuration]++
		}
	}
	from, to = cmp.Or(most(old), v.from), cmp.Or(s.PodTarget, v.to)
	if to == "" && from != "" {
		to = "…"
	}
	return from, to
}

func most(count map[string]int) string {
	best := ""
	for image, n := range count {
		if image != "" && (n > count[best] || n == count[best] && image < best || best == "") {
			best = image
		}
	}
	return best
}
