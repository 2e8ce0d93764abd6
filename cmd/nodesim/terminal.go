package main

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/nodesim/nodesim/internal/render"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// terminalOf returns the file behind w if it is a terminal on which a cursor
// can be moved.
func terminalOf(w any) (*os.File, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, false
	}
	return f, true
}

func isTerminal(w any) bool {
	_, is := terminalOf(w)
	return is
}

// sizeOf asks a terminal for its size; 80x24 where it doesn't know.
func sizeOf(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// widthOf returns what asks for the width of the terminal behind w, or nil.
func widthOf(w io.Writer) func() int {
	f, ok := terminalOf(w)
	if !ok {
		return nil
	}
	return func() int {
		width, _ := sizeOf(f)
		return width
	}
}

// panelOptions are what a panel may use on a terminal: colours as the
// environment has them (NO_COLOR, CLICOLOR_FORCE, COLORTERM, TERM), and ASCII
// alone where the locale has nothing else.
func panelOptions(cmd *cobra.Command, out io.Writer) (render.Options, error) {
	plain, err := cmd.Flags().GetBool("no-color")
	if err != nil {
		return render.Options{}, err
	}
	o := render.Options{Profile: colorprofile.Detect(out, os.Environ()), ASCII: asciiLocale()}
	if plain {
		o.Profile = min(o.Profile, colorprofile.ASCII)
	}
	return o, nil
}

// asciiLocale reports whether the locale names an encoding that isn't UTF-8. A
// locale that isn't set says nothing: containers rarely have one.
func asciiLocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			value = strings.ToLower(value)
			return !strings.Contains(value, "utf-8") && !strings.Contains(value, "utf8")
		}
	}
	return false
}
