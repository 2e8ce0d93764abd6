package record

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/recorder"
)

// Summarize tells what a recording or an import came to, and what to try next.
func Summarize(w io.Writer, file string, s recorder.Summary) {
	length := s.At.Round(time.Millisecond).String()
	fmt.Fprintf(w, "%s: %s in %s, %s, %s, %s%s\n", noderoll.OneLine(file),
		phrase.Count(s.Events, "event"), length, phrase.Bytes(s.Bytes), phrase.Count(s.Nodes, "node"), gaps(s.Gaps), because(s.End))
	if s.Format != "" {
		fmt.Fprintf(w, "  read as: %s\n", s.Format)
	}
	for _, line := range s.LeftOut {
		fmt.Fprintf(w, "  left out: %s\n", noderoll.OneLine(line))
	}
	if s.End == recorder.EndFailed {
		fmt.Fprintf(w, "what is on the tape stays; to continue it: nodesim record --append --out %s\n", Quote(file))
		return
	}
	fmt.Fprintf(w, "see it again: nodesim replay %s --speed 20x\n", Quote(file))
}

func gaps(n int) string {
	if n == 0 {
		return "no gaps"
	}
	return phrase.Count(n, "gap")
}

func because(end string) string {
	switch end {
	case recorder.EndComplete:
		return "; the roll is complete"
	case recorder.EndDuration:
		return "; the duration is over"
	case recorder.EndFailed:
		return "; cut off by an error"
	}
	return ""
}

// Quote makes one word for a shell of a file name.
func Quote(name string) string {
	plain := strings.IndexFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%", r)
	}) < 0
	if plain && name != "" && !strings.HasPrefix(name, "-") {
		return name
	}
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return "'" + strings.ReplaceAll(noderoll.OneLine(name), "'", `'\''`) + "'"
}
