package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/nodesim/nodesim/internal/phrase"
)

// heldMost is how much is held, in bytes: some five hundred lines.
const heldMost = 64 << 10

// A heldLines writes lines to a terminal, and holds them while a panel stands there,
// which they would tear: between Resume and Suspend. It may be used by several
// goroutines; each Write is whole lines.
type heldLines struct {
	mu      sync.Mutex
	out     io.Writer
	holds   bool
	text    bytes.Buffer
	dropped int
}

func (h *heldLines) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.holds:
		return h.out.Write(b)
	case h.text.Len()+len(b) > heldMost:
		h.dropped += bytes.Count(b, []byte("\n"))
		return len(b), nil
	}
	return h.text.Write(b)
}

// Resume begins to hold.
func (h *heldLines) Resume() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds = true
	return nil
}

// Suspend writes what was held, and holds no more.
func (h *heldLines) Suspend() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds = false
	_, err := h.text.WriteTo(h.out)
	if h.dropped > 0 {
		fmt.Fprintf(h.out, "nodesim: … and %s that there was no room to keep\n", phrase.Count(h.dropped, "line"))
		h.dropped = 0
	}
	return err
}
