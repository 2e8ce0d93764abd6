package render

import (
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// ScreenOptions say what a Screen writes to.
type ScreenOptions struct {
	// Terminal is true where the writer is a terminal that knows cursor
	// movements. Otherwise panels are appended, without escape codes.
	Terminal bool
	// Alternate uses the terminal's second screen, so that what was on the
	// first one is there again at the end. The last panel is then written below
	// it, to stay. Without it, panels replace each other where the cursor was.
	Alternate bool
}

// A Screen shows panels one after the other. On a terminal each is painted over
// the one before, without clearing first, so that nothing flickers; elsewhere
// they are appended with an empty line between two. A panel must not be higher
// or wider than the terminal.
//
// It may be used by several goroutines: a signal handler may Close while a
// panel is drawn. The owner must Close it, else the cursor stays hidden.
type Screen struct {
	mu     sync.Mutex
	out    io.Writer
	opts   ScreenOptions
	begun  bool // a panel was drawn
	taken  bool // the terminal is ours: the cursor is hidden
	away   bool // between Suspend and Resume
	closed bool
	last   string // the panel that is on the screen
	stale  bool   // what is on the screen may not be last any more
}

// ErrClosed is returned by Draw after Close.
var ErrClosed = errors.New("draw on a closed screen")

// NewScreen returns a Screen that has written nothing yet.
func NewScreen(out io.Writer, opts ScreenOptions) *Screen {
	return &Screen{out: out, opts: opts}
}

const (
	clearLine  = ansi.EraseLineRight
	clearBelow = ansi.EraseScreenBelow
	// Synchronised output: a terminal that knows it shows a panel at once, and
	// every other one ignores it.
	beginSync = ansi.SetModeSynchronizedOutput
	endSync   = ansi.ResetModeSynchronizedOutput
)

// Draw shows a panel, as [Panel] makes it, in a single write. A panel that is
// shown already is not written again. The error is the writer's.
func (s *Screen) Draw(panel string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.away:
		s.begun, s.last = true, panel
		return nil
	case s.begun && !s.stale && panel == s.last:
		return nil
	}
	var b strings.Builder
	if s.opts.Terminal {
		s.repaint(&b, panel)
	} else {
		if s.begun {
			b.WriteByte('\n')
		}
		b.WriteString(ansi.Strip(panel))
		b.WriteByte('\n')
	}
	// Even a write that failed may have hidden the cursor.
	s.begun, s.stale, s.last = true, false, panel
	_, err := io.WriteString(s.out, b.String())
	return err
}

// Invalidate makes the next Draw paint everything: after the terminal changed
// its size, or when something else has written to it.
func (s *Screen) Invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// Suspend gives the terminal back for a while, as before a signal stops the
// program or ends it: the cursor shows, and the second screen is left. What is
// drawn until Resume is kept and not shown.
func (s *Screen) Suspend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away || s.closed || !s.opts.Terminal {
		return nil
	}
	s.away = true
	if !s.taken {
		return nil
	}
	s.taken = false
	end := "\r\n"
	if s.opts.Alternate {
		end = ansi.ResetModeAltScreenSaveCursor
	}
	_, err := io.WriteString(s.out, end+ansi.ShowCursor)
	return err
}

// Resume takes the terminal again and shows the panel that was drawn last. It may
// be called without Suspend: when a shell has had the terminal meanwhile.
func (s *Screen) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away, s.taken = false, false
	if s.closed || !s.begun || !s.opts.Terminal {
		return nil
	}
	s.stale = true // the terminal may have got another size
	var b strings.Builder
	s.repaint(&b, s.last)
	_, err := io.WriteString(s.out, b.String())
	return err
}

// Close gives the terminal back: the cursor shows, and is below the last
// panel. Of one that is suspended only the last panel is written. It writes nothing
// where nothing was drawn, and nothing a second time.
func (s *Screen) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if !s.begun || !s.opts.Terminal {
		return nil
	}
	end, last := "\r\n"+ansi.ShowCursor, strings.ReplaceAll(squeeze(s.last), "\n", "\r\n")+"\r\n"
	switch {
	case !s.taken: // it was given back before
		end = last
	case s.opts.Alternate:
		end = ansi.ResetModeAltScreenSaveCursor + last + ansi.ShowCursor
	}
	_, err := io.WriteString(s.out, end)
	return err
}

// squeeze leaves one empty line of several: what filled a screen of its own only
// takes room among other lines.
func squeeze(panel string) string {
	for strings.Contains(panel, "\n\n\n") {
		panel = strings.ReplaceAll(panel, "\n\n\n", "\n\n")
	}
	return panel
}

func (s *Screen) repaint(b *strings.Builder, panel string) {
	anew := !s.taken
	if anew {
		if s.opts.Alternate {
			b.WriteString(ansi.SetModeAltScreenSaveCursor)
		}
		b.WriteString(ansi.HideCursor)
		s.taken = true
	}
	b.WriteString(beginSync)
	switch {
	case s.opts.Alternate:
		b.WriteString(ansi.CursorHomePosition)
	case !anew:
		b.WriteByte('\r')
		if up := strings.Count(s.last, "\n"); up > 0 {
			b.WriteString(ansi.CursorUp(up))
		}
	}
	// Each line is cleared before it is written: after a line that fills the
	// width, clearing to the right would take its last character along.
	lines := strings.Split(panel, "\n")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		if i < len(lines)-1 {
			b.WriteString(clearLine)
		} else {
			b.WriteString(clearBelow)
		}
		b.WriteString(line)
	}
	b.WriteString(endSync)
}
