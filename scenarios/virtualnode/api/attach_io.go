package api

import (
	"context"
	"encoding/json"
	"io"
	"sync"
)

// AttachIO is a client's end of an exec or attach. All of it ends with the context that was given beside it.
type AttachIO interface {
	// Stdin is nil if the client has none. It ends with io.EOF where the client ends it, and with the context's error
	// where that ends first. It is an io.Closer too, which ends a Read that is under way.
	Stdin() io.Reader
	// Stdout and Stderr are never nil: what the client didn't ask for is thrown away. On a terminal, which has one
	// stream for both, they are the same.
	Stdout() io.WriteCloser
	Stderr() io.WriteCloser
	// TTY says that the client has a terminal in raw mode: who runs here has to echo, and to end lines with \r\n.
	TTY() bool
	// Resize has the newest size of the terminal that hasn't been taken yet. It is never closed, and nil without a
	// terminal, so that waiting for it never spins.
	Resize() <-chan TermSize
}

// TermSize is the size of a terminal in characters.
type TermSize struct{ Width, Height uint16 }

// attachIO is the AttachIO of one request.
type attachIO struct {
	stdin          *io.PipeReader
	stdout, stderr io.WriteCloser
	tty            bool
	resize         chan TermSize
}

func (a *attachIO) Stdin() io.Reader {
	if a.stdin == nil {
		return nil // and no interface around a nil pointer
	}
	return a.stdin
}
func (a *attachIO) Stdout() io.WriteCloser  { return a.stdout }
func (a *attachIO) Stderr() io.WriteCloser  { return a.stderr }
func (a *attachIO) TTY() bool               { return a.tty }
func (a *attachIO) Resize() <-chan TermSize { return a.resize }

// maxSizeText bounds the text of one size of a terminal, of which a decoder would hold any number of bytes.
const maxSizeText = 1 << 10

// pump carries stdin and sizes to a function; either source may be nil. Both goroutines end when their sources do,
// which the end of the connection sees to; the caller waits for them after that.
func (a *attachIO) pump(ctx context.Context, pumps *sync.WaitGroup, in, sizes io.Reader) (stop func()) {
	stop = func() {}
	if in != nil {
		r, w := io.Pipe()
		a.stdin = r
		pumps.Go(func() {
			_, err := io.Copy(w, in)
			_ = w.CloseWithError(err)
		})
		unhook := context.AfterFunc(ctx, func() { _ = w.CloseWithError(context.Cause(ctx)) })
		stop = func() { unhook(); _ = r.Close() }
	}
	if a.tty {
		a.resize = make(chan TermSize, 1)
		if sizes != nil {
			pumps.Go(func() { a.readSizes(sizes) })
		}
	}
	return stop
}

// readSizes reads the sizes of a terminal, one JSON object after another
// (k8s.io/cri-streaming, pkg/streaming/remotecommand/httpstream.go, handleResizeEvents).
func (a *attachIO) readSizes(stream io.Reader) {
	limited := &io.LimitedReader{R: stream}
	for decoder := json.NewDecoder(limited); ; {
		limited.N = maxSizeText
		var size TermSize
		if decoder.Decode(&size) != nil {
			break
		}
		select { // the newest size replaces one that wasn't taken
		case <-a.resize:
		default:
		}
		a.resize <- size
	}
	_, _ = io.Copy(io.Discard, stream) // unread bytes would hold up the connection's other streams
}

// nowhere throws away what is written.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Close() error                { return nil }
