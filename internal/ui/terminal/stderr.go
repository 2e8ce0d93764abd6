package terminal

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/nodesim/nodesim/internal/phrase"
)

// heldMost bounds how much is held, in bytes: some five hundred lines.
const heldMost = 64 << 10

// A Stderr writes lines to a terminal, and holds them while a panel is there,
// which they would tear: between Resume and Suspend. It may be used by several
// goroutines; each Write is whole lines.
type Stderr struct {
	mu      sync.Mutex
	Out     io.Writer
	holds   bool
	text    bytes.Buffer
	dropped int
}

func (h *Stderr) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.holds:
		return h.Out.Write(b)
	case h.text.Len()+len(b) > heldMost:
		h.dropped += bytes.Count(b, []byte("\n"))
		return len(b), nil
	}
	return h.text.Write(b)
}

// Resume begins to hold.
func (h *Stderr) Resume() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds = true
	return nil
}

// Suspend writes what was held, and holds no more.
func (h *Stderr) Suspend() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds = false
	_, err := h.text.WriteTo(h.Out)
	if h.dropped > 0 {
		fmt.Fprintf(h.Out, "nodesim: … and %s that there was no room to keep\n", phrase.Count(h.dropped, "line"))
		h.dropped = 0
	}
	return err
}
