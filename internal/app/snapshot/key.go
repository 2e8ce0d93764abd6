package snapshot

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// leastKey is the least of characters that a key has: what can be guessed hides nothing.
const leastKey = 16

// Key reads the key of pseudonyms from a file. Where name is empty, it is the user's own, which is made once.
func Key(name string) ([]byte, error) {
	if name != "" {
		return readKey(name)
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("flag --key: %w: want the name of a file with a key", err)
	}
	name = filepath.Join(folder, "nodesim", "anonymize.key")
	key, err := readKey(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	text := rand.Text()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another program was faster
		return readKey(name)
	}
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(text + "\n")
	return []byte(text), errors.Join(err, f.Close())
}

func readKey(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	key := bytes.TrimSpace(text)
	if len(key) < leastKey {
		return nil, fmt.Errorf("key %s: found %d characters: want %d or more, such as those of openssl rand -hex 32", name, len(key), leastKey)
	}
	return key, nil
}
