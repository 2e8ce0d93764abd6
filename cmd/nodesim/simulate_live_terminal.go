package main

import (
	"os"

	"github.com/nodesim/nodesim/internal/render"
	"github.com/nodesim/nodesim/internal/show"
	"github.com/spf13/cobra"
)

// holdLines has what is written to standard error wait while it has to, where that
// is a terminal.
func holdLines(cmd *cobra.Command) *heldLines {
	held := &heldLines{out: cmd.ErrOrStderr()}
	if _, terminal := terminalOf(held.out); terminal {
		cmd.SetErr(held)
	}
	return held
}

// liveTerminal is where the panel of a performance is painted. While it stands, keys
// are read and held lines wait.
func liveTerminal(cmd *cobra.Command, file *os.File, o render.Options, held *heldLines) *show.Terminal {
	keys := newKeyboard(cmd.InOrStdin())
	hold := holder(cmd.Context(), file, keys, held)
	return &show.Terminal{
		Out: file, Options: o, Keys: keysOf(keys), Size: func() (int, int) { return sizeOf(file) },
		Hold: func(s *render.Screen) func() {
			_ = held.Resume() // never fails
			keys.Open()
			release := hold(s)
			return func() {
				release()
				keys.Close()
				_ = held.Suspend() // what standard error doesn't take is lost
			}
		},
	}
}
