package terminal

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/nodesim/nodesim/internal/ui/render"
)

// TestProfile compares with colorprofile, for terminals and for what isn't one, over the variables that both read.
func TestProfile(t *testing.T) {
	values := map[string][]string{ // "-" is not set
		"TERM":               {"-", "", "dumb", "vt100", "xterm", "xterm-256color", "screen", "screen-256color", "tmux-256color", "xterm-direct", "alacritty"},
		"COLORTERM":          {"-", "TrueColor", "24bit", "8bit"},
		"NO_COLOR":           {"-", "1", "yes", "0"},
		"CLICOLOR":           {"-", "1"},
		"CLICOLOR_FORCE":     {"-", "1", "0"},
		"WT_SESSION":         {"-", "a"},
		"GOOGLE_CLOUD_SHELL": {"-", "true"},
	}
	environments := []map[string]string{{}}
	for name, all := range values {
		var next []map[string]string
		for _, e := range environments {
			for _, value := range all {
				with := maps.Clone(e)
				with[name] = value
				next = append(next, with)
			}
		}
		environments = next
	}
	for _, e := range environments {
		var env []string
		for name, value := range e {
			if name == "NO_COLOR" && value != "-" { // colorprofile wants it true
				value = "1"
			}
			if value != "-" {
				env = append(env, name+"="+value)
			}
		}
		slices.Sort(env)
		lookup := func(name string) (string, bool) {
			if value, is := e[name]; is && value != "-" {
				return value, true
			}
			return "", false
		}
		if got, want := profileOf(true, lookup), render.Profile(colorprofile.Env(env)); got != want {
			t.Errorf("terminal, %q: got profile %d, want %d", env, got, want)
		}
		if got, want := profileOf(false, lookup), render.Profile(colorprofile.Detect(&bytes.Buffer{}, env)); got != want {
			t.Errorf("no terminal, %q: got profile %d, want %d", env, got, want)
		}
	}
}
