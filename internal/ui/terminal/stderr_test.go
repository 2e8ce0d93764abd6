package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Lines wait for the end of a panel, and none is lost.
func TestHeldLines(t *testing.T) {
	var out bytes.Buffer
	h := &Stderr{Out: &out}
	say := func(line string) { fmt.Fprintln(h, line) }
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	say("before")
	must(h.Resume())
	say("one")
	say("two")
	if got := out.String(); got != "before\n" {
		t.Errorf("with the panel: %q", got)
	}
	must(h.Suspend())
	say("after")
	if got := out.String(); got != "before\none\ntwo\nafter\n" {
		t.Errorf("without the panel: %q", got)
	}
}

// What is too much is counted.
func TestHeldLinesAreBounded(t *testing.T) {
	var out bytes.Buffer
	h := &Stderr{Out: &out}
	if err := h.Resume(); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1023) + "\n"
	for range 70 {
		if n, err := h.Write([]byte(long)); n != len(long) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if err := h.Suspend(); err != nil {
		t.Fatal(err)
	}
	text, end, _ := strings.Cut(out.String(), "nodesim: ")
	if text != strings.Repeat(long, 64) || end != "… and 6 lines that there was no room to keep\n" {
		t.Errorf("%d bytes, and then %q", len(text), end)
	}
}
