package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/recorder/store"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// tape is one of a group whose roll began so many hours after noon, with its content.
func tape(group string, hours int) (store.Tape, []byte) {
	text := []byte(strings.Repeat(fmt.Sprint(group, hours), 100))
	sum := sha256.Sum256(text)
	began := noon.Add(time.Duration(hours) * time.Hour)
	return store.Tape{
		Name: fmt.Sprintf("%s-%d", group, hours), Cluster: "c1", ClusterName: "prod", Group: group, Began: began, Ended: began.Add(time.Minute),
		Part: 1, Outcome: "complete", Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:]),
	}, text
}

func reader(text []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
}

// folder opens a store in a folder.
func folder(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), "file://"+filepath.ToSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func list(t *testing.T, s *store.Store, q store.Query) (found []string) {
	t.Helper()
	all, skipped, err := s.List(t.Context(), q)
	if err != nil || len(skipped) > 0 {
		t.Fatal(err, skipped)
	}
	for _, x := range all {
		found = append(found, x.Name)
	}
	return found
}

func TestTapesAreFoundByTimeClusterGroupAndOutcome(t *testing.T) {
	s := folder(t, t.TempDir())
	if found := list(t, s, store.Query{}); found != nil {
		t.Errorf("found %q in an empty store", found)
	}
	for _, hours := range []int{30, 0, 11} {
		for _, group := range []string{"b", "a"} {
			x, text := tape(group, hours)
			if err := s.Put(t.Context(), x, reader(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for want, q := range map[string]store.Query{
		"a-0 b-0 a-11 b-11 a-30 b-30": {},
		"a-11 b-11 a-30 b-30":         {Since: noon.Add(time.Hour)},
		"a-0 b-0":                     {Until: noon.Add(11 * time.Hour)},
		"a-11":                        {Since: noon.Add(11 * time.Hour), Until: noon.Add(12 * time.Hour), Group: "a"},
		"b-0 b-11 b-30":               {Group: "b", Cluster: "prod", Outcome: "complete"},
		"":                            {Cluster: "c2"},
	} {
		if found := strings.Join(list(t, s, q), " "); found != want {
			t.Errorf("%+v: found %q, want %q", q, found, want)
		}
	}
	chosen := store.Query{Group: "a", Choose: func(key string) bool { return key == "c1/2026/11/27/b-0" || key == "c1/2026/11/28/a-30" }}
	if found := list(t, s, chosen); !slices.Equal(found, []string{"a-30"}) {
		t.Errorf("found %q by keys and group", found)
	}
	x, text := tape("a", 11)
	var got bytes.Buffer
	if err := s.Get(t.Context(), x, &got); err != nil || !bytes.Equal(got.Bytes(), text) {
		t.Errorf("got %d bytes, %v, want %d", got.Len(), err, len(text))
	}
	if err := s.Delete(t.Context(), x); err != nil {
		t.Error(err)
	}
	if err := s.Bucket.List(t.Context(), x.Key(), func(key string) error { return fmt.Errorf("%s is left", key) }); err != nil {
		t.Errorf("after one was removed: %v", err)
	}
	if found := list(t, s, store.Query{Group: "a"}); !slices.Equal(found, []string{"a-0", "a-30"}) {
		t.Errorf("found %q after one was removed", found)
	}
}

// deleting is a bucket that asks before it removes an object, and removes none for a context that has ended, as a cloud's does.
type deleting struct {
	store.Bucket
	ask func(key string) error
}

func (d deleting) Delete(ctx context.Context, key string) error {
	if err := errors.Join(ctx.Err(), d.ask(key)); err != nil {
		return err
	}
	return d.Bucket.Delete(ctx, key)
}

// A removal that was begun leaves nothing, or a tape that is listed.
func TestDeleteLeavesNoFileAlone(t *testing.T) {
	s := folder(t, t.TempDir())
	x, text := tape("a", 0)
	put := func() {
		t.Helper()
		if err := s.Put(t.Context(), x, reader(text)); err != nil {
			t.Fatal(err)
		}
	}
	wantNothing := func() {
		t.Helper()
		if err := s.Bucket.List(t.Context(), "", func(key string) error { return fmt.Errorf("%s is left", key) }); err != nil {
			t.Error(err)
		}
	}
	put()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ending := &store.Store{Address: "test", Bucket: deleting{s.Bucket, func(string) error {
		cancel()
		return nil
	}}}
	if err := ending.Delete(ctx, x); err != nil {
		t.Errorf("a context that ended meanwhile: %v", err)
	}
	wantNothing()

	put()
	away, n := errors.New("the store is away"), 0
	broken := &store.Store{Address: "test", Bucket: deleting{s.Bucket, func(key string) error {
		if strings.HasSuffix(key, ".yaml.zst") {
			if n++; n == 1 {
				return away
			}
		}
		return nil
	}}}
	if err := broken.Delete(t.Context(), x); !errors.Is(err, away) {
		t.Errorf("a file that stays: found %v, want %v", err, away)
	}
	if found := list(t, s, store.Query{}); !slices.Equal(found, []string{x.Name}) {
		t.Errorf("a file that stays: found %q in the list, want %s", found, x.Name)
	}
	if err := broken.Delete(t.Context(), x); err != nil {
		t.Errorf("the second time: %v", err)
	}
	wantNothing()
}

// What was changed in the store is never taken for the tape, and what another recorder has written stays.
func TestChangedObjectsAreNoticed(t *testing.T) {
	dir := t.TempDir()
	s := folder(t, dir)
	x, text := tape("a", 0)
	if err := s.Put(t.Context(), x, reader(text)); err != nil {
		t.Fatal(err)
	}
	again, failing := x, errors.New("opened")
	if err := s.Put(t.Context(), again, func() (io.ReadCloser, error) { return nil, failing }); err != nil {
		t.Errorf("the same tape again: %v, want nothing to be sent", err)
	}
	again.SHA256 = strings.Repeat("0", 64)
	var taken *store.TakenError
	if err := s.Put(t.Context(), again, reader(text)); !errors.As(err, &taken) {
		t.Errorf("another tape of that name: %v, want it refused", err)
	}
	object := filepath.Join(dir, filepath.FromSlash(x.Object()))
	for what, changed := range map[string][]byte{"replaced": bytes.ToUpper(text), "cut": text[:10], "longer": append(slices.Clone(text), 'x')} {
		if err := os.WriteFile(object, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		var damaged *store.DamagedError
		if err := s.Get(t.Context(), x, io.Discard); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "somebody has replaced it") {
			t.Errorf("%s: found %v, want it to be noticed", what, err)
		}
	}
	for what, text := range map[string]string{
		"no JSON": "{", "another tape's": string(again.Text()), "a path": strings.Replace(string(x.Text()), `"a-0"`, `"../a"`, 1),
		"another day's": strings.NewReplacer(`"a-0"`, `"x"`, `"began": "2026-11-27`, `"began": "2026-11-26`).Replace(string(x.Text())),
	} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(object), "x.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, skipped, err := s.List(t.Context(), store.Query{})
		if err != nil || len(all) != 1 || len(skipped) != 1 {
			t.Errorf("%s: found %d tapes, %v, %v, want one, and one description that is told of", what, len(all), skipped, err)
			continue
		}
		var one *store.SkippedError
		var damaged *store.DamagedError
		if !errors.As(skipped[0], &one) || one.Key != "c1/2026/11/27/x" || !errors.As(one, &damaged) {
			t.Errorf("%s: told of by %v, want a damaged description with its key", what, skipped[0])
		}
	}
	if err := os.Rename(filepath.Join(filepath.Dir(object), "x.json"), filepath.Join(filepath.Dir(object), "x\x1b\xff.json")); err != nil {
		t.Fatal(err)
	}
	_, skipped, err := s.List(t.Context(), store.Query{})
	var one *store.SkippedError
	var damaged *store.DamagedError
	if err != nil || len(skipped) != 1 || !errors.As(skipped[0], &one) || one.Key != "c1/2026/11/27/x\x1b\xff" || !errors.As(one, &damaged) {
		t.Errorf("a name that no tape has: %v, %v, want it told of", skipped, err)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(object), "x\x1b\xff.json")); err != nil {
		t.Fatal(err)
	}
	y, _ := tape("b", 0)
	if err := s.Put(t.Context(), y, reader(text)); err == nil || len(list(t, folder(t, dir), store.Query{Group: "b", Until: noon.Add(time.Second)})) > 0 {
		t.Errorf("a file that isn't as described: %v, want it refused and not listed", err)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"tapes": "want a URL", "ftp://x": "found the scheme ftp, want file", "s3://bucket": "want nodesim-cloud: an archive of each release, or make cloud",
		"file://host/x": "three slashes", "s3://user:secret@bucket": "user:xxxxx@bucket",
	} {
		if _, err := store.Open(t.Context(), address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %q", address, err, want)
		}
	}
}

// A folder whose name is mistyped isn't an empty store, and isn't made: but by what writes to it.
func TestFolderThatIsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tapes")
	address := "file://" + filepath.ToSlash(dir)
	if _, err := store.Open(t.Context(), address); err == nil || !strings.Contains(err.Error(), "found no folder "+dir) {
		t.Errorf("found %v, want an error that names the folder", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
	if _, err := store.Make(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	if found := list(t, folder(t, dir), store.Query{}); len(found) > 0 {
		t.Errorf("found %v in a new folder", found)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), address+"/file"); err == nil || !strings.Contains(err.Error(), "want a folder") {
		t.Errorf("a file: found %v, want an error", err)
	}
}

func TestSurplus(t *testing.T) {
	var all []store.Tape
	for _, x := range []struct {
		group string
		hours int
	}{{"a", 0}, {"b", 1}, {"a", 2}, {"a", 3}, {"b", 4}} {
		made, _ := tape(x.group, x.hours)
		made.Bytes = 100
		all = append(all, made)
	}
	for want, k := range map[string]store.Keep{
		"":                {},
		"a-0 b-1":         {Age: 3 * time.Hour},
		"a-0 b-1 a-2":     {Size: 200},
		"a-0":             {Size: 1, Last: 2, Age: time.Nanosecond},
		"a-0 b-1 a-2 a-3": {Size: 150},
	} {
		var found []string
		for _, x := range k.Surplus(all, noon.Add(5*time.Hour)) {
			found = append(found, x.Name)
		}
		if strings.Join(found, " ") != want {
			t.Errorf("%+v: found %q, want %q", k, found, want)
		}
	}
	for i, bytes := range []int64{10, 20, 90} { // the oldest go first, whatever their size
		all[i].Bytes = bytes
	}
	if got := (store.Keep{Size: 100}).Surplus(all[:3], noon); len(got) != 2 || got[0].Name != "a-0" || got[1].Name != "b-1" {
		t.Errorf("found %+v, want the two oldest", got)
	}
}

// Two recorders that upload a tape of one name at once leave a whole one, at whichever moment the second one comes.
func TestTwoUploadsAtOnce(t *testing.T) {
	for at := range 2 { // before the file is written, and before the description is
		dir := t.TempDir()
		x, text := tape("a", 0)
		y, other := x, bytes.ToUpper(text)
		sum := sha256.Sum256(other)
		y.SHA256 = hex.EncodeToString(sum[:])
		n := 0
		between := fragile{folder(t, dir).Bucket, func(_ string, half bool) error {
			if half {
				return nil
			}
			if n++; n != at+1 {
				return nil
			}
			return folder(t, dir).Put(t.Context(), y, reader(other))
		}}
		if err := (&store.Store{Bucket: between, Address: "test"}).Put(t.Context(), x, reader(text)); err != nil {
			t.Errorf("at write %d: %v", at, err)
		}
		all, skipped, err := folder(t, dir).List(t.Context(), store.Query{})
		if err != nil || len(skipped) > 0 || len(all) != 1 {
			t.Fatalf("at write %d: found %d tapes, %v, %v, want one", at, len(all), skipped, err)
		}
		if err := folder(t, dir).Get(t.Context(), all[0], io.Discard); err != nil {
			t.Errorf("at write %d: %v", at, err)
		}
	}
}

// What another recorder has written is told of as that, and doesn't wait any more.
func TestTakenTapesAreToldOf(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	x, text := tape("a", 0)
	other := x
	other.SHA256, other.Outcome = strings.Repeat("0", 64), "interrupted"
	if err := os.MkdirAll(filepath.Join(to, "c1", "2026", "11", "27"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, filepath.FromSlash(x.Key())+".json"), other.Text(), 0o600); err != nil {
		t.Fatal(err)
	}
	y, more := tape("a", 1)
	finish(t, from, x, text)
	finish(t, from, y, more)
	told := map[string]bool{}
	u := store.Uploader{Folder: from, Store: folder(t, to), Clock: clock.RealClock{}, Sent: func(t store.Tape, taken bool) { told[t.Name] = taken }}
	for range 2 { // the second time there is nothing to tell
		if err := u.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(told) != 2 || !told[x.Name] || told[y.Name] || u.State().Waiting != 0 {
			t.Errorf("told of %v, with %d waiting, want %s as another recorder's, and %s", told, u.State().Waiting, x.Name, y.Name)
		}
		u.Sent = func(t store.Tape, _ bool) { delete(told, t.Name) }
	}
}

// A folder of the volume that nobody may read is none of the store's.
func TestLostAndFound(t *testing.T) {
	dir := t.TempDir()
	s := folder(t, dir)
	x, text := tape("a", 0)
	if err := s.Put(t.Context(), x, reader(text)); err != nil {
		t.Fatal(err)
	}
	unreadable := func(name string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	unreadable("lost+found")
	if found := list(t, s, store.Query{}); !slices.Equal(found, []string{"a-0"}) {
		t.Errorf("found %q, want the tape", found)
	}
	unreadable("c2") // may be a cluster's
	if _, _, err := s.List(t.Context(), store.Query{}); (err == nil) != (os.Geteuid() == 0) {
		t.Errorf("a cluster that can't be read: %v, want it said", err)
	}
}

// A bucket of another scheme is one that a program has registered.
func TestRegister(t *testing.T) {
	dir := t.TempDir()
	store.Register("test", func(_ context.Context, u *url.URL) (store.Bucket, error) {
		if u.Host != "bucket" {
			return nil, errors.New("found no bucket of that name")
		}
		return folder(t, dir).Bucket, nil
	})
	if _, err := store.Open(t.Context(), "test://other"); err == nil || err.Error() != "store test://other: found no bucket of that name" {
		t.Error(err)
	}
	s, err := store.Open(t.Context(), "test://bucket")
	if err != nil {
		t.Fatal(err)
	}
	x, text := tape("a", 0)
	if err := s.Put(t.Context(), x, reader(text)); err != nil {
		t.Error(err)
	}
}
