// Package watch does the work of the verb watch: it looks at a live cluster through
// an Observer, again and again, and hands on what a panel or a feed shows. It
// records nothing and writes nothing to the cluster.
package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
)

// Options say what is watched and which functions are told.
type Options struct {
	Observer noderoll.Observer
	// Frame holds what doesn't change in a panel: its title, the group, the server.
	Frame render.Frame
	// NoBudgets says why the Observer doesn't read budgets; empty where it does.
	NoBudgets string
	// What names the nodes that are looked for: "node group workers".
	What string
	// Timeout bounds how long to wait for the first of them, and how long a picture
	// may be stale; 0 is forever.
	Timeout time.Duration
	// Interval is the pause between two looks; 0 means a second.
	Interval time.Duration
	// Entries takes what happened since the last look, and Draw what is there
	// now. Either may be nil. Say takes a line for people.
	Entries func([]noderoll.Entry) error
	Draw    func(render.Frame) error
	Say     func(string)
}

// Run watches until ctx ends, which is no error. It is one if none of the nodes
// is found within the Timeout, or the cluster can't be read for so long.
func Run(ctx context.Context, o Options) error {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Timeout > 0 {
		o.Observer = bounded{o.Observer, o.Timeout}
	}
	w := &watcher{Options: o, story: newStory()}
	err := noderoll.Watch(ctx, o.Observer, noderoll.WatchOptions{Interval: o.Interval, MaxStale: o.Timeout}, w.show)
	switch {
	case w.err != nil:
		return w.err
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil
	}
	return err
}

// bounded ends a look that hangs, since noderoll.Watch does not.
type bounded struct {
	noderoll.Observer
	most time.Duration
}

func (b bounded) Snapshot(ctx context.Context) (noderoll.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, b.most)
	defer cancel()
	return b.Observer.Snapshot(ctx)
}

type watcher struct {
	Options
	story  *story
	began  time.Time
	seen   bool   // a node was found, now or before
	said   string // the last line for people
	recent []noderoll.Entry
	err    error
}

// shown is the number of entries a panel can show.
const shown = 64

// show takes one look.
func (w *watcher) show(u noderoll.Update) bool {
	if w.began.IsZero() {
		w.began = u.At
	}
	at := u.At.Sub(w.began)
	if u.Snapshot.BudgetsError == "" {
		u.Snapshot.BudgetsError = w.NoBudgets
	}
	first := !w.seen && len(u.Snapshot.Nodes) > 0
	w.seen = w.seen || first
	stale := ""
	switch {
	case u.Err != nil:
		stale = "can't read the cluster: " + u.Err.Error()
		w.say(stale)
	case !w.seen:
		if w.Timeout > 0 && at >= w.Timeout {
			w.err = fmt.Errorf("%s: found no node of it within %s: want a group that has nodes, by --nodegroup, --provider or --selector", w.What, w.Timeout)
			return false
		}
		stale = "waiting for the first node of " + w.What
		w.say(stale)
	default:
		w.said = ""
	}
	var entries []noderoll.Entry
	if u.Err == nil {
		entries = w.story.look(at, u.Snapshot)
	}
	if first { // said after the look that everything else is compared with
		w.say(fmt.Sprintf("watching %s, %s", w.What, phrase.Count(len(u.Snapshot.Nodes), "node")))
	}
	if len(entries) > 0 && w.Entries != nil {
		w.err = w.Entries(entries)
	}
	if w.Draw != nil && w.err == nil {
		w.recent = append(w.recent, entries...)
		w.recent = w.recent[max(len(w.recent)-shown, 0):]
		f := w.Frame
		f.Snapshot, f.Recent, f.Position, f.Stale, f.Live = u.Snapshot, w.recent, at, stale, true
		w.story.fill(&f)
		w.err = w.Draw(f)
	}
	return w.err == nil
}

// say tells people once.
func (w *watcher) say(line string) {
	if line != w.said && w.Say != nil {
		w.Say(line)
	}
	w.said = line
}
