package apiserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver/internal/inbound"
	"github.com/nodesim/nodesim/replay/apiserver/internal/media"
)

// leastWatch is the time a watch stays open that names no time, at least: the
// default of kube-apiserver's --min-request-timeout. At most it is twice that.
const leastWatch = 30 * time.Minute

// watch answers with a stream of events, until its time is up, the client goes
// or takes nothing, or the Server closes.
func (s *Server) watch(w http.ResponseWriter, req *http.Request, r *resource, namespace, name string) error {
	form, err := media.Negotiate(req, r.Resource, media.Stream)
	if err != nil {
		return err
	}
	opts, err := inbound.ListOptions(req, name)
	if err != nil {
		return err
	}
	opts.Watch = true
	open := leastWatch + rand.N(leastWatch)
	if opts.TimeoutSeconds != nil && *opts.TimeoutSeconds != 0 {
		open = time.Duration(*opts.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(req.Context(), open)
	defer cancel()
	events, err := r.cluster.Watch(gvr(r.Resource), namespace, opts)
	if err != nil {
		return err
	}
	defer events.Stop()
	defer context.AfterFunc(ctx, events.Stop)()
	defer context.AfterFunc(s.open, events.Stop)()
	w.Header().Set("Content-Type", form.ContentType())
	out := &stream{w: w, control: http.NewResponseController(w), blocked: s.settings.blocked, timed: req.ProtoMajor == 2}
	defer out.release()
	if err := out.flush(); err != nil {
		return nil
	}
	for first := true; ; first = false {
		ev, err := events.TryNext()
		if replay.IsNoEvent(err) {
			// Before the wait: waiters for this watch may continue then.
			if err := out.flush(); err != nil {
				return nil
			}
			ev, err = events.Next(ctx)
		}
		if err != nil {
			_ = out.flush()
			return nil
		}
		if s.redefined(r) {
			return nil
		}
		head, body, tail, err := r.maker.Parts(form, ev, first)
		if err != nil {
			return nil
		}
		if err := errors.Join(out.write(head), out.write(body), out.write(tail)); err != nil {
			return nil
		}
	}
}

// redefined reports whether a custom resource is served in another way by now. kube-apiserver ends watches then: it takes the
// storage down (updateCustomResourceDefinition of apiextensions-apiserver's customresource_handler.go).
func (s *Server) redefined(r *resource) bool {
	if r.definition == nil {
		return false
	}
	now := s.catalog().resources[gvr(r.Resource)] // nil where it is gone: its watches have the deletions yet
	return now != nil && now != r && !bytes.Equal(rawjson.Get(now.definition, "spec"), rawjson.Get(r.definition, "spec"))
}

// stream is a watch's way to its client. It holds a buffer only while there is
// something in it: most watches wait most of the time.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	blocked time.Duration
	timed   bool // a deadline ends the stream even where nothing is written: HTTP/2 does that
	buffer  *bufio.Writer
}

var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 16<<10) }}

// write takes a part of a frame. It may keep it until flush.
func (s *stream) write(frame []byte) error {
	if len(frame) == 0 {
		return nil
	}
	if s.buffer == nil {
		s.buffer = buffers.Get().(*bufio.Writer)
		s.buffer.Reset(s.w)
	}
	if len(frame) > s.buffer.Available() {
		if err := s.extend(); err != nil {
			return err
		}
	}
	_, err := s.buffer.Write(frame)
	return err
}

// flush sends everything on its way.
func (s *stream) flush() error {
	if err := s.extend(); err != nil {
		return err
	}
	if s.buffer != nil {
		err := s.buffer.Flush()
		s.release()
		if err != nil {
			return err
		}
	}
	if err := s.control.Flush(); err != nil || !s.timed {
		return err
	}
	return s.deadline(time.Time{})
}

// extend gives the client time to take what comes.
func (s *stream) extend() error {
	if s.blocked <= 0 {
		return s.deadline(time.Time{})
	}
	return s.deadline(time.Now().Add(s.blocked))
}

func (s *stream) deadline(at time.Time) error {
	err := s.control.SetWriteDeadline(at)
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

func (s *stream) release() {
	if s.buffer != nil {
		s.buffer.Reset(nil)
		buffers.Put(s.buffer)
		s.buffer = nil
	}
}
