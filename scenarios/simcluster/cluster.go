package simcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// Cluster is a simulated cluster. Its methods may be called from any goroutine;
// one of RunFor and RunUntil may be under way at a time, beside Run if that has begun
// before. What has happened is kept in memory, compressed, for WriteTape, as long as
// the cluster lives.
type Cluster struct {
	engine *scenarios.Acting
	player *replay.Player
	server *apiserver.Server
	lives  atomic.Bool // Run lets time pass, or is about to

	mu   sync.Mutex
	tape *record
	last []timeline.Event
	news chan struct{} // has one where something happened since it was read
}

// New starts a cluster that stands at its beginning. Options are those of a
// Player and of an apiserver. Close it.
func New(start Start, opts ...replay.Option) (c *Cluster, err error) {
	e, err := start.Engine()
	if err != nil {
		return nil, err
	}
	c = &Cluster{engine: e, news: make(chan struct{}, 1), tape: newRecord(*e.Header())}
	if c.server, err = apiserver.ForEngine(e, append(slices.Clip(opts), replay.WithNotes(c.note))...); err != nil {
		return nil, err
	}
	c.player = c.server.Player()
	return c, nil
}

// note keeps what happens.
func (c *Cluster) note(n replay.Note) {
	if n.Kind != replay.Applied {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.tape.lists(n.Event.Resource) {
		for _, r := range c.player.Cluster().Resources() {
			if r.String() == n.Event.Resource { // a client has defined it
				c.tape.list(r)
				break
			}
		}
	}
	c.tape.add(n.Event)
	if n.Event.Type.Object() {
		if len(c.last) == shownEvents {
			c.last = append(c.last[:0], c.last[1:]...)
		}
		c.last = append(c.last, n.Event)
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// shownEvents is the number of events that an error of RunUntil shows.
const shownEvents = 5

// RESTConfig returns how clients in this process reach the cluster: a clientset,
// an informer, controller-runtime's manager. Each call returns a new one that may
// be changed.
func (c *Cluster) RESTConfig() *rest.Config { return c.server.RESTConfig() }

// Player paces the cluster: pause, step, speed, position.
func (c *Cluster) Player() *replay.Player { return c.player }

// Server is the cluster's API as an http.Handler.
func (c *Cluster) Server() *apiserver.Server { return c.server }

// Close ends the cluster and all of its watches. The tape stays.
func (c *Cluster) Close() error {
	c.server.Close()
	return c.player.Close()
}

// Run lets the cluster live by the clock until the context ends, whose error it
// returns, or the simulation fails. Until it has begun, which the first event on a
// watch or a later position shows, RunFor and RunUntil let time pass themselves.
func (c *Cluster) Run(ctx context.Context) error {
	c.lives.Store(true)
	defer c.lives.Store(false)
	return c.player.Run(ctx)
}

// RunFor lets a time pass, and waits after each event until every watch has
// delivered it. It doesn't wait for what clients then do.
func (c *Cluster) RunFor(ctx context.Context, d time.Duration) error {
	to := c.player.Position() + d
	for {
		there, err := c.next(ctx, to)
		if err != nil || there {
			return err
		}
	}
}

// RunUntil lets time pass until ok returns true, which is called at first and after
// each event. It fails when limit has passed, with what was waited for and the last events. While
// Run lets time pass, RunUntil waits for it to do so.
func (c *Cluster) RunUntil(ctx context.Context, limit time.Duration, waitedFor string, ok func() bool) error {
	to := c.player.Position() + limit
	for !ok() {
		there, err := c.next(ctx, to)
		if err != nil {
			return fmt.Errorf("wait for %s: %w", waitedFor, err)
		}
		if there && !ok() {
			return fmt.Errorf("wait for %s: it didn't happen in %s. The last events:\n%s", waitedFor, limit, c.lastEvents())
		}
		if there {
			return nil
		}
	}
	return nil
}

// next goes to the next event, and reports whether there is none up to a
// position; time stands at that position then.
func (c *Cluster) next(ctx context.Context, to time.Duration) (there bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if c.lives.Load() {
		return c.await(ctx, to)
	}
	at, ok, err := c.player.Upcoming()
	if err != nil {
		return false, err
	}
	if !ok || at > to {
		if err := c.player.Seek(ctx, to); err != nil {
			return false, err
		}
		return true, c.player.Cluster().WaitDelivered(ctx)
	}
	if err := c.player.Seek(ctx, at); err != nil {
		return false, err
	}
	return false, c.player.Cluster().WaitDelivered(ctx)
}

var errPaused = errors.New("the cluster is paused, so that no time passes: want Resume of its Player before")

// pollEvery is how long await waits at most for an event before it looks at
// the time: a condition may depend on more than the cluster.
const pollEvery = time.Second

// await waits until Run has made an event, or time has come to a position.
func (c *Cluster) await(ctx context.Context, to time.Duration) (there bool, err error) {
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-c.news:
	case <-timer.C:
	}
	s := c.player.Status()
	if s.Paused && s.Err == nil {
		s.Err = errPaused
	}
	return s.Position >= to, s.Err
}

func (c *Cluster) lastEvents() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var text bytes.Buffer
	for _, ev := range c.last {
		fmt.Fprintf(&text, "%s %s %s %s\n", timeline.FormatAt(ev.At), ev.Type, ev.Resource, ev.Name)
	}
	return text.String()
}

// WriteTape writes the tape of all that has happened so far, the clients' own
// writes included. It ends at the cluster's position.
func (c *Cluster) WriteTape(w io.Writer) error {
	text, err := c.text()
	if err != nil {
		return err
	}
	_, err = io.Copy(w, text)
	return err
}

// text reads the tape as it is now.
func (c *Cluster) text() (io.Reader, error) {
	at := c.player.Position()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tape.open(at)
}

// Tape is that tape for a replay, a feed or the invariants: of what has happened
// when it is opened.
func (c *Cluster) Tape() timeline.Source { return tape{c} }

type tape struct{ cluster *Cluster }

func (t tape) Open() (timeline.Stream, error) {
	text, err := t.cluster.text()
	if err != nil {
		return nil, err
	}
	return timeline.NewReader(text)
}
