package process

import (
	"os"
	"path/filepath"
)

// keep reports whether the user wants to read the logs afterwards.
func keep() bool { return os.Getenv("NODESIM_KEEP") != "" }

// markKept marks a folder that is to be kept: a later run that finds it, perhaps without NODESIM_KEEP, leaves it.
func markKept(folder string) error {
	if !keep() {
		return nil
	}
	return os.WriteFile(mark(folder), nil, 0o644)
}

// kept reports whether a folder is marked.
func kept(folder string) bool {
	_, err := os.Stat(mark(folder))
	return err == nil
}

func mark(folder string) string { return filepath.Join(folder, "kept") }
