package apiserver

import (
	"errors"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/internal/option"
)

// ForEngine makes a Server of a cluster that takes writes, and the Player that
// moves it; see [KeepWrites]. Options are those of a Server and of a Player. Close the
// Server, then its Player.
func ForEngine(e replay.Engine, opts ...Option) (*Server, error) {
	own := settings{}
	p, err := replay.NewEnginePlayer(e, option.Apply(&own, opts)...)
	if err != nil {
		return nil, err
	}
	s, err := New(p, append(option.Only[settings](opts), KeepWrites(nil))...)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return s, nil
}
