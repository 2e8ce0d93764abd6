package app

import (
	"io"

	"github.com/nodesim/nodesim/internal/shards"
)

// parseShard reads the flag --shard; the whole where it wasn't given.
func parseShard(text string) (s shards.Shard, err error) {
	if text == "" {
		return s, nil
	}
	if s, err = shards.Parse(text); err != nil {
		return s, usagef("flag --shard %.80q: %w", text, err)
	}
	return s, nil
}

// writeResult writes what a shard, or all of them, came to as a line of JSON.
func writeResult(out io.Writer, res interface{ JSON() ([]byte, error) }) error {
	line, err := res.JSON()
	if err != nil {
		return err
	}
	_, err = out.Write(line)
	return err
}
