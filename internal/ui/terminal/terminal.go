package terminal

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Of returns the file behind w if it is a terminal on which a cursor
// can be moved.
func Of(w any) (*os.File, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, false
	}
	return f, true
}

// Is reports whether w is a terminal on which a cursor can be moved.
func Is(w any) bool {
	_, is := Of(w)
	return is
}

// Size asks a terminal for its size; 80x24 where it doesn't know.
func Size(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// Width returns a function that asks for the width of the terminal behind w, or nil.
func Width(w io.Writer) func() int {
	f, ok := Of(w)
	if !ok {
		return nil
	}
	return func() int {
		width, _ := Size(f)
		return width
	}
}

// ASCIILocale reports whether the locale names an encoding that isn't UTF-8. A
// locale that isn't set says nothing: containers rarely have one.
func ASCIILocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			value = strings.ToLower(value)
			return !strings.Contains(value, "utf-8") && !strings.Contains(value, "utf8")
		}
	}
	return false
}
