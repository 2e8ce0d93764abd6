package testcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// openLog opens the log of one process, which lasts until the cluster stops.
func (c *Cluster) openLog(name string) (*os.File, error) {
	file, err := os.OpenFile(c.path("logs", name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logs = append(c.logs, file)
	return file, nil
}

// Logs returns the last lines of every process's log, at most the given number of each, for people to read.
func (c *Cluster) Logs(lines int) string {
	files, err := filepath.Glob(c.path("logs", "*.log"))
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			fmt.Fprintf(&out, "== %v\n", err)
			continue
		}
		all := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		skipped := max(0, len(all)-lines)
		fmt.Fprintf(&out, "== %s (%d lines before these)\n%s\n", filepath.Base(file), skipped,
			strings.Join(all[skipped:], "\n"))
	}
	return out.String()
}
