package render

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
)

func draw(t *testing.T, s *Screen, panels ...string) {
	t.Helper()
	for _, p := range panels {
		if err := s.Draw(p); err != nil {
			t.Fatal(err)
		}
	}
}

func wantBytes(t *testing.T, b *bytes.Buffer, want string) {
	t.Helper()
	if got := b.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	b.Reset()
}

func TestScreenInPlace(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Terminal: true})
	draw(t, s, "one\ntwo")
	wantBytes(t, &b, "\x1b[?25l\x1b[?2026h\x1b[Kone\r\n\x1b[Jtwo\x1b[?2026l")
	draw(t, s, "1\n2\n3")
	wantBytes(t, &b, "\x1b[?2026h\r\x1b[A\x1b[K1\r\n\x1b[K2\r\n\x1b[J3\x1b[?2026l")
	draw(t, s, "alone")
	wantBytes(t, &b, "\x1b[?2026h\r\x1b[2A\x1b[Jalone\x1b[?2026l")
	draw(t, s, "still")
	wantBytes(t, &b, "\x1b[?2026h\r\x1b[Jstill\x1b[?2026l")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, &b, "\r\n\x1b[?25h")
}

func TestScreenAlternate(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Terminal: true, Alternate: true})
	draw(t, s, "one\ntwo")
	wantBytes(t, &b, "\x1b[?1049h\x1b[?25l\x1b[?2026h\x1b[H\x1b[Kone\r\n\x1b[Jtwo\x1b[?2026l")
	draw(t, s, "1\n\n\n\n2")
	wantBytes(t, &b, "\x1b[?2026h\x1b[H\x1b[K1\r\n\x1b[K\r\n\x1b[K\r\n\x1b[K\r\n\x1b[J2\x1b[?2026l")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The first screen is back, and the last panel stays on it, without the
	// lines that only filled the other.
	wantBytes(t, &b, "\x1b[?1049l1\r\n\r\n2\r\n\x1b[?25h")
}

func TestScreenAppendsToAStream(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Alternate: true})
	coloured := Panel(demoFrames()[3], Options{Width: 60, Height: 20, Profile: TrueColor})
	draw(t, s, "one\ntwo", "three", coloured)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	plain := Panel(demoFrames()[3], Options{Width: 60, Height: 20})
	wantBytes(t, &b, "one\ntwo\n\nthree\n\n"+plain+"\n")
}

func TestScreenSkipsWhatIsShown(t *testing.T) {
	for _, o := range []ScreenOptions{{}, {Terminal: true}, {Terminal: true, Alternate: true}} {
		var b bytes.Buffer
		s := NewScreen(&b, o)
		draw(t, s, "one")
		b.Reset()
		draw(t, s, "one", "one")
		wantBytes(t, &b, "")
		s.Invalidate()
		draw(t, s, "one")
		if b.Len() == 0 {
			t.Errorf("%+v: nothing was painted after Invalidate", o)
		}
	}
}

func TestScreenGivesTheTerminalBackOnce(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Terminal: true, Alternate: true})
	draw(t, s, "one")
	for range 3 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(b.String(), "\x1b[?25h"); n != 1 {
		t.Errorf("the cursor was shown %d times, want once", n)
	}
	b.Reset()
	if err := s.Draw("late"); !errors.Is(err, ErrClosed) {
		t.Errorf("draw after close: got %v, want ErrClosed", err)
	}
	wantBytes(t, &b, "")
}

func TestScreenThatShowedNothingWritesNothing(t *testing.T) {
	var b bytes.Buffer
	if err := NewScreen(&b, ScreenOptions{Terminal: true, Alternate: true}).Close(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, &b, "")
}

// failing fails its first write, as a terminal that goes away.
type failing struct {
	got    bytes.Buffer
	failed bool
}

var errGone = errors.New("terminal is gone")

func (f *failing) Write(p []byte) (int, error) {
	if !f.failed {
		f.failed = true
		return 0, errGone
	}
	return f.got.Write(p)
}

func TestScreenRestoresAfterAFailedWrite(t *testing.T) {
	var w failing
	s := NewScreen(&w, ScreenOptions{Terminal: true})
	if err := s.Draw("one"); !errors.Is(err, errGone) {
		t.Errorf("got %v, want the writer's error", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(w.got.String(), "\x1b[?25h") {
		t.Errorf("got %q: the cursor may be hidden for good", w.got.String())
	}
}

// A signal handler closes while the loop draws: what is written last shows the
// cursor, whichever wins.
func TestScreenClosedWhileDrawing(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Terminal: true})
	draw(t, s, "first")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				if err := s.Draw(strings.Repeat("x", i)); err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	if !strings.HasSuffix(b.String(), "\r\n\x1b[?25h") {
		t.Errorf("the last bytes are %q", b.String()[max(0, b.Len()-20):])
	}
}

// A terminal in which each panel replaces the one before ends with the last.
func TestScreenOnATerminal(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Terminal: true})
	var last string
	for _, f := range demoFrames() {
		last = Panel(f, Options{Width: 80, Height: 24})
		draw(t, s, last)
	}
	got := newTerminal(80, 60).feed(t, b.String())
	if got != last {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, last)
	}
}
