package recorder

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/labels"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// prepared is everything that a recording needs before its tape is made.
type prepared struct {
	header    timeline.Header
	start     time.Time
	sequencer *sequencer
	lists     [][]*object // by track
	versions  []string
	watches   []*watch
	sample    []labels.Set // of nodes, where their list is too long to be kept
}

func (p *prepared) close() {
	for _, w := range p.watches {
		w.closeStream()
	}
}

// preflightTries is the number of times that a list is tried before the recording begins,
// where the server is there but busy.
const preflightTries = 5

// prepare asks the cluster for everything, in an order that finds what can't
// work before anything is left behind: what it is, what it offers, the lists,
// and the watches, which are opened here so that a forbidden one is found.
func (r *Recorder) prepare(ctx context.Context, c *client) (*prepared, error) {
	var cat *catalog
	err := r.retryRequest(ctx, func() (err error) {
		cat, err = discover(ctx, c)
		return err
	})
	if err != nil {
		return nil, unreachable(c, err)
	}
	id, err := c.identify(ctx, r.cfg.Identified, r.cfg.Warn)
	if err != nil {
		return nil, err
	}
	header, err := r.header(ctx, c, cat, id)
	if err != nil {
		return nil, err
	}
	for {
		p, err := r.lookAt(ctx, c, header)
		var none *noNodeError
		if !r.cfg.Wait || !errors.As(err, &none) {
			return p, err
		}
		r.cfg.Waiting(none.Error())
		if err := r.await(ctx, c, none.nodes); err != nil {
			return nil, err
		}
	}
}

// lookAt reads all lists, or those that a tape lacks, and opens the watches.
func (r *Recorder) lookAt(ctx context.Context, c *client, header timeline.Header) (*prepared, error) {
	s, err := newScope(r.cfg.Scope)
	if err != nil {
		return nil, err
	}
	p := &prepared{header: header}
	p.sequencer = newSequencer(&p.header, s)
	for _, t := range p.sequencer.states {
		p.watches = append(p.watches, &watch{rec: r, client: c, state: t, redactor: r.redactor()})
	}
	if r.cfg.Resume != nil {
		err = r.continueTape(ctx, p)
	} else {
		err = r.collect(ctx, p)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// openWatch opens a watch. A list that has expired meanwhile is a gap of the tape.
func (r *Recorder) openWatch(ctx context.Context, w *watch) error {
	err := r.retryRequest(ctx, func() error { return w.connect(ctx) })
	if expired(err) {
		w.lost, err = err.Error(), nil
	}
	if err != nil {
		err = refused("watch", w.state.res, err)
	}
	return err
}

// collect lists everything, opens the watches and loads the sequencer.
func (r *Recorder) collect(ctx context.Context, p *prepared) error {
	raws := make([][][]byte, len(p.watches))
	listing, stop := context.WithCancel(ctx)
	defer stop()
	var (
		all    sync.WaitGroup
		failed sync.Once
		first  error
	)
	room := make(chan struct{}, 4)
	for i, w := range p.watches {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			var err error
			if raws[i], err = w.preflight(listing, p.sequencer.scope != nil); err == nil {
				err = r.openWatch(ctx, w) // it outlives the lists
			}
			if err != nil {
				failed.Do(func() { first = err; stop() })
			}
		})
	}
	all.Wait()
	if first != nil {
		return first
	}
	p.lists = make([][]*object, len(p.watches))
	for i, w := range p.watches {
		if w.long {
			p.versions = append(p.versions, unread)
			p.sample, raws[i] = append(p.sample, sampled(w.state, raws[i])...), nil
			continue
		}
		p.versions = append(p.versions, w.version)
	}
	p.sequencer.loadAll(p.lists, raws)
	p.start = r.clock.Now()
	if err := r.checkGroup(p); err != nil {
		return err
	}
	p.header.Metadata.Start = timeline.Time{Time: p.start.UTC().Round(0)}
	p.header.Scope.Provider = provider(p, r.cfg.Scope)
	return nil
}

// retryRequest asks again where an answer was cut off: the server is there. Whatever
// else goes wrong before a recording is for the user to know at once.
func (r *Recorder) retryRequest(ctx context.Context, ask func() error) error {
	for try := 1; ; try++ {
		err := ask()
		if err == nil || try == preflightTries || !cutOff(err) {
			return err
		}
		if retry.Pause(ctx, r.clock, backoff(try, r.cfg.Jitter(), 0)) != nil {
			return err
		}
	}
}

// cutOff reports whether a connection ended in the middle of an answer.
func cutOff(err error) bool {
	return utilnet.IsConnectionReset(err) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (r *Recorder) header(ctx context.Context, c *client, cat *catalog, id cluster) (timeline.Header, error) {
	if r.cfg.Resume != nil {
		h := *r.cfg.Out.Header()
		if was := h.Source.Cluster; was != "" && id.uid != "" && was != id.uid {
			return h, &OtherClusterError{Tape: was, Found: id.uid}
		}
		if r.machines {
			return h, r.same(ctx, c, cat, h.Resources)
		}
		return h, nil
	}
	resources, err := r.resources(ctx, c, cat)
	if err != nil {
		return timeline.Header{}, err
	}
	return timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind,
		Metadata:  timeline.Metadata{Name: r.cfg.Name},
		Source:    timeline.Origin{Kind: timeline.SourceRecording, Server: id.version, Cluster: id.uid, Times: timeline.TimesObserved},
		Scope:     r.cfg.Scope.header(),
		Resources: resources, Redaction: r.redactor().Paths(),
	}, nil
}

func (r *Recorder) redactor() *timeline.Redactor {
	if r.cfg.Full {
		return timeline.FullRedaction()
	}
	return timeline.DefaultRedaction()
}
