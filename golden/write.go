package golden

import (
	"errors"
	"os"
	"path/filepath"
)

// writeFile replaces a file in one step: a concurrent reader sees the
// old text or the new one, and a failure leaves the old one.
func writeFile(path, text string) (err error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		if old.IsDir() {
			return &os.PathError{Op: "write", Path: path, Err: errors.New("found a folder: want a file")}
		}
		mode = old.Mode().Perm()
	}
	tmp, err := os.CreateTemp(folder, ".golden-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.WriteString(text)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}
