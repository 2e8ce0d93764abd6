package apiserver

import (
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/internal/option"
	"github.com/nodesim/nodesim/timeline"
)

// TB holds what [ForTest] needs of a testing.TB: package testing isn't linked into
// programs that serve.
type TB interface {
	Helper()
	Fatal(args ...any)
	Error(args ...any)
	Cleanup(func())
}

// ForTest makes a Server of a tape for one test, standing at the beginning of
// the tape. Options are those of a Server and of a Player; the Player of [Server.Player] moves it. Both are closed when the
// test ends, inside of the testing/synctest bubble if the test runs in one. An
// error fails the test.
func ForTest(t TB, src timeline.Source, opts ...Option) *Server {
	t.Helper()
	own := settings{}
	p, err := replay.NewPlayer(src, option.Apply(&own, opts)...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(p, option.Only[settings](opts)...)
	if err != nil {
		_ = p.Close() // what New says is the cause
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
