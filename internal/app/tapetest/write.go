package tapetest

import (
	"errors"
	"os"
	"path/filepath"
)

// write replaces a file in one step: a failure leaves the old one.
func write(path, text string) (err error) {
	mode := os.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".golden-*.tmp")
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
	if closing := tmp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}
