package terminal

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/nodesim/nodesim/internal/ui/render"
)

// Profile is what colours w shows, by the environment: TERM, COLORTERM, NO_COLOR (https://no-color.org), CLICOLOR and
// CLICOLOR_FORCE (https://bixense.com/clicolors), and TTY_FORCE for what isn't a terminal. The rules are those of
// github.com/charmbracelet/colorprofile, which links two modules more to read terminfo; but NO_COLOR counts with any value.
func Profile(w any) render.Profile {
	f, ok := w.(*os.File)
	tty := isTrue(os.Getenv("TTY_FORCE")) || ok && term.IsTerminal(int(f.Fd()))
	p := profileOf(tty, os.LookupEnv)
	if tty && p > render.NoTTY && p < render.TrueColor && os.Getenv("TMUX") != "" && os.Getenv("NO_COLOR") == "" {
		p = max(p, profileOfTmux())
	}
	return p
}

// profileOf is the profile of a terminal, or of what isn't one, by its environment.
func profileOf(tty bool, lookup func(string) (string, bool)) render.Profile {
	get := func(name string) string { value, _ := lookup(name); return value }
	name, set := lookup("TERM")
	plain := name == "dumb" || !set && runtime.GOOS != "windows"
	p, known := render.NoTTY, profileNamed(name, get)
	if tty && !plain {
		p = known
	}
	switch {
	case get("NO_COLOR") != "" && tty:
		return min(p, render.ASCII)
	case isTrue(get("CLICOLOR_FORCE")):
		return max(p, known, render.ANSI)
	case isTrue(get("CLICOLOR")) && tty && !plain:
		return max(p, render.ANSI)
	}
	return p
}

// profileNamed is the profile of the terminals of a name, TERM.
func profileNamed(name string, get func(string) string) render.Profile {
	has := func(part string) bool { return strings.Contains(name, part) }
	multiplexer := strings.HasPrefix(name, "tmux") || strings.HasPrefix(name, "screen")
	colorTerm := slices.Contains([]string{"truecolor", "24bit", "yes", "true"}, strings.ToLower(get("COLORTERM")))
	switch none := name == "" || name == "dumb"; {
	case slices.ContainsFunc([]string{"alacritty", "contour", "foot", "ghostty", "kitty", "rio", "st", "wezterm"}, has),
		strings.HasSuffix(name, "direct"), get("WT_SESSION") != "", isTrue(get("GOOGLE_CLOUD_SHELL")),
		colorTerm && !multiplexer, // screen has no 16 million colours, and tmux says it by itself
		none && runtime.GOOS == "windows":
		return render.TrueColor
	case multiplexer, strings.HasSuffix(name, "256color"):
		return render.ANSI256
	case none:
		return render.NoTTY
	}
	return render.ANSI
}

// profileOfTmux asks tmux, whose configuration says what the terminal around it shows.
func profileOfTmux() render.Profile {
	info, err := exec.CommandContext(context.Background(), "tmux", "info").Output()
	if err != nil {
		return render.ANSI256
	}
	for line := range strings.Lines(string(info)) {
		if (strings.Contains(line, "Tc") || strings.Contains(line, "RGB")) && strings.Contains(line, "true") {
			return render.TrueColor
		}
	}
	return render.ANSI256
}

func isTrue(text string) bool {
	is, _ := strconv.ParseBool(text)
	return is
}
