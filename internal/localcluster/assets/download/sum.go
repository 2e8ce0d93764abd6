package download

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
)

// A Sum is a checksum as it is written down: "sha256:" or "sha512:", and the digest in small hexadecimal digits.
type Sum string

// Check says what is wrong with a Sum.
func (s Sum) Check() error {
	h, digest, err := s.hash()
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(digest)
	if err != nil || len(raw) != h.Size() || digest != strings.ToLower(digest) {
		return fmt.Errorf("checksum %q: want %d small hexadecimal digits", string(s), 2*h.Size())
	}
	return nil
}

func (s Sum) hash() (h hash.Hash, digest string, err error) {
	algorithm, digest, _ := strings.Cut(string(s), ":")
	switch algorithm {
	case "sha256":
		return sha256.New(), digest, nil
	case "sha512":
		return sha512.New(), digest, nil
	}
	return nil, "", fmt.Errorf("checksum %q: want sha256: or sha512: before the digits", string(s))
}

// of returns the Sum of a file, by the same algorithm.
func (s Sum) of(path string) (Sum, error) {
	h, _, err := s.hash()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it was only read
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	algorithm, _, _ := strings.Cut(string(s), ":")
	return Sum(algorithm + ":" + hex.EncodeToString(h.Sum(nil))), nil
}
