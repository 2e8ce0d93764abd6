package process

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// OpenLog opens the log of one program for appending; it lasts until the Group's end.
func (g *Group) OpenLog(name string) (*os.File, error) {
	file, err := os.OpenFile(g.Path("logs", name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.logs = append(g.logs, file)
	return file, nil
}

// Logs returns the last lines of every program's log, at most the given number of each, for people to read.
func (g *Group) Logs(lines int) string {
	files, err := fs.Glob(os.DirFS(g.Path("logs")), "*.log")
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(g.Path("logs", file))
		if err != nil {
			fmt.Fprintf(&out, "== %v\n", err)
			continue
		}
		all := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		skipped := max(0, len(all)-lines)
		fmt.Fprintf(&out, "== %s (%d lines before these)\n%s\n", file, skipped,
			strings.Join(all[skipped:], "\n"))
	}
	return out.String()
}

// tail is the end of a log after a position, in whole lines, for an error.
func tail(path string, from int64, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	text = bytes.TrimSpace(text[min(from, int64(len(text))):])
	if len(text) == 0 {
		return "(it is empty)"
	}
	all := strings.Split(string(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
