//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package main

import (
	"io"

	"github.com/nodesim/nodesim/internal/show"
)

// A keyboard has no keys here; ctrl-c works as a signal.
type keyboard struct{ typed chan show.Key }

func newKeyboard(io.Reader) *keyboard { return nil }

func readKeys(io.Reader) *keyboard { return nil }

// Open does nothing.
func (*keyboard) Open() {}

// Suspend does nothing.
func (*keyboard) Suspend() error { return nil }

// Resume does nothing.
func (*keyboard) Resume() error { return nil }

// Close does nothing.
func (*keyboard) Close() {}
