package apiserver_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/scenarios"
)

// demo is a server over the demo's roll, which isn't played yet.
func demo(t *testing.T, opts ...apiserver.Option) (*apiserver.Server, *replay.Player) {
	t.Helper()
	header, events := scenarios.Demo()
	p, err := replay.NewPlayer(replay.Events(&header, events), replay.StayOpen())
	if err != nil {
		t.Fatal(err)
	}
	s, err := apiserver.New(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, p
}

// listening is a Listener that answers until the test ends, or stop is called.
func listening(t *testing.T, s *apiserver.Server) (l *apiserver.Listener, stop func()) {
	t.Helper()
	l, err := s.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	stopped := false
	stop = func() {
		cancel()
		if stopped {
			return
		}
		stopped = true
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return l, stop
}

// play runs a Player until the test, or its bubble, ends it.
func play(t *testing.T, p *replay.Player) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	}
}
