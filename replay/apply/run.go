package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nodesim/nodesim/timeline"
)

// Open looks at the cluster, refuses one that isn't meant for this, opens the
// Player and writes its initial state: what an earlier run has left is brought to
// it, and what isn't in it is taken away. A client that starts to watch the cluster
// when Open has returned sees what the tape shows from its beginning. Run
// begins with it.
//
// The errors are those of the connection, of the tape, and *ForeignNodesError.
func (a *Applier) Open(ctx context.Context) error {
	if a.opened {
		return nil
	}
	if err := a.connect(ctx); err != nil {
		return err
	}
	if err := a.foreign(ctx); err != nil {
		return err
	}
	if err := a.survey(ctx); err != nil {
		return err
	}
	a.unfollow()
	if err := a.followPlayer(); err != nil {
		return err
	}
	it, ok, err := a.follow.next()
	if err != nil || !ok {
		return err
	}
	if err := a.reset(ctx, it); err != nil {
		return err
	}
	a.opened = true
	return nil
}

// survey finds out how the cluster takes each resource of the tape.
func (a *Applier) survey(ctx context.Context) error {
	left := 0
	all := a.player.Header().Resources
	for _, r := range all {
		way, err := a.reader(ctx, r)
		if err != nil {
			return fmt.Errorf("cluster %s: %w", a.host, err)
		}
		if way.reason != "" {
			left++
		}
		a.mappings[r] = way
	}
	if left == len(all) && left > 0 {
		return fmt.Errorf("cluster %s: nothing of the tape can be written: %s", a.host, a.mappings[all[0]].reason)
	}
	return nil
}

func (a *Applier) reader(ctx context.Context, r timeline.Resource) (resourceMapping, error) {
	f, err := a.catalog.find(ctx, r)
	if err != nil {
		return resourceMapping{}, err
	}
	w := resourceMapping{found: f, reason: f.reason}
	if f.served {
		w.reason = a.denied(ctx, r, f.status)
	}
	if r.Group == definitions.Group && r.Resource == definitions.Resource {
		w.status = false // the server's own controllers say it
	}
	return w, nil
}

// mappingOf returns how the cluster takes a resource now: a definition on the tape may
// have made it.
func (a *Applier) mappingOf(ctx context.Context, r timeline.Resource) (resourceMapping, error) {
	a.mu.Lock()
	w, ok := a.mappings[r]
	_, defined := a.builder.written[definitions.String()]
	a.mu.Unlock()
	if ok && (w.served || !defined || a.catalog.ask == nil) {
		return w, nil
	}
	a.asking.Lock()
	defer a.asking.Unlock()
	w, err := a.reader(ctx, r)
	if err != nil {
		return w, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mappings[r] = w
	return w, nil
}

// Run plays the tape into the cluster at the Player's pace, and returns when it
// ends, the context does, or the tape proves bad. The Report says what has come
// of it, whatever the error. Writes are made one after the other, in the order
// of the tape, but for the initial state, in which there is none. What was
// written stays; Cleanup takes it away.
//
// After an error, the next Run brings the cluster to where the Player is, and
// continues from there; a new Applier, in another process too, begins again with
// the Player's initial state.
func (a *Applier) Run(ctx context.Context) (Report, error) {
	err := a.Open(ctx)
	if err == nil {
		err = a.play(ctx)
	}
	if err != nil { // what was under way, and what waited, may be lost
		a.opened = false
		a.unfollow()
	}
	return a.Report(), err
}

func (a *Applier) play(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var beats sync.WaitGroup
	defer beats.Wait()
	defer cancel()
	beats.Go(func() { a.keepAlive(ctx) })
	for {
		crowded, err := a.nextEvents(ctx)
		if err != nil || !crowded {
			return err
		}
	}
}

// nextEvents lets the Player run until the tape ends or too much waits, and writes
// meanwhile, and what is left.
func (a *Applier) nextEvents(ctx context.Context) (crowded bool, err error) {
	run, pause := context.WithCancel(ctx)
	defer pause()
	a.follow.onFull(pause)
	var ended error
	ran := make(chan error, 1)
	go func() { ran <- a.player.Run(run) }()
	defer func() {
		if ran != nil {
			pause()
			<-ran //nolint:errcheck // the stretch has an error of its own
		}
	}()
	for {
		it, ok, err := a.follow.next()
		switch {
		case err != nil:
			return false, err
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case ok:
			if err := a.write(ctx, it); err != nil {
				return false, err
			}
			continue
		case ran == nil:
			return crowded, ended
		}
		select {
		case <-a.follow.wake:
		case err := <-ran:
			ran = nil
			crowded = err != nil && ctx.Err() == nil && errors.Is(err, context.Canceled)
			if !crowded {
				ended = err // what is before it on the tape is written first
			}
			a.follow.rest(a.player.Status().Event)
		}
	}
}

// write does one item.
func (a *Applier) write(ctx context.Context, it item) error {
	a.count(func(l *reportBuilder) { l.Position = max(l.Position, it.at) })
	if it.state != nil {
		return a.reset(ctx, it)
	}
	if it.object == nil {
		a.liveness.gone(it.key)
		return a.drop(ctx, it.key)
	}
	err := a.put(ctx, it.key, it.object, nil)
	a.liveness.see(it.key, it.object)
	return err
}
