package apiserver

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/internal/option"
	"github.com/nodesim/nodesim/replay/internal/shift"
	"github.com/nodesim/nodesim/replay/internal/writes"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Server is a Kubernetes API over a replay. See the package comment. It is an
// http.Handler that authenticates no client; Listen puts a token before it.
// It is safe for concurrent use.
type Server struct {
	player       *replay.Player
	cluster      *replay.Cluster
	settings     settings
	building     sync.Mutex
	built        atomic.Pointer[catalog]
	unfollow     func()          // ends imply
	unshift      func()          // has the shifter learn of no rewind any more
	implied      *replay.Cluster // of namespaces that are implied; nil where they aren't
	writeHandler *writes.Handler // nil to refuse writes
	shifter      *shift.Shifter  // nil to leave times as they are

	open  context.Context // until Close: how long watches may stay
	close context.CancelFunc

	inMemory inMemory
}

// settings hold what Options set.
type settings struct {
	blocked    time.Duration // a client that takes nothing for so long is cut off
	shift      bool
	mounts     []mounted
	namespaces bool        // serve those that are implied
	record     func(Write) // nil to refuse writes, unless they are kept
	keep       bool
}

// Option sets a Server up. [ForTest] takes those of a Player too.
type Option = replay.Option

// ShiftTimes shows the times inside of objects as if the tape had begun when
// the Player did: clients that compute ages themselves then agree with the
// tape's clock. Without it times stay as recorded.
func ShiftTimes() Option {
	return option.New("apiserver.ShiftTimes", func(s *settings) { s.shift = true })
}

// CutOff ends a watch whose client has taken nothing for d; 5 s by default.
func CutOff(d time.Duration) Option {
	return option.New("apiserver.CutOff", func(s *settings) { s.blocked = d })
}

// New makes a Server that shows what the Player plays. It applies the initial
// lists if that hasn't happened, and neither runs nor closes the Player.
func New(p *replay.Player, opts ...Option) (_ *Server, err error) {
	if err := p.Open(); err != nil {
		return nil, err
	}
	s := &Server{
		player: p, cluster: p.Cluster(), settings: settings{blocked: 5 * time.Second},
		unfollow: func() {}, unshift: func() {},
	}
	s.open, s.close = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := option.Refuse("apiserver.New", option.Apply(&s.settings, opts), "those of the Player where it is made"); err != nil {
		return nil, err
	}
	if s.settings.shift {
		s.shifter = shift.New(p.Header().Metadata.Start.Time, func(at time.Duration) time.Time { return p.TimeMap().Wall(at) }, time.Now)
		back := false // on the way there what clients read still has the times of before
		s.unshift = p.Subscribe(func(n replay.Note) {
			if n.Kind == replay.Rewound || back && n.Kind == replay.Moved {
				s.shifter.Rewind()
				back = n.Kind == replay.Rewound
			}
		})
	}
	switch {
	case s.settings.keep && !p.Writable():
		return nil, errors.New("apiserver.KeepWrites: a tape can't be written to: want a Player of replay.NewEnginePlayer, or RecordWrites")
	case s.settings.keep && s.settings.shift:
		return nil, errors.New("apiserver.KeepWrites: found ShiftTimes beside it: want one of them: a cluster that acts lives now")
	case s.settings.keep:
		s.writeHandler = writes.Keep(p, s.settings.record)
	case s.settings.record != nil:
		s.writeHandler = writes.New(s.cluster, p.Header(), s.settings.record)
	}
	if _, held := s.cluster.Resource(gvr(namespaces)); s.settings.namespaces && !held {
		m, stop, err := s.imply()
		if err != nil {
			return nil, err
		}
		s.implied, s.unfollow = m.cluster, stop
	}
	first, err := s.build(s.cluster.Definitions())
	if err != nil {
		return nil, err
	}
	s.built.Store(first)
	return s, nil
}

// Player returns what moves the replay.
func (s *Server) Player() *replay.Player { return s.player }

// now returns what ages are counted to: the tape's clock as wall time, or the time
// that shifted times are shifted to.
func (s *Server) now() time.Time {
	if s.shifter != nil {
		return time.Now()
	}
	return s.player.Header().Metadata.Start.Time.Add(s.player.Position())
}

func gvr(r timeline.Resource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// Close ends every open watch, and refuses new ones. What requests of this process
// ask for ends with it, and is waited for. It doesn't close the Player, nor a
// Listener.
func (s *Server) Close() {
	s.close()
	s.unfollow()
	s.unshift()
	s.inMemory.end()
}
