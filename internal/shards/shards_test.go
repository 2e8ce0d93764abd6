package shards_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
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

// Of any names and any number of shards, each name is of one shard, whatever other names there are, and shards are of about one size.
func TestByName(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var names []string
	for n := range 5000 {
		name := make([]byte, rng.IntN(40))
		for i := range name {
			name[i] = byte(rng.Uint32())
		}
		names = append(names, string(name), fmt.Sprintf("c1/2026/11/27/20261127t%06dz-workers-3f6c1d2a9b", n))
	}
	numbers := []int{1, 2, 3, 4, 5, 7, 8, 16, 64, 97, 100_000}
	for range 50 {
		numbers = append(numbers, 1+rng.IntN(1000))
	}
	for _, of := range numbers {
		does := make([]int, of)
		for _, name := range names {
			does[shards.ByName(name, of)]++
		}
		if of <= 16 && slices.Min(does) < len(names)*8/10/of {
			t.Errorf("%d shards have %v names, want about as many each", of, does)
		}
	}
	for _, of := range []int{1, 2, 3, 17} {
		for _, name := range names[:200] {
			var by []int
			for index := range of {
				if (shards.Shard{Index: index, Of: of}).Does(name) {
					by = append(by, index)
				}
			}
			if len(by) != 1 || by[0] != shards.ByName(name, of) || !(shards.Shard{}).Does(name) {
				t.Errorf("%q is of the shards %v of %d, and of the whole: %v", name, by, of, shards.Shard{}.Does(name))
			}
		}
	}
	// A Job that continues with a newer nodesim has the same shards.
	for name, want := range map[string]int{"": 652, "c1/2026/11/27/a": 197, "c1/2026/11/27/b": 39} {
		if got := shards.ByName(name, 1000); got != want {
			t.Errorf("%q is of shard %d, want %d", name, got, want)
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
	if err := shards.Read([]string{"-"}, strings.NewReader("progress\n"+one+"\r\n{\"kind\":\"Something\"}\n\n  "+other), shards.Taker{Results: of, Take: take}); err != nil || !slices.Equal(got, []string{one, other}) {
		t.Errorf("got %q, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                            "(standard input): found no result: want a line of nodesim some -o json",
		"x\n{\"kind\":\"Some\"bad}\n": "(standard input): line 2: found bad: want a line of nodesim some -o json",
	} {
		if err := shards.Read([]string{"-"}, strings.NewReader(text), shards.Taker{Results: of, Take: take}); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// Results of several kinds in one log are each given to the taker of their kind, in their order.
func TestReadKinds(t *testing.T) {
	var got []string
	of := func(kind string) shards.Taker {
		return shards.Taker{Results: shards.Results{Kind: kind, Command: "nodesim " + kind}, Take: func(line []byte) error {
			got = append(got, kind+": "+string(line))
			if strings.Contains(string(line), "bad") {
				return errors.New("found bad")
			}
			return nil
		}}
	}
	log := `{"kind":"B","a":1}` + "\n" + `{"kind":"A","a":2}` + "\n" + `{"kind":"C"}` + "\n" + `{"kind":"B","a":3}`
	want := []string{`B: {"kind":"B","a":1}`, `A: {"kind":"A","a":2}`, `B: {"kind":"B","a":3}`}
	if err := shards.Read([]string{"-"}, strings.NewReader(log), of("A"), of("B")); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for text, want := range map[string]string{
		`{"kind":"C"}`:     "(standard input): found no result: want a line of nodesim A",
		`{"kind":"B",bad}`: "(standard input): line 1: found bad: want a line of nodesim B",
	} {
		if err := shards.Read([]string{"-"}, strings.NewReader(text), of("A"), of("B")); err == nil || err.Error() != want {
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
		{shards.Job{Name: strings.Repeat("a", 61), Image: "a", Shards: 11}, `name "` + strings.Repeat("a", 61) + `": want small letters, digits and dashes, at most 60, as its pods are called`},
	} {
		if _, err := c.job.YAML(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
