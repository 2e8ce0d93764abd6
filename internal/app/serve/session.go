package serve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/timeline"
)

// Options say what is served, and to whom.
type Options struct {
	Tape *ui.Tape
	// Engine is a cluster that takes writes, in place of the tape, which is
	// [ui.Acting] then.
	Engine replay.Engine
	// Do has a fault happen in the Engine, in the words of a scenario file; nil with
	// a tape.
	Do func(fault string) error
	// Driver makes what follows the tape for people.
	Driver func(*timeline.Header) (*ui.Driver, error)
	// Player and Server are options of theirs besides those made here.
	Player []replay.Option
	Server []apiserver.Option
	// Faults are to go wrong, besides those that the tape's header declares.
	Faults []string
	// Listen is the address; "" is a free port of loopback. Kubeconfig is the file
	// to write; "" is a new temporary one.
	Listen, Kubeconfig string
	// ExitAtEnd ends with the tape, when every watcher has been handed all
	// of it. Otherwise the end is a moment like others.
	ExitAtEnd bool
	// Say takes lines about what happens besides the tape, one call at a time. It
	// must be quick.
	Say func(string)
}

// Session is a replay that is served. Its fields are for the one who runs it.
type Session struct {
	Player  *replay.Player
	Driver  *ui.Driver
	Show    *ui.Show
	Control *control.Control
	// Kubeconfig is the file that leads clients here.
	Kubeconfig string

	options    Options
	fired      *fired
	summarizer *ui.Summarizer
	server     *apiserver.Server
	listener   *apiserver.Listener
	file       *apiserver.Kubeconfig
	undo       []func() error // in the order in which it was done
}

// keepPace is the number of events a client may be behind at the highest speed before
// the tape waits for it.
const keepPace = 4096

// mostLag is the number of events of a resource a client may be behind at any other
// speed before its watch ends with 410: what is kept for it is bounded, however
// slowly it reads.
const mostLag = 1 << 16

// Open opens the tape, the socket and the kubeconfig: clients can connect, and are
// answered when Run is called. Close the Session.
func Open(ctx context.Context, o Options) (s *Session, err error) {
	s = &Session{options: o, fired: &fired{say: o.Say}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	opts := append([]replay.Option{
		replay.KeepPace(keepPace), replay.WithCluster(replay.MaxLag(mostLag)), fault.InjectAndLog(s.fired.note, o.Faults...),
	}, o.Player...)
	if !o.ExitAtEnd {
		opts = append(opts, replay.StayOpen())
	}
	if o.Engine != nil {
		s.Player, err = replay.NewEnginePlayer(o.Engine, opts...)
	} else {
		s.Player, err = replay.NewPlayer(o.Tape.Source(), opts...)
	}
	if err != nil {
		return s, err
	}
	s.undo = append(s.undo, s.Player.Close)
	if s.Driver, err = o.Driver(s.Player.Header()); err != nil {
		return s, err
	}
	s.Show = ui.Over(s.Player, o.Tape, s.Driver)
	s.then(s.Show.Close)
	s.then(s.Player.Subscribe(s.tell))
	sources := control.Sources{Transitions: s.Driver.Landmarks, Since: s.Driver.LandmarksSince, Summary: s.known, Faults: s.fired.all}
	if o.Do != nil {
		sources.Do = s.do
	}
	s.Control = control.New(s.Player, sources)
	if s.server, err = apiserver.New(s.Player, append(o.Server, apiserver.ImpliedNamespaces(), apiserver.Mount(control.Path, s.Control.Handler()))...); err != nil {
		return s, err
	}
	s.then(s.server.Close)
	if s.listener, err = s.server.Listen(o.Listen); err != nil {
		return s, err
	}
	s.then(func() { _ = s.listener.Close() }) // where Run has closed it, once more is no harm
	if s.file, err = s.listener.WriteKubeconfig(o.Kubeconfig); err != nil {
		return s, err
	}
	s.undo = append(s.undo, s.file.Remove)
	s.Kubeconfig = s.file.Path
	// Last: reading a large tape through costs as much as all of the above.
	s.summarizer = ui.NewSummarizer(ctx, o.Tape)
	s.then(s.summarizer.Close)
	return s, nil
}

// known returns what is known of the whole tape. It isn't called before Open has returned.
func (s *Session) known() replay.Summary { return s.summarizer.Known() }

// do has a fault happen now, and shows what follows at once.
func (s *Session) do(fault string) error {
	if err := s.Player.Transact(func(*replay.Tx) error { return s.options.Do(fault) }); err != nil {
		return err
	}
	return s.Player.Transact(func(*replay.Tx) error { return nil })
}

func (s *Session) then(f func()) { s.undo = append(s.undo, func() error { f(); return nil }) }

// Close ends what Open began, the last first. Run must have returned, or not have
// been called.
func (s *Session) Close() (err error) {
	for i := len(s.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, s.undo[i]())
	}
	s.undo = nil
	return err
}

// delivery is the time the end of the tape may take to reach everyone.
const delivery = 10 * time.Second

// Run answers clients while play continues, which plays the Show. The error is
// play's, or the socket's. A context that ends, and a user that quits, is none.
func (s *Session) Run(ctx context.Context, play func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answering, end := context.WithCancel(context.Background())
	var web sync.WaitGroup
	var failed error
	web.Go(func() {
		if failed = s.listener.Serve(answering); failed != nil {
			cancel(failed)
		}
	})
	err := play(ctx)
	if s.options.ExitAtEnd && err == nil {
		last, enough := context.WithTimeout(ctx, delivery)
		err = s.Player.Cluster().WaitDelivered(last)
		enough()
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("the tape has ended, and not every watcher has taken all of it")
		}
	}
	end()
	web.Wait()
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, context.Canceled), errors.Is(err, ui.ErrQuit):
		return nil
	}
	return err
}

// tell says that the tape has gone back: it is no news of the tape.
func (s *Session) tell(n replay.Note) {
	if n.Kind == replay.Rewound {
		s.fired.say("the tape goes back: open watches end with 410 Expired")
	}
}
