package storetest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/internal/app/storetest"
	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/timeline"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// example is a tape of the repository's, with its description.
func example(t *testing.T, name string) (store.Tape, []byte) {
	t.Helper()
	file := filepath.Join("..", "..", "..", "examples", name+".yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := timeline.Open(file, timeline.Lines())
	if err != nil {
		t.Fatal(err)
	}
	rep, err := inspect.Tape(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return store.Tape{
		Name: name, Cluster: "c1", Group: "workers", Outcome: "complete", Part: 1, Events: rep.Events, Gaps: len(rep.Gaps),
		Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:]),
	}, text
}

// put keeps a tape in a store under the name of a number.
func put(t *testing.T, s *store.Store, is store.Tape, text []byte, number int) store.Tape {
	t.Helper()
	is.Name = fmt.Sprintf("%s-%03d", is.Name, number)
	is.Began = noon.Add(time.Duration(number) * time.Hour)
	is.Ended = is.Began.Add(time.Minute)
	if err := s.Put(t.Context(), is, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }); err != nil {
		t.Fatal(err)
	}
	return is
}

// filled is a store in a folder with tapes of which two hang in a drain, one is damaged, one is no tape, one isn't as it is
// described, one was lost, one has no description that can be read, and one a name that no tape has.
func filled(t *testing.T) (s *store.Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	s = open(t, dir)
	is, text := example(t, "stuck-drain-force")
	for number := range 30 {
		put(t, s, is, text, number)
	}
	stuck, hangs := example(t, "stuck-drain")
	for number := range 2 {
		put(t, s, stuck, hangs, number)
	}
	is.Name = "damaged"
	damaged := fileOf(dir, put(t, s, is, text, 1))
	is.Name = "lost"
	lost := fileOf(dir, put(t, s, is, text, 2))
	if err := errors.Join(os.WriteFile(damaged, text[:len(text)-1], 0o600), os.Remove(lost)); err != nil {
		t.Fatal(err)
	}
	is.Name, is.Events = "described", is.Events-1
	put(t, s, is, text, 3)
	none := []byte("nothing of a tape\n")
	sum := sha256.Sum256(none)
	is.Name, is.Bytes, is.SHA256 = "none", int64(len(none)), hex.EncodeToString(sum[:])
	put(t, s, is, none, 4)
	for _, name := range []string{"torn", "hostile\x1b[2J\xff"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(damaged), name+".json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s, dir
}

const inFilled = 38

func fileOf(dir string, t store.Tape) string {
	return filepath.Join(dir, filepath.FromSlash(t.Object()))
}

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), "file://"+filepath.ToSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func policies(t *testing.T, names ...string) []*policy.Policy {
	t.Helper()
	all, err := analyse.Policies(names)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func run(t *testing.T, c storetest.Config) *storetest.Result {
	t.Helper()
	res, err := storetest.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// logged is a log of results, as a merge finds it, and read again.
func logged(t *testing.T, all ...*storetest.Result) (log string, read []storetest.Result) {
	t.Helper()
	for _, r := range all {
		line, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		log += "a line of something else\n" + string(line)
	}
	read, err := storetest.ReadResults([]string{"-"}, strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	return log, read
}

func merged(t *testing.T, all ...*storetest.Result) *storetest.Result {
	t.Helper()
	_, read := logged(t, all...)
	m, err := storetest.Merge(read)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func text(t *testing.T, r *storetest.Result) string {
	t.Helper()
	line, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// Whatever their number, the shards of a store are the whole: each tape in one of them, and in no other.
func TestShardsAreTheWhole(t *testing.T) {
	s, _ := filled(t)
	config := storetest.Config{Store: s, Policies: policies(t, "no-stuck-roll")}
	whole := run(t, config)
	if len(whole.Tapes) != inFilled || whole.Failed != 8 || whole.Whole() != nil {
		t.Errorf("found %d tapes, %d of which fail, %v: want %d and 8", len(whole.Tapes), whole.Failed, whole.Whole(), inFilled)
	}
	for _, of := range []int{1, 2, 3, 16, 100} {
		var all []*storetest.Result
		tested := map[string]int{}
		for index := range of {
			config.Shard = shards.Shard{Index: index, Of: of}
			one := run(t, config)
			for _, is := range one.Tapes {
				tested[is.Name]++
			}
			all = append(all, one)
		}
		for name, times := range tested {
			if times != 1 {
				t.Errorf("%d shards: %q was tested %d times", of, name, times)
			}
		}
		if got := text(t, merged(t, all...)); got != text(t, whole) {
			t.Errorf("%d shards, merged:\n%s\nwant the whole:\n%s", of, got, text(t, whole))
		}
	}
}

// What is wrong with a tape is told, without the folder in which it was tested, and nothing that acts on a terminal.
func TestFailures(t *testing.T) {
	s, _ := filled(t)
	whole := run(t, storetest.Config{Store: s, Policies: policies(t, "no-stuck-roll")})
	if line := text(t, whole); !strings.Contains(line, `"name":"c1/2026/11/27/hostile\\x1b[2J\\xff"`) {
		t.Errorf("found\n%s\nwant the key escaped", line)
	}
	var out strings.Builder
	for _, r := range whole.Report().Results {
		r.Print(&out, false)
	}
	for _, want := range []string{
		"stuck-drain-000", "policy no-stuck-roll", "damaged-001: found ", "the object is damaged, or somebody has replaced it",
		"lost-002", "the tape was lost, or removed meanwhile", "described-003", "want those of its description", "none-004.yaml.zst: the end of the file within the header", "description: unexpected end of JSON input", `description: found the name "hostile\x1b[2J\xff", want up to`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("found\n%s\nwant %q in it", &out, want)
		}
	}
	if strings.Contains(out.String(), "\x1b") || !utf8.ValidString(out.String()) || strings.Contains(out.String(), os.TempDir()+"/nodesim-tapes-") {
		t.Errorf("found\n%s\nwant neither what acts on a terminal nor a folder of this machine", &out)
	}
}

// Of pods that were lost, one before its result was written and one after it, the first one's shard is named until it has run
// again, and the second one's counts once.
func TestLostPods(t *testing.T) {
	s, _ := filled(t)
	shard := func(index int) *storetest.Result {
		return run(t, storetest.Config{Store: s, Shard: shards.Shard{Index: index, Of: 4}})
	}
	zero, one, three := shard(0), shard(1), shard(3)
	m := merged(t, three, zero, one, one)
	if err := m.Whole(); err == nil || !strings.HasSuffix(err.Error(), "found no result of shard 2 of 4: want one of each: run what lacks again") {
		t.Errorf("found %v, want shard 2 named", err)
	}
	again := merged(t, three, zero, one, shard(2), shard(1))
	if err := again.Whole(); err != nil || len(again.Tapes) != inFilled || len(again.Tapes) <= len(m.Tapes) {
		t.Errorf("found %d tapes, %v, want %d", len(again.Tapes), err, inFilled)
	}
}

// A shard that runs again after tapes have come tests its own ones: those that were there are each tested once.
func TestTapesComeMeanwhile(t *testing.T) {
	s, _ := filled(t)
	shard := func(index int) *storetest.Result {
		return run(t, storetest.Config{Store: s, Shard: shards.Shard{Index: index, Of: 3}})
	}
	before := []*storetest.Result{shard(0), shard(1), shard(2)}
	is, content := example(t, "stuck-drain-force")
	is.Name = "later"
	for number := range 20 {
		put(t, s, is, content, number)
	}
	m := merged(t, before[0], shard(1), before[2])
	times := map[string]int{}
	for _, is := range m.Tapes {
		times[is.Name]++
	}
	for _, r := range before {
		for _, is := range r.Tapes {
			if times[is.Name] != 1 {
				t.Errorf("%q is there %d times", is.Name, times[is.Name])
			}
		}
	}
	_, read := logged(t, before[1], shard(1))
	if _, err := storetest.Merge(read); err == nil || !strings.Contains(err.Error(), "shard 1: found two results that differ") {
		t.Errorf("both results of one shard: %v, want them refused", err)
	}
}

// A result of another test, or a damaged one, is refused with its place.
func TestForeignAndDamagedResults(t *testing.T) {
	s, _ := filled(t)
	config := storetest.Config{Store: s, Policies: policies(t, "no-stuck-roll"), Shard: shards.Shard{Index: 0, Of: 2}}
	zero := run(t, config)
	config.Shard.Index = 1
	one := run(t, config)
	for want, change := range map[string]func(*storetest.Config){
		"shard 1: found store file:///":       func(c *storetest.Config) { c.Store, _ = filled(t) },
		"shard 1: found input ":               func(c *storetest.Config) { c.Policies = nil },
		"shard 1: found number of shards 3: ": func(c *storetest.Config) { c.Shard.Of = 3 },
	} {
		other := config
		change(&other)
		_, read := logged(t, zero, run(t, other))
		if _, err := storetest.Merge(read); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("found %v, want %s", err, want)
		}
	}
	other := run(t, config)
	other.Program = "another"
	_, read := logged(t, one, other)
	if _, err := storetest.Merge(read); err == nil || !strings.HasPrefix(err.Error(), "shard 1: found program another: want that of the others") {
		t.Errorf("found %v, want another program refused", err)
	}
	log, _ := logged(t, zero)
	lacking := *zero
	lacking.Lacks = []int{1}
	for want, text := range map[string]string{
		"line 2: unexpected end of JSON input":      log[:len(log)-10],
		"line 2: found shard 2 of 2":                strings.Replace(log, `"shard":0`, `"shard":2`, 1),
		"in the result of shard 1/2, want it in":    strings.Replace(log, `"shard":0`, `"shard":1`, 1),
		"beside tapes of which":                     strings.Replace(log, `"passed":`, `"passed":1`, 1),
		"line 1: found a merged result that lacks ": text(t, &lacking),
		"(standard input): found no result":         "a line of something else\n",
		`found the text "no\x1b[2J", want one that`: strings.Replace(log, `"policy":"no-stuck-roll"`, `"policy":"no\u001b[2J"`, 1),
		"found that it holds: false, beside rules":  strings.Replace(log, `"holds":true`, `"holds":false`, 1),
	} {
		if _, err := storetest.ReadResults([]string{"-"}, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %s", err, want)
		}
	}
	if _, err := storetest.Merge(nil); err == nil {
		t.Error("no results were merged")
	}
}

// broken is a bucket that fails where it is told to.
type broken struct {
	store.Bucket
	fail func(key string) error
}

func (b broken) Read(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := b.fail(key); err != nil {
		return nil, err
	}
	return b.Bucket.Read(ctx, key)
}

// Where the store doesn't answer, or the pod is evicted, there is no result: half of one would pass for the whole.
func TestNoResultOfHalfAShard(t *testing.T) {
	s, _ := filled(t)
	away, evicted := errors.New("the store is away"), errors.New("evicted")
	for _, ending := range []string{".json", ".yaml.zst"} {
		b := broken{s.Bucket, func(key string) error {
			if strings.Contains(key, "-007") && strings.HasSuffix(key, ending) {
				return away
			}
			return nil
		}}
		if res, err := storetest.Run(t.Context(), storetest.Config{Store: &store.Store{Bucket: b, Address: "test"}}); res != nil || !errors.Is(err, away) {
			t.Errorf("%s: found %v, %v, want no result", ending, res, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		b.fail = func(key string) error {
			if strings.HasSuffix(key, ending) {
				cancel(evicted)
			}
			return nil
		}
		if res, err := storetest.Run(ctx, storetest.Config{Store: &store.Store{Bucket: b, Address: "test"}}); res != nil || !errors.Is(err, evicted) {
			t.Errorf("%s: found %v, %v, want no result", ending, res, err)
		}
	}
}

func TestEmptyStore(t *testing.T) {
	s := open(t, t.TempDir())
	if err := run(t, storetest.Config{Store: s}).Whole(); err == nil || !strings.Contains(err.Error(), "found no such tape") {
		t.Errorf("found %v, want that it has no tape", err)
	}
	if err := run(t, storetest.Config{Store: s, Shard: shards.Shard{Index: 1, Of: 2}}).Whole(); err != nil {
		t.Errorf("found %v, want nothing wrong with a shard that has no tape", err)
	}
}

// What no pod could do isn't printed.
func TestManifestIsRefused(t *testing.T) {
	for want, j := range map[string]tapes.Job{
		`store "tapes": want a URL`:                         {Store: "tapes"},
		"store file:///srv/tapes: found no --claim":         {Store: "file:///srv/tapes"},
		"store file:///: want the path of a folder":         {Store: "file:///", Claim: "tapes"},
		"store file:///test/a: want the path":               {Store: "file:///test/a", Claim: "tapes"},
		"store file:///a/../scratch: want the path":         {Store: "file:///a/../scratch", Claim: "tapes"},
		"store file://host/a: want the path":                {Store: "file://host/a", Claim: "tapes"},
		`store s3://bucket, claim "tapes": want a claim`:    {Store: "s3://bucket", Claim: "tapes"},
		"store s3://me:xxxxx@bucket: found credentials":     {Store: "s3://me:secret@bucket"},
		`name "A": want small letters`:                      {Store: "s3://bucket", Name: "A", Shards: 2},
		`want small letters, digits and dashes, at most 59`: {Store: "s3://bucket", Name: strings.Repeat("a", 60), Shards: 200},
		`image "": want the name of an image`:               {Store: "s3://bucket", Name: "a", Shards: 2},
		"found 0 shards: want 1 at the least":               {Store: "s3://bucket", Name: "a", Image: "a", Shards: 0},
		"no such file":                                      {Store: "s3://bucket", Name: "a", Image: "a", Shards: 1, Policies: []string{"nowhere.yaml"}},
	} {
		if text, err := storetest.Manifest(&j); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret@") {
			t.Errorf("found %v and %d bytes, want %s", err, len(text), want)
		}
	}
}
