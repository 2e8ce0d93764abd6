package simulate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func source(t *testing.T, name string, settings ...string) Source {
	t.Helper()
	s, err := Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := Resolve(s, settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// The file has the tape that is played, however it is packed.
func TestRunWritesTheTapeThatIsPlayed(t *testing.T) {
	src := source(t, "surge")
	size := map[string]int64{}
	for _, name := range []string{"a.yaml", "a.yaml.gz", "a.yaml.zst"} {
		file := filepath.Join(t.TempDir(), name)
		sum, err := Run(t.Context(), src, file, nil)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		size[name] = info.Size()
		written, err := timeline.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		played, err := src.Open()
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, written, played)
		if sum.Events != played.Events() || sum.Bytes != size[name] || sum.At < time.Minute || len(sum.Rolls) != 1 {
			t.Errorf("%s: got %+v, want %d events, %d bytes and a roll", name, sum, played.Events(), size[name])
		}
		if err := errors.Join(written.Close(), played.Close()); err != nil {
			t.Error(err)
		}
	}
	// Written in one go, the bytes are the same, however far it goes at a time.
	var whole bytes.Buffer
	w, err := timeline.NewWriter(&whole, src.File.Header())
	if err != nil {
		t.Fatal(err)
	}
	if err := src.Scenario.Write(w); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.yaml")
	if _, err := Run(t.Context(), src, file, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, whole.Bytes()) {
		t.Errorf("not the bytes of the scenario itself: %v", err)
	}
	if size["a.yaml"] < chunkSize || size["a.yaml.gz"] > size["a.yaml"]/5 || size["a.yaml.zst"] > size["a.yaml"]/5 {
		t.Errorf("got %v: want one of several chunks, and the others packed", size)
	}
}

func same(t *testing.T, name string, got, want *timeline.Reader) {
	t.Helper()
	for n := 1; ; n++ {
		a, errA := got.Next()
		b, errB := want.Next()
		if errors.Is(errA, io.EOF) && errors.Is(errB, io.EOF) {
			break
		}
		if errA != nil || errB != nil || a.At != b.At || a.Name != b.Name || a.RV != b.RV || !bytes.Equal(a.Object, b.Object) {
			t.Fatalf("%s: event %d: got %v %s, want %v %s", name, n, errA, a.Name, errB, b.Name)
		}
	}
	if !got.Complete() || !want.Complete() {
		t.Errorf("%s: complete: got %t, want %t", name, got.Complete(), want.Complete())
	}
}

// interrupting is a context that ends when it was asked often enough.
type interrupting struct {
	context.Context
	asked, after int
}

func (c *interrupting) Err() error {
	if c.asked++; c.asked > c.after {
		return context.Canceled
	}
	return nil
}

func TestInterruptLeavesAReadableTape(t *testing.T) {
	for _, name := range []string{"a.yaml", "a.yaml.zst"} {
		file := filepath.Join(t.TempDir(), name)
		sum, err := Run(&interrupting{Context: t.Context(), after: 90}, source(t, "surge"), file, nil)
		if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), file+" is readable up to there and has no END") {
			t.Fatalf("got %v, want an interruption that says what is left", err)
		}
		r, err := timeline.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		last := time.Duration(-1)
		for ev, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			last = ev.At
		}
		if r.Complete() || r.Torn() != "" || r.Events() != sum.Events || last != sum.At || last < time.Minute || last > 2*time.Minute {
			t.Errorf("%s: %d events up to %s, complete %t, torn %q: want %d up to %s, a minute and a half, without END",
				name, r.Events(), last, r.Complete(), r.Torn(), sum.Events, sum.At)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What can't be begun leaves no file, and what exists stays.
func TestRunThatFails(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.yaml")
	if err := os.WriteFile(taken, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), source(t, "surge"), taken, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want fs.ErrExist", err)
	}
	if text, err := os.ReadFile(taken); err != nil || string(text) != "mine" {
		t.Errorf("got %q, %v: want it untouched", text, err)
	}
	impossible := source(t, "surge")
	file := *impossible.File
	file.Cluster.KubernetesVersion = "none"
	impossible.File = &file
	name := filepath.Join(dir, "none.yaml")
	if _, err := Run(t.Context(), impossible, name, nil); err == nil {
		t.Error("got no error, want one of the version")
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no file", err)
	}
}

// A disk that takes nothing more ends the simulation, and its error comes once.
func TestDiskThatFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name) // for reading alone
	if err != nil {
		t.Fatal(err)
	}
	out, err := newChunks(f, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.Repeat([]byte("x"), chunkSize)
	var failed error
	for range 100 {
		if _, failed = out.Write(line); failed != nil {
			break
		}
	}
	if failed == nil || out.size() != 0 {
		t.Errorf("got %v and %d bytes, want an error", failed, out.size())
	}
	if err := out.close(); err == nil || strings.Count(err.Error(), name) != 1 {
		t.Errorf("got %v, want one error", err)
	}
}

func TestFindTakesAFileForAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"own", "surge"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for word, want := range map[string]bool{
		"surge": false, "./surge": true, "own": true, "nosuch": false, "nosuch.yaml": true, "-": true, "": false,
	} {
		if got := IsFile(word); got != want {
			t.Errorf("%q: got %t, want %t", word, got, want)
		}
	}
	large := strings.NewReader(strings.Repeat("#", scenarios.MaxFile+1))
	if _, err := Find("-", large); err == nil || !strings.Contains(err.Error(), "(standard input)") {
		t.Errorf("got %v, want an error of the size", err)
	}
}
