package main

import (
	"os"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/spf13/cobra"
)

// holdLines has what is written to standard error wait while it has to, where that
// is a terminal.
func holdLines(cmd *cobra.Command) *terminal.Stderr {
	held := &terminal.Stderr{Out: cmd.ErrOrStderr()}
	if _, isTerminal := terminal.Of(held.Out); isTerminal {
		cmd.SetErr(held)
	}
	return held
}

// liveTerminal paints the panel of a live run. While it is shown, keys
// are read and held lines wait.
func liveTerminal(cmd *cobra.Command, file *os.File, o render.Options, held *terminal.Stderr) *ui.Terminal {
	keys := terminal.NewKeyboard(cmd.InOrStdin())
	hold := terminal.Holder(cmd.Context(), file, keys, held)
	return &ui.Terminal{
		Out: file, Options: o, Keys: terminal.Keys(keys), Size: func() (int, int) { return terminal.Size(file) },
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
