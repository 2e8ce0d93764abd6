// Package daemon runs the recorder of package recorder/daemon as a service: alone in its folder, with metrics and probes over HTTP, a line
// of the log for each thing that happens, uploads to a store, an election among replicas, and others that are told of each tape.
//
// The recorder only reads the cluster. This package writes to it where it is asked to: the Lease of an election, and Events.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
	recorder "github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/store"
	"k8s.io/utils/clock"
)

// Options of the service.
type Options struct {
	// Daemon is complete but for Log, Finished and FinishOnStop.
	Daemon recorder.Options
	// Listen is the address of metrics and probes; "" for none.
	Listen string
	// Store is the URL of where tapes are taken to; "" leaves them in the folder, in the bounds of Keep.
	Store string
	Keep  store.Keep
	// Lease, as NAMESPACE/NAME, is that of the election of which replica makes tapes; "" for none.
	Lease string
	// Webhook is the URL that is told of each tape; "" for none. Events reports whether an Event is written about it.
	Webhook string
	Events  bool
	// ShutdownTimeout is how long uploads may take once the context has ended; 0 is DefaultShutdownTimeout.
	ShutdownTimeout time.Duration
	Log             io.Writer
}

// DefaultShutdownTimeout leaves some time of a pod's usual 30 s for the rest.
const DefaultShutdownTimeout = 20 * time.Second

// lastWords is how long others are told of tapes that ended with the recorder.
const lastWords = 5 * time.Second

// uploads is the interval at which the folder is looked at where nothing new is told of.
const uploads = time.Minute

// Run records until the context ends.
func Run(ctx context.Context, o Options) (err error) {
	log := slog.New(slog.NewTextHandler(o.Log, nil))
	release, err := alone(o.Daemon.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	up := &store.Uploader{Folder: filepath.Join(o.Daemon.Dir, "tapes"), Keep: o.Keep, Clock: clock.RealClock{}, Failed: func(err error) {
		log.Error("an upload failed", "error", err)
	}}
	if o.Store != "" {
		if up.Store, err = store.Make(ctx, o.Store); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, up.Store.Close()) }()
	}
	told := make(chan struct{}, 1)
	tell := func() {
		select {
		case told <- struct{}{}:
		default: // it will look in any case
		}
	}
	var elected *election
	var d *recorder.Daemon
	if o.Lease != "" {
		able := func() bool { return d.Able() }
		if elected, err = newElection(o.Daemon.Record.REST, o.Lease, able, log); err != nil {
			return err
		}
		elected.whole = func() bool { return d.Whole() }
		o.Daemon.Leads, o.Daemon.Covered = elected.leads, elected.covered
	}
	hooks, err := o.hooks()
	if err != nil {
		return err
	}
	others := newTeller(hooks, func(err error) { log.Error("others can't be told of a tape", "error", err) })
	o.Daemon.FinishOnStop = up.Store != nil
	o.Daemon.Finished = func(t store.Tape, file string) {
		tell()
		if up.Store == nil {
			others.add(finished{file, t})
		}
	}
	up.Sent = func(t store.Tape, taken bool) {
		if taken { // whose recorder tells of it
			log.Info("the store has another recorder's tape of that roll", "tape", t.Name)
			return
		}
		others.add(finished{filepath.Join(up.Folder, t.File()), t})
	}
	levels := map[recorder.Level]slog.Level{recorder.Info: slog.LevelInfo, recorder.Warning: slog.LevelWarn, recorder.Error: slog.LevelError}
	o.Daemon.Log = func(level recorder.Level, message string, args ...any) { log.Log(ctx, levels[level], message, args...) }
	if d, err = recorder.New(o.Daemon); err != nil {
		return err
	}
	s := &service{daemon: d, uploader: up, elected: elected}
	stop, err := s.listen(o.Listen, log)
	if err != nil {
		return err
	}
	defer stop()
	var sender, candidate sync.WaitGroup
	uploading, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	sender.Go(func() { up.Run(uploading, told, uploads) })
	standing, resign := context.WithCancel(context.WithoutCancel(ctx))
	defer resign()
	telling, hush := context.WithCancel(context.WithoutCancel(ctx))
	defer hush()
	var hooked sync.WaitGroup
	hooked.Go(func() { others.run(telling) })
	if elected != nil {
		candidate.Go(func() { elected.run(standing) })
	}
	err = d.Run(ctx)
	resign()
	candidate.Wait()
	if elected != nil {
		free, cancel := context.WithTimeout(context.WithoutCancel(ctx), electEvery)
		defer cancel()
		elected.release(free)
	}
	patience := cmp.Or(o.ShutdownTimeout, DefaultShutdownTimeout)
	late := time.AfterFunc(patience, func() { cancel(fmt.Errorf("uploads weren't through within %s (--shutdown-timeout)", patience)) })
	defer late.Stop()
	close(told) // an upload that is under way goes on
	sender.Wait()
	if up.Store != nil { // what ended with the recording
		err = errors.Join(err, up.Once(uploading), context.Cause(uploading))
	}
	others.end()
	enough := time.AfterFunc(lastWords, hush)
	defer enough.Stop()
	hooked.Wait()
	return err
}

// hooks are those that are told of each tape.
func (o *Options) hooks() (all []hook, err error) {
	if o.Webhook != "" {
		all = append(all, &webhook{url: o.Webhook})
	}
	if o.Events {
		h, err := newEvents(o.Daemon.Record.REST)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// alone makes the folder, and keeps other recorders away from it.
func alone(dir string) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Join(dir, "tapes"), 0o755); err != nil { // which uploads look at from the beginning on
		return nil, fmt.Errorf("flag --dir: %w: want a folder that can be written", err)
	}
	file := filepath.Join(dir, "lock")
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("flag --dir: %w: want a folder that can be written", err)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return record.Lock(file)
}

// service answers about a daemon.
type service struct {
	daemon   *recorder.Daemon
	uploader *store.Uploader
	elected  *election // nil where there is no election
}

// listen serves metrics and probes until stop is called.
func (s *service) listen(address string, log *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("flag --listen %q: %w: want a free address such as :8080", address, err)
	}
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 20 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 3 * time.Minute,
	}
	var owned sync.WaitGroup
	owned.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics can't be served", "error", err)
		}
	})
	log.Info("listening", "address", l.Addr().String())
	return func() {
		if err := server.Close(); err != nil {
			log.Error("metrics", "error", err)
		}
		owned.Wait()
	}, nil
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		text, ready := readiness(s.daemon.Stats())
		if !ready {
			http.Error(w, text, http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, text)
	})
	mux.HandleFunc("GET /metrics", s.metrics)
	return mux
}

// readiness says what a recorder does, and whether that is what it is there for.
func readiness(is recorder.Stats) (text string, ready bool) {
	switch {
	case is.Recording:
		return "recording", true
	case is.Waiting: // a node group may have no nodes for days
		return "waiting for the first node", true
	}
	return "not recording", false
}
