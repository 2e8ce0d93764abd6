package liverun

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/player"
)

// A tty keeps what is written to it, and closes shown when that has a text.
type tty struct {
	want  string
	shown chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
	once sync.Once
}

func newTTY(want string) *tty { return &tty{want: want, shown: make(chan struct{})} }

func (t *tty) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(b)
	if strings.Contains(t.text.String(), t.want) {
		t.once.Do(func() { close(t.shown) })
	}
	return len(b), nil
}

func (t *tty) terminal(keys <-chan player.Key) *ui.Terminal {
	return &ui.Terminal{Out: t, Size: func() (int, int) { return 100, 24 }, Keys: keys}
}

func wait(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatalf("%s: not within five minutes", what)
	}
}

// A panel tells of warnings itself, those of the recorder and of the live run.
func TestWarningsStandInThePanel(t *testing.T) {
	out := newTTY("3 warnings, the last ") // the recorder misses the namespace kube-system
	v := watched(t, "")
	v.o.Terminal = out.terminal(nil)
	if err := v.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.warn("patch nodes/a: 503")
	v.warn("patch nodes/b: 429")
	wait(t, "the warnings", out.shown)
	if err := v.close(); err != nil {
		t.Error(err)
	}
}

// The key that quits ends the live run, and the panel at once.
func TestKeyThatQuits(t *testing.T) {
	v := watched(t, "")
	keys := make(chan player.Key, 1)
	v.o.Terminal = newTTY("q quit").terminal(keys)
	ctx, quit := context.WithCancel(t.Context())
	defer quit()
	v.quit = quit
	if err := v.open(ctx); err != nil {
		t.Fatal(err)
	}
	keys <- player.KeyQuit
	wait(t, "the end", ctx.Done())
	if err := v.close(); err != nil {
		t.Errorf("to quit is no error: %v", err)
	}
}
