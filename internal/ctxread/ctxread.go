// Package ctxread ends reading with a context.
package ctxread

import (
	"context"
	"io"
)

// Reader reads from in until ctx ends, which it looks at before each read, and fails with the cause then.
func Reader(ctx context.Context, in io.Reader) io.Reader { return &reader{ctx, in} }

type reader struct {
	ctx context.Context
	in  io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.in.Read(p)
}

// Waiting is Reader for what may have nothing to read for long, such as a terminal: a read ends with ctx as well. What in
// gives after that is lost, and its last read may last for longer.
func Waiting(ctx context.Context, in io.Reader) io.Reader {
	return &waiting{ctx: ctx, in: in, asked: make(chan []byte), read: make(chan result)}
}

type waiting struct {
	ctx   context.Context
	in    io.Reader
	begun bool
	asked chan []byte
	read  chan result
	room  []byte
}

type result struct {
	n   int
	err error
}

func (w *waiting) Read(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	if !w.begun {
		w.begun = true
		go w.loop()
	}
	// Not into p, which is the caller's again when ctx has ended.
	if len(w.room) < len(p) {
		w.room = make([]byte, len(p))
	}
	select {
	case w.asked <- w.room[:len(p)]:
	case <-w.ctx.Done():
		return 0, context.Cause(w.ctx)
	}
	select {
	case r := <-w.read:
		return copy(p, w.room[:r.n]), r.err
	case <-w.ctx.Done():
		return 0, context.Cause(w.ctx)
	}
}

func (w *waiting) loop() {
	for {
		select {
		case room := <-w.asked:
			n, err := w.in.Read(room)
			select {
			case w.read <- result{n, err}:
			case <-w.ctx.Done():
				return
			}
		case <-w.ctx.Done():
			return
		}
	}
}
