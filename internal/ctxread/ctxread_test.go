package ctxread_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nodesim/nodesim/internal/ctxread"
)

func TestReadsAll(t *testing.T) {
	text := strings.Repeat("0123456789", 1000)
	for name, of := range map[string]func(context.Context, io.Reader) io.Reader{"Reader": ctxread.Reader, "Waiting": ctxread.Waiting} {
		if err := iotest.TestReader(of(t.Context(), strings.NewReader(text)), []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	cause := errors.New("it is enough")
	for name, of := range map[string]func(context.Context, io.Reader) io.Reader{"Reader": ctxread.Reader, "Waiting": ctxread.Waiting} {
		ctx, end := context.WithCancelCause(t.Context())
		r := of(ctx, strings.NewReader("0123456789"))
		if n, err := r.Read(make([]byte, 4)); n != 4 || err != nil {
			t.Fatalf("%s: read %d bytes, %v", name, n, err)
		}
		end(cause)
		if n, err := r.Read(make([]byte, 4)); n != 0 || !errors.Is(err, cause) {
			t.Errorf("%s: read %d bytes, %v: want none, and the cause", name, n, err)
		}
	}
}

// A read that waits ends, too.
func TestWaitingEndsAReadThatWaits(t *testing.T) {
	cause := errors.New("it is enough")
	in, out := io.Pipe()
	t.Cleanup(func() { _ = out.Close() })
	ctx, end := context.WithCancelCause(t.Context())
	asked := make(chan struct{})
	r := ctxread.Waiting(ctx, io.MultiReader(readerFunc(func([]byte) (int, error) { close(asked); return 0, io.EOF }), in))
	go func() { <-asked; end(cause) }()
	if n, err := r.Read(make([]byte, 4)); n != 0 || !errors.Is(err, cause) {
		t.Errorf("read %d bytes, %v: want none, and the cause", n, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
