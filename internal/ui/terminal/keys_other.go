//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package terminal

import (
	"io"

	"github.com/nodesim/nodesim/internal/ui/player"
)

// A Keyboard has no keys here; ctrl-c works as a signal.
type Keyboard struct {
	typed  chan player.Key
	pieces chan []byte
}

func NewKeyboard(io.Reader) *Keyboard { return nil }

func ReadKeys(io.Reader) *Keyboard { return nil }

// Open does nothing.
func (*Keyboard) Open() {}

// Suspend does nothing.
func (*Keyboard) Suspend() error { return nil }

// Resume does nothing.
func (*Keyboard) Resume() error { return nil }

// Close does nothing.
func (*Keyboard) Close() {}
