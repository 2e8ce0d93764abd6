//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package main

import (
	"io"

	"github.com/nodesim/nodesim/internal/show"
)

// readKeys knows no keys here; ctrl-c works as a signal.
func readKeys(io.Reader) (keys <-chan show.Key, restore func()) { return nil, func() {} }
