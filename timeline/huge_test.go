package timeline

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// flood is a gigabyte: a start, and then the same over and over. It counts
// what was read of it.
type flood struct {
	start, again string
	n            int64
}

const gigabyte = 1 << 30

func (f *flood) Read(p []byte) (int, error) {
	if f.n >= gigabyte {
		return 0, io.EOF
	}
	n := 0
	if f.n < int64(len(f.start)) {
		n = copy(p, f.start[f.n:])
	}
	for n < len(p) {
		i := int((f.n + int64(n) - int64(len(f.start))) % int64(len(f.again)))
		n += copy(p[n:], f.again[i:])
	}
	f.n += int64(n)
	return n, nil
}

// A gigabyte that never ends a line, or a document, is refused once it is
// past the limit, and not read on.
func TestFloods(t *testing.T) {
	const line, block = "a line longer than that: want at most 4 MiB", "a block of YAML larger than that: want at most 1 MiB"
	for story, c := range map[string]struct {
		*flood
		want string
	}{
		"a line":               {&flood{start: head + `--- {"at":"0s","type":"MARK","name":"`, again: "xxxxxxxx"}, line},
		"a line in the header": {&flood{start: head + "x: ", again: "xxxxxxxx"}, line},
		"a header":             {&flood{start: head, again: "x: 1\n"}, block},
		"a block event":        {&flood{start: head + "---\nat: 0s\n", again: "x: 1\n"}, block},
		"one that is no tape":  {&flood{again: "hello\n"}, block},
		"a nested event":       {&flood{start: head + `--- {"x":`, again: "[[[[[[["}, line},
		"a nested block":       {&flood{start: head + "---\nx: ", again: "[[[[[[["}, line},
	} {
		t.Run(story, func(t *testing.T) {
			r, err := NewReader(c, Name("flood.yaml"))
			for err == nil {
				_, err = r.Next()
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if c.n > MaxLine+(1<<20) {
				t.Errorf("%d bytes were read of it", c.n)
			}
		})
	}
}

// The first event of a gigabyte is there without the rest.
func TestFirstEventOfHugeTape(t *testing.T) {
	f := &flood{start: head + added, again: `--- {"at":"1s","type":"MARK","name":"m"}` + "\n"}
	r, err := NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := r.Next()
	if err != nil || ev.Name != "n" {
		t.Fatalf("%v, %v", ev, err)
	}
	if f.n > 1<<20 {
		t.Errorf("%d bytes were read for it", f.n)
	}
}

// Memory is that of the living objects, however long the tape.
func TestLongTapeTakesNoMemory(t *testing.T) {
	name := strings.Repeat("x", 200)
	long := &flood{start: head + added, again: `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6","patch":{"spec":{"x":"` + name + `"}}}` + "\n" +
		`--- {"at":"1s","type":"MARK","name":"` + name + `"}` + "\n" +
		`--- {"at":"1s","type":"ADDED","resource":"nodes","name":"m","uid":"u","rv":"5","object":{}}` + "\n" +
		`--- {"at":"1s","type":"DELETED","resource":"nodes","name":"m","rv":"5"}` + "\n"}
	r, err := NewReader(long)
	if err != nil {
		t.Fatal(err)
	}
	_, events := Chain(Window(0, ToEnd), IdleLimit(1), Speed(2), Filter(Selection{Names: []string{"n"}}))(r.Header(), r.All())
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	n, before := 0, int64(0)
	for _, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		switch n++; n {
		case 1_000:
			before = inUse()
		case 30_000:
			if grown := inUse() - before; grown > 1<<20 {
				t.Errorf("29,000 events have left %d bytes behind", grown)
			}
			return
		}
	}
	t.Fatalf("only %d events", n)
}

// What is packed small doesn't become large in memory.
func TestBombs(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	bomb := head + `--- {"at":"0s","type":"MARK","name":"` + strings.Repeat("x", 8<<20)
	if _, err := io.WriteString(z, bomb); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	// A frame whose header asks for a window of 2 GiB (RFC 8878, 3.1.1.1.2).
	window := append(bytes.Clone(zstdMagic), 0x00, 21<<3, 0, 0, 0)
	for story, c := range map[string]struct {
		b    []byte
		want string
	}{
		"gzip":        {gz.Bytes(), "a line longer than that: want at most 4 MiB"},
		"zstd":        {enc.EncodeAll([]byte(bomb), nil), "a line longer than that: want at most 4 MiB"},
		"zstd window": {window, "timeline (stream): zstd: window size exceeded: want whole frames"},
	} {
		if _, _, err := drain(c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", story, err, c.want)
		}
	}
	if _, _, err := drain(window); !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		t.Errorf("%v doesn't wrap its cause", err)
	}
}

// A compressed tape that is cut gives what is whole and says so; one that is
// damaged in the middle is an error.
func TestDamagedFrames(t *testing.T) {
	events := sampleEvents(9, 200)
	for _, ending := range []string{".gz", ".zst"} {
		name := filepath.Join(t.TempDir(), "tape.yaml"+ending)
		w, err := Create(name, sampleHeader())
		if err != nil {
			t.Fatal(err)
		}
		half := int64(0)
		for i, ev := range events {
			writeAll(t, w, []Event{ev})
			if i == 99 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				half = w.Bytes()
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int64{half + 1, half + 20, int64(len(b)) - 1} {
			got, r, err := drain(b[:n])
			if err != nil || len(got) < 100 || len(got) > 200 || r.Torn() == "" || r.Complete() {
				t.Errorf("%s cut at %d: %d events, %v", ending, n, len(got), err)
				continue
			}
			wantSame(t, got, events[:len(got)])
		}
		for _, at := range []int64{half / 2, half + (int64(len(b))-half)/2} {
			broken := bytes.Clone(b)
			for i := range 8 {
				broken[at+int64(i)] ^= 0x5a
			}
			got, r, err := drain(broken, Name(name))
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s damaged at %d: %d events, torn %q, error %v", ending, at, len(got), r.Torn(), err)
			}
			var fail *Error
			if !errors.As(err, &fail) || fail.Name != name || fail.Line == 0 && len(got) > 0 {
				t.Errorf("%s damaged at %d: %v says no place", ending, at, err)
			}
		}
	}
}
