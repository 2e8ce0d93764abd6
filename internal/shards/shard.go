package shards

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of several parts of a work, such as 2/8; the zero Shard is the whole.
type Shard struct{ Index, Of int }

// most is the most completions of an Indexed Job whose indexes fail one by one
// (k8s.io/kubernetes/pkg/apis/batch/validation, maxParallelismForIndexedJob).
const most = 100_000

// Parse reads i/n.
func Parse(text string) (s Shard, err error) {
	index, of, ok := strings.Cut(text, "/")
	if ok {
		s.Index, err = strconv.Atoi(index)
	}
	if ok && err == nil {
		s.Of, err = strconv.Atoi(of)
	}
	if !ok || err != nil || s.Check() != nil {
		return Shard{}, errors.New("want INDEX/SHARDS, such as 0/8 for the first of eight")
	}
	return s, nil
}

// Check refuses numbers that no shard has, such as those of a damaged result.
func (s Shard) Check() error {
	if s.Of < 1 || s.Of > most || s.Index < 0 || s.Index >= s.Of {
		return fmt.Errorf("found shard %d of %d: want one from 0 on, below their number, which is at most %d", s.Index, s.Of, most)
	}
	return nil
}

// String is the shard as Parse reads it.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// ByName is the index of the shard, of so many, that does what a name is of. It depends on nothing else: where names come and go
// while shards run, and run again, none is done by two of them or by none.
func ByName(name string, of int) int {
	sum := sha256.Sum256([]byte(name))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(of))
}

// Does reports whether the shard does what a name is of.
func (s Shard) Does(name string) bool { return s.Of == 0 || ByName(name, s.Of) == s.Index }
