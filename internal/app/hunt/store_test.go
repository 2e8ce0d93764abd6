package hunt_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/hunt"
	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/scenarios"
	search "github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// simulated is the tape of a scenario.
func simulated(t *testing.T, scenario string, settings ...string) []byte {
	t.Helper()
	s, err := simulate.Find(scenario, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := simulate.Resolve(s, settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	var tape bytes.Buffer
	if _, err := simulate.Write(t.Context(), src, &tape, nil); err != nil {
		t.Fatal(err)
	}
	return tape.Bytes()
}

// filled is a store in a folder with three tapes: the cluster of one is rolled without any trouble, a budget holds up that of one, and one
// has no nodes. They are returned by their names.
func filled(t *testing.T) (*store.Store, map[string][]byte) {
	t.Helper()
	s, err := store.Open(t.Context(), "file://"+filepath.ToSlash(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{
		"free": simulated(t, "empty", "nodes=1"), "none": simulated(t, "empty", "nodes=0"), "stuck": simulated(t, "stuck-drain", "nodes=1", "pods=1"),
	}
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for name, tape := range all {
		sum := sha256.Sum256(tape)
		is := store.Tape{
			Name: name, Cluster: "c1", Group: "workers", Outcome: "complete", Part: 1, Began: began, Ended: began.Add(time.Hour), Bytes: int64(len(tape)),
			SHA256: hex.EncodeToString(sum[:]),
		}
		if err := s.Put(t.Context(), is, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(tape)), nil }); err != nil {
			t.Fatal(err)
		}
	}
	return s, all
}

// asked is a search through each tape of a store.
func asked(t *testing.T, s *store.Store, cases uint64) hunt.StoreConfig {
	t.Helper()
	policies, err := analyse.Policies([]string{"no-stuck-roll"})
	if err != nil {
		t.Fatal(err)
	}
	return hunt.StoreConfig{Work: tapes.Work{Store: s}, Search: hunt.Config{Policies: policies, Seed: 7, Cases: cases, Parallel: 2}}
}

func run(t *testing.T, c hunt.StoreConfig) *hunt.StoreResult {
	t.Helper()
	res, err := hunt.RunStore(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// shard is what a shard comes to, on another number of cores than its neighbours.
func shard(t *testing.T, c hunt.StoreConfig, index, of int) *hunt.StoreResult {
	t.Helper()
	c.Shard, c.Search.Parallel = shards.Shard{Index: index, Of: of}, 1+index%3
	return run(t, c)
}

func line(t *testing.T, r interface{ JSON() ([]byte, error) }) string {
	t.Helper()
	text, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// merged is what the logs of shards say together.
func merged(t *testing.T, all ...*hunt.StoreResult) (*hunt.StoreResult, error) {
	t.Helper()
	log := ""
	for _, r := range all {
		log += "hunt: a line of progress\n" + line(t, r)
	}
	_, read, err := hunt.ReadResults([]string{"-"}, strings.NewReader(log))
	if err != nil {
		return nil, err
	}
	return hunt.MergeStore(read)
}

// alone is what a search through a tape comes to that is named on the command line.
func alone(t *testing.T, c hunt.Config, name string, tape []byte) *search.Result {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".yaml.zst")
	if err := os.WriteFile(file, tape, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := snapshot.Read(t.Context(), snapshot.Source{File: file, InScope: true})
	if err != nil {
		t.Fatal(err)
	}
	if c.Scenario, err = hunt.Cluster(&scenarios.File{File: *f}, c.Roll); err != nil {
		t.Fatal(err)
	}
	res, err := hunt.Run(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Each tape is searched as if it alone were named; one that has no cluster is named with the reason; and all are counted.
func TestEachTapeIsSearched(t *testing.T) {
	s, all := filled(t)
	c := asked(t, s, 1)
	var done []string
	var out strings.Builder
	c.Done = func(is *hunt.StoreTape) {
		done = append(done, is.Name)
		is.Text(&out, c.Search.Seed)
	}
	res := run(t, c)
	const folder = "c1/2026/11/27/"
	if want := []string{folder + "free", folder + "none", folder + "stuck"}; !slices.Equal(done, want) || len(res.Tapes) != 3 {
		t.Fatalf("found the tapes %v, want %v", done, want)
	}
	if got, want := res.Summary(), "2 tapes tried in 2 cases, seed 7: 1 failed, 1 left out"; got != want || res.Whole() != nil {
		t.Errorf("found %q, %v, want %q", got, res.Whole(), want)
	}
	free, none, stuck := &res.Tapes[0], &res.Tapes[1], &res.Tapes[2]
	if want := "tape none.yaml.zst at 0s: found no node: want "; !strings.HasPrefix(none.LeftOut, want) || free.LeftOut+stuck.LeftOut != "" {
		t.Errorf("left out: %q, %q and %q, want the second one alone, for %q", free.LeftOut, none.LeftOut, stuck.LeftOut, want)
	}
	if stuck.Found == nil || stuck.Found.Failure.Kind != search.OfPolicy || stuck.Found.File == "" {
		t.Fatalf("found %+v in the tape that is stuck, want a policy that is violated, and a file", stuck.Found)
	}
	for name, is := range map[string]*hunt.StoreTape{"free": free, "stuck": stuck} {
		want := alone(t, c.Search, name, all[name])
		if diff := cmp.Diff(want.Found, is.Found); diff != "" || is.Tried != want.Tried {
			t.Errorf("%s: %d cases were tried, want %d; found another case than alone: %s", name, is.Tried, want.Tried, diff)
		}
	}
	for _, want := range []string{"left out: " + folder + "none: tape none.yaml.zst", "found in case 0, after 1 case of " + folder + "stuck, seed 7: policy no-stuck-roll/", "\n  made small in "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("found\n%s\nwant %q in it", &out, want)
		}
	}
	if strings.Contains(out.String(), folder+"free") || strings.Contains(line(t, res), "nodesim-tapes-") {
		t.Errorf("found\n%s%s\nwant neither the tape in which nothing is found nor a folder of this machine", &out, line(t, res))
	}
}

// Whatever their number, and that of the cores, the shards of a store are the whole: each tape in one of them, and in no other.
func TestShardsOfAStoreAreTheWhole(t *testing.T) {
	s, _ := filled(t)
	c := asked(t, s, 4)
	whole := line(t, run(t, c))
	for _, of := range []int{1, 2, 5} {
		var all []*hunt.StoreResult
		times := map[string]int{}
		for index := range of {
			one := shard(t, c, index, of)
			for _, is := range one.Tapes {
				times[is.Name]++
			}
			all = append(all, one)
		}
		for name, n := range times {
			if n != 1 {
				t.Errorf("%d shards: %s was searched %d times", of, name, n)
			}
		}
		if m, err := merged(t, all...); err != nil || line(t, m) != whole {
			t.Errorf("%d shards, merged: %v, %v, want the whole:\n%s", of, m, err, whole)
		}
	}
}

// A shard whose pod was lost is named until it has run again; of one that was lost after its end, the second result counts once.
func TestLostPodsOfAStore(t *testing.T) {
	s, _ := filled(t)
	c := asked(t, s, 1)
	zero, one, two := shard(t, c, 0, 3), shard(t, c, 1, 3), shard(t, c, 2, 3)
	m, err := merged(t, two, zero, two)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Whole(); err == nil || !strings.HasSuffix(err.Error(), "found no result of shard 1 of 3: want one of each: run what lacks again") {
		t.Errorf("found %v, want shard 1 named", err)
	}
	if _, err := merged(t, m, one); err == nil || !strings.Contains(err.Error(), "found a merged result that lacks shards") {
		t.Errorf("found %v, want a merged result that lacks one refused", err)
	}
	m, err = merged(t, two, zero, two, one, shard(t, c, 1, 3))
	if err != nil || m.Whole() != nil || line(t, m) != line(t, run(t, c)) {
		t.Errorf("found %v, %v, want the whole", m, err)
	}
}

// A result of another search is refused, and a damaged one.
func TestForeignAndDamagedResultsOfAStore(t *testing.T) {
	s, all := filled(t)
	c := asked(t, s, 1)
	zero := shard(t, c, 0, 2)
	for want, change := range map[string]func(*hunt.StoreConfig){
		"shard 1: found input ":                                        func(c *hunt.StoreConfig) { c.Search.Policies = nil },
		"shard 1: found store file:///":                                func(c *hunt.StoreConfig) { c.Store, _ = filled(t) },
		"shard 1: found seed 8: want that of the others, 7":            func(c *hunt.StoreConfig) { c.Search.Seed = 8 },
		"shard 1: found number of cases 2: want that of the others, 1": func(c *hunt.StoreConfig) { c.Search.Cases = 2 },
	} {
		other := c
		change(&other)
		if _, err := merged(t, zero, shard(t, other, 1, 2)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("found %v, want %s", err, want)
		}
	}
	log := line(t, run(t, c))
	of := line(t, alone(t, c.Search, "free", all["free"]))
	for want, text := range map[string]string{
		"line 1: unexpected end of JSON input":                      log[:len(log)-10],
		"line 1: found shard 1 of 1":                                strings.Replace(log, `"shard":0`, `"shard":1`, 1),
		"line 1: found a result of the kinds HuntStoreResult":       strings.Replace(log, `"program"`, `"kind":"x","program"`, 1),
		"line 1: found 0 cases of each tape":                        strings.Replace(log, `"cases":1`, `"cases":0`, 1),
		"0 failed, 1 left out\" beside tapes of which it is":        strings.Replace(log, `"failed":1`, `"failed":0`, 1),
		"found 0 cases tried, want 1: the result is damaged":        strings.Replace(log, `"tried":1,"found":null`, `"tried":0,"found":null`, 1),
		"found case 1, want one below 1":                            strings.Replace(log, `"found":{"case":0`, `"found":{"case":1`, 1),
		"found case 0, and that the tape was left out":              strings.Replace(log, `"tried":1,"found":{`, `"leftOut":"no","tried":0,"found":{`, 1),
		"want each once, in the order of their names":               strings.Replace(log, `27/free"`, `27/zfree"`, 1),
		`found the text "\x1btape none`:                             strings.Replace(log, `"leftOut":"tape`, `"leftOut":"\u001btape`, 1),
		`found the text "c1/2026/11/27/\x1b`:                        strings.Replace(log, `27/free"`, `27/\u001b"`, 1),
		"(standard input): found no result: want a line of nodesim": "a line of something else\n",
		"found results of a search through a store beside":          of + log,
	} {
		if _, _, err := hunt.ReadResults([]string{"-"}, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %s", err, want)
		}
	}
	if cases, stored, err := hunt.ReadResults([]string{"-"}, strings.NewReader(of)); err != nil || len(cases) != 1 || len(stored) != 0 {
		t.Errorf("found %d results of a scenario and %d of a store, %v, want one of a scenario", len(cases), len(stored), err)
	}
}

// broken is a bucket that does something before it reads.
type broken struct {
	store.Bucket
	before func(key string) error
}

func (b broken) Read(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := b.before(key); err != nil {
		return nil, err
	}
	return b.Bucket.Read(ctx, key)
}

// Where the store doesn't answer, or the pod is evicted, there is no result: half of one would pass for the whole.
func TestNoResultOfHalfAStore(t *testing.T) {
	s, _ := filled(t)
	away, evicted := errors.New("the store is away"), errors.New("evicted")
	c := asked(t, s, 1)
	c.Store = &store.Store{Address: "test", Bucket: broken{s.Bucket, func(key string) error {
		if strings.Contains(key, "stuck-") {
			return away
		}
		return nil
	}}}
	if res, err := hunt.RunStore(t.Context(), c, nil); res != nil || !errors.Is(err, away) {
		t.Errorf("found %v, %v, want no result", res, err)
	}
	c.Store = s
	ctx, cancel := context.WithCancelCause(t.Context())
	c.Done = func(*hunt.StoreTape) { cancel(evicted) }
	if res, err := hunt.RunStore(ctx, c, nil); res != nil || !errors.Is(err, evicted) {
		t.Errorf("found %v, %v, want no result", res, err)
	}
}

// A tape that is lost or damaged is left out, and so is one without the group that is to be rolled. Where none is left, the result isn't one of
// a store that was searched.
func TestTapesThatAreLeftOut(t *testing.T) {
	s, _ := filled(t)
	c := asked(t, s, 1)
	c.Search.Roll = hunt.Roll{Groups: []string{"wrkers"}}
	c.Store = &store.Store{Address: "test", Bucket: broken{s.Bucket, func(key string) error {
		if strings.Contains(key, "stuck-") {
			return os.ErrNotExist
		}
		return nil
	}}}
	res := run(t, c)
	if res.LeftOut != 3 || res.Searched != 0 {
		t.Fatalf("found %s, want 3 left out", res.Summary())
	}
	for i, want := range []string{`node group "wrkers": there is none of that name: did you mean workers?`, "found no node", "the tape was lost, or removed meanwhile"} {
		if got := res.Tapes[i].LeftOut; !strings.Contains(got, want) {
			t.Errorf("%s was left out for %q, want %q", res.Tapes[i].Name, got, want)
		}
	}
	if err := res.Whole(); err == nil || err.Error() != "store test: found no tape to search through, 3 left out: want one that begins with nodes" {
		t.Errorf("found %v, want that nothing was searched", err)
	}
	if err := shard(t, c, 0, 2).Whole(); err != nil {
		t.Errorf("found %v, want nothing wrong with a shard whose tapes are left out", err)
	}
}

// What no pod could do isn't printed; a setting that no roll has is refused before any tape is read.
func TestStoreManifest(t *testing.T) {
	c := asked(t, nil, 1)
	c.Search.Roll = hunt.Roll{Groups: []string{"workers"}, Settings: []spec.Setting{{Name: "strategy", Value: "plain"}}}
	j := tapes.Job{Store: "s3://bucket", Name: "a", Image: "a", Shards: 2, Asked: []string{"--as-of", "x"}, Policies: []string{"no-stuck-roll"}}
	text, err := hunt.StoreManifest(c, j)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"hunt", "--store", "s3://bucket", "--as-of", "x", "--seed", `"7"`, "--cases", `"1"`, "--nodegroup", "workers", "--strategy", "plain",
		"--policy", hunt.MountPath + "/policy-0.yaml", "--shard", "$(JOB_COMPLETION_INDEX)/2", "--output", "json",
	}
	if list := "- " + strings.Join(want, "\n            - ") + "\n"; !strings.Contains(string(text), list) {
		t.Errorf("found\n%s\nwant the arguments\n%s", text, list)
	}
	c.Search.Timings = "nowhere.yaml"
	if text, err := hunt.StoreManifest(c, j); err == nil || !strings.HasPrefix(err.Error(), "timings: open nowhere.yaml: ") {
		t.Errorf("found %v and %d bytes, want the file refused", err, len(text))
	}
	c.Search.Timings, c.Search.Roll.Settings = "", []spec.Setting{{Name: "maxUnavailble", Value: "2"}}
	var bad *hunt.SettingError
	if text, err := hunt.StoreManifest(c, j); !errors.As(err, &bad) || !strings.HasSuffix(err.Error(), "no such key of a roll: did you mean maxUnavailable?") {
		t.Errorf("found %v and %d bytes, want the setting refused", err, len(text))
	}
}
