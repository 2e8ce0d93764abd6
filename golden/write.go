package golden

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/nodesim/nodesim/internal/atomicfile"
)

// writeFile replaces a file in one step, and makes its folder.
func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if old, err := os.Stat(path); err == nil && old.IsDir() {
		return &os.PathError{Op: "write", Path: path, Err: errors.New("found a folder: want a file")}
	}
	return atomicfile.Update(path, text)
}
