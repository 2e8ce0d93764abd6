package render

import (
	"bytes"
	"testing"
)

// A program that is stopped leaves the terminal as it was, draws nothing while
// another program has it, and shows the latest panel when it continues.
func TestScreenSuspended(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Terminal: true, Alternate: true})
	draw(t, s, "one")
	b.Reset()
	for range 2 {
		if err := s.Suspend(); err != nil {
			t.Fatal(err)
		}
	}
	wantBytes(t, &b, "\x1b[?1049l\x1b[?25h")
	draw(t, s, "two", "three")
	wantBytes(t, &b, "")
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, &b, "\x1b[?1049h\x1b[?25l\x1b[?2026h\x1b[H\x1b[Jthree\x1b[?2026l")
	draw(t, s, "three") // another size may have torn it
	wantBytes(t, &b, "\x1b[?2026h\x1b[H\x1b[Jthree\x1b[?2026l")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, &b, "\x1b[?1049lthree\r\n\x1b[?25h")
}

// In place, what continues is painted below what the shell has written.
func TestScreenSuspendedInPlace(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Terminal: true})
	draw(t, s, "one\ntwo")
	b.Reset()
	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, &b, "\r\n\x1b[?25h")
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, &b, "\x1b[?25l\x1b[?2026h\x1b[Kone\r\n\x1b[Jtwo\x1b[?2026l")
}

// One that ends in the background leaves its last panel and touches no cursor.
func TestScreenClosedWhileSuspended(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Terminal: true, Alternate: true})
	draw(t, s, "one")
	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
	draw(t, s, "two")
	b.Reset()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, &b, "two\r\n")
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, &b, "")
}

// Before the first panel there is nothing to give back.
func TestScreenSuspendedBeforeItBegins(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b, ScreenOptions{Terminal: true, Alternate: true})
	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
	draw(t, s, "one")
	wantBytes(t, &b, "")
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, &b, "\x1b[?1049h\x1b[?25l\x1b[?2026h\x1b[H\x1b[Jone\x1b[?2026l")
}
