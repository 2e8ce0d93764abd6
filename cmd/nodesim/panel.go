package main

import (
	"io"

	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/spf13/cobra"
)

// panelOptions are what a panel may use on a terminal: colours as the
// environment has them (NO_COLOR, CLICOLOR_FORCE, COLORTERM, TERM), and ASCII
// alone where the locale has nothing else.
func panelOptions(cmd *cobra.Command, out io.Writer) (render.Options, error) {
	plain, err := cmd.Flags().GetBool("no-color")
	if err != nil {
		return render.Options{}, err
	}
	o := render.Options{Profile: terminal.Profile(out), ASCII: terminal.ASCIILocale()}
	if plain {
		o.Profile = min(o.Profile, render.ASCII)
	}
	return o, nil
}
