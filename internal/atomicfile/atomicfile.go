// Package atomicfile holds what programs need that share files. It replaces files in
// one step: a concurrent reader sees the old text or the new one, and a failure leaves
// the old one. And it takes locks of files, which are advisory, as flock(2) has them,
// and end with the program that holds them, however that ends; where there is no such
// thing, each is had at once.
package atomicfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Unfinished is the pattern of the names that files have while they are written. A program that is killed leaves one.
const Unfinished = ".nodesim-*.tmp"

// Write replaces a file, or makes one, with these permissions.
func Write(path string, text []byte, perm os.FileMode) error {
	return Fill(path, perm, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// Fill is Write of what a function writes to the file. What it leaves when it fails is removed.
func Fill(path string, perm os.FileMode, fill func(*os.File) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), Unfinished) // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	if err = fill(tmp); err == nil {
		err = tmp.Chmod(perm)
	}
	if err == nil {
		err = tmp.Sync() // or a machine that loses power may have the name, and nothing in the file
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Update is Write with the permissions that the file has already; those of a new one
// are 0644. A link stays one: what it names is written.
func Update(path, text string) error {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	perm := os.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		perm = old.Mode().Perm()
	}
	return Write(path, []byte(text), perm)
}

// Folder returns an error unless the folder of a file is there.
func Folder(file string) error {
	dir := filepath.Dir(file)
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s: its folder: %w", file, err)
	case !info.IsDir():
		return fmt.Errorf("%s: %s is a file: want a folder", file, dir)
	}
	return nil
}

// Sum returns the size of a file and its SHA-256, in hexadecimal.
func Sum(file string) (size int64, hash string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}
