package shards_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/shards"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]shards.Shard{"0/1": {Index: 0, Of: 1}, "7/8": {Index: 7, Of: 8}, "99999/100000": {Index: 99_999, Of: 100_000}} {
		if s, err := shards.Parse(text); err != nil || s != want || s.String() != text {
			t.Errorf("%s: got %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "1", "8/8", "-1/8", "0/0", "0/100001", "0/8/9", "a/b"} {
		if s, err := shards.Parse(text); err == nil || s != (shards.Shard{}) {
			t.Errorf("%q: got %v, want an error", text, s)
		}
	}
}

// A log has results among other lines, and a damaged one is refused with its place.
func TestRead(t *testing.T) {
	of := shards.Results{Kind: "Some", Command: "nodesim some -o json"}
	var got []string
	take := func(line []byte) error {
		if strings.Contains(string(line), "bad") {
			return errors.New("found bad")
		}
		got = append(got, string(line))
		return nil
	}
	const one, other = `{"kind":"Some","a":1}`, `{"kind":"Some","a":2}`
	if err := of.Read([]string{"-"}, strings.NewReader("progress\n"+one+"\r\n{\"kind\":\"Something\"}\n\n  "+other), take); err != nil || !slices.Equal(got, []string{one, other}) {
		t.Errorf("got %q, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                            "(standard input): found no result: want a line of nodesim some -o json",
		"x\n{\"kind\":\"Some\"bad}\n": "(standard input): line 2: found bad: want a line of nodesim some -o json",
	} {
		if err := of.Read([]string{"-"}, strings.NewReader(text), take); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestNamed(t *testing.T) {
	lacks := shards.Lacking(30, func(index int) bool { return index == 1 })
	if got := shards.Named(lacks); !strings.HasPrefix(got, "shards 0, 2, 3, ") || !strings.HasSuffix(got, ", 20 and 9 more") {
		t.Errorf("got %s", got)
	}
	if got := shards.Named([]int{4}); got != "shard 4" {
		t.Errorf("got %s", got)
	}
}

// What no API server takes isn't printed.
func TestJobIsRefused(t *testing.T) {
	for _, c := range []struct {
		job  shards.Job
		want string
	}{
		{shards.Job{Image: "a b", Shards: 1}, `image "a b": want the name of an image`},
		{shards.Job{Image: "a", Shards: 0}, "found 0 shards: want 1 at the least, and 100000 at most"},
		{shards.Job{Image: "a", Shards: 100_001}, "found 100001 shards: want 1 at the least"},
		{shards.Job{Image: "a", Shards: 1, Files: map[string]string{"a": strings.Repeat("x", 1<<20)}}, "found files of 1.0 MB: want at most 1.0 MB"},
	} {
		if _, err := c.job.YAML(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
