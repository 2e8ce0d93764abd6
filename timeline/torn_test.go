package timeline

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Cut anywhere, a tape gives every whole line, and says what was dropped.
func TestTornAnywhere(t *testing.T) {
	want := sampleEvents(3, 6)
	b := tape(t, want)
	whole := readAll(t, openBytes(t, b))
	wantSame(t, whole, want)
	body := bytes.Index(b, []byte("\n--- ")) + 1
	for n := body + 4; n <= len(b); n++ {
		lines := bytes.Count(b[body:n], []byte("\n"))
		for _, tail := range []string{"", "\x00\x00\x00"} {
			got, r, err := drain(append(bytes.Clone(b[:n]), tail...))
			if err != nil {
				t.Fatalf("cut at %d, tail %q: %v", n, tail, err)
			}
			if !reflect.DeepEqual(got, whole[:lines:lines]) && lines > 0 || len(got) != lines {
				t.Fatalf("cut at %d, tail %q: other events than those of the whole lines", n, tail)
			}
			if clean := b[n-1] == '\n' && tail == ""; clean != (r.Torn() == "") {
				t.Fatalf("cut at %d, tail %q: torn %q", n, tail, r.Torn())
			}
		}
	}
	for n := range body {
		if _, _, err := drain(b[:n]); err == nil {
			t.Fatalf("a header cut at %d of %d bytes was taken", n, body)
		}
	}
}

// Append anywhere: the tape continues after the last whole event, as if nothing
// had happened. For compressed tapes, after the last whole frame.
func TestAppendAnywhere(t *testing.T) {
	const kept, all = 15, 20
	want := sampleEvents(4, all)[:all]
	for _, ending := range []string{"", ".gz", ".zst"} {
		b, ends := framesOf(t, ending, want[:kept])
		// Every cut near the end of a line or frame, where things change, and
		// the others in strides.
		appended := 0
		torn := tempFile(t, "tape.yaml"+ending, nil)
		for n := 1; n <= len(b); n++ {
			edge := slices.ContainsFunc(ends, func(end int64) bool { return max(int64(n)-end, end-int64(n)) <= 1 })
			if !edge && n%97 != 0 {
				continue
			}
			if err := os.WriteFile(torn, b[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			w, resume, err := Append(torn)
			if err != nil {
				if still, _ := os.ReadFile(torn); !bytes.Equal(still, b[:n]) {
					t.Fatalf("%s cut at %d: refused (%v) and yet changed", ending, n, err)
				}
				continue
			}
			appended++
			from := w.Events()
			if from > kept || from > 0 && resume.At != want[from-1].At {
				t.Fatalf("%s cut at %d: resumed at event %d, %s", ending, n, from, resume.At)
			}
			writeAll(t, w, want[from:])
			if err := w.Write(Event{At: want[all-1].At, Type: End}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := Open(torn)
			if err != nil {
				t.Fatal(err)
			}
			got := readAll(t, r)
			wantSame(t, got[:len(got)-1], want)
			if !r.Complete() {
				t.Fatalf("%s cut at %d: %s", ending, n, r.Torn())
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if appended < 10 {
			t.Errorf("%s: only %d appends were possible", ending, appended)
		}
	}
}

// framesOf is a tape in a file, a frame for every five events, with an END,
// and where its lines or frames end.
func framesOf(t *testing.T, ending string, events []Event) (b []byte, ends []int64) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tape.yaml"+ending)
	w, err := Create(name, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range events {
		writeAll(t, w, []Event{ev})
		if i%5 == 4 {
			if err := w.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		ends = append(ends, w.Bytes())
	}
	writeAll(t, w, []Event{{At: events[len(events)-1].At, Type: End}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err = os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if w.Bytes() != int64(len(b)) {
		t.Errorf("%s: %d bytes by the Writer's count, %d in the file", ending, w.Bytes(), len(b))
	}
	return b, append(ends, int64(len(b)))
}

// What follows END is no torn end: it is unknown, and it stays.
func TestAppendRefusesWhatStandsBehindEnd(t *testing.T) {
	b := []byte(head + added + `--- {"at":"2s","type":"END","events":2}` + "\n")
	behind := append(bytes.Clone(b), `--- {"at":"3s","type":"MARK","name":"m"}`+"\n"...)
	name := tempFile(t, "tape.yaml", behind)
	_, _, err := Append(name)
	if want := "append to timeline: timeline " + name + ": line 8: MARK after END: want END as the last line"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, behind) {
		t.Errorf("the tape was changed, %v", err)
	}
	w, resume, err := Append(tempFile(t, "tape.yaml", append(b, `--- {"at`...)))
	if err != nil || resume.Dropped != "a last line without its end" || w.Events() != 1 {
		t.Fatalf("%v, %+v", err, resume)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// What is damaged before the end is no torn end: nothing is cut off.
func TestAppendRefusesDamagedFrames(t *testing.T) {
	events := sampleEvents(4, 15)
	for what, c := range map[string]struct {
		ending string
		damage func(b []byte) []byte
		want   string
	}{
		"a block that is too large": {".zst", func(b []byte) []byte {
			var h zstd.Header
			if err := h.Decode(b); err != nil {
				t.Fatal(err)
			}
			b[h.HeaderSize+2] |= 0x80 // the highest bit of the first block's size
			return b
		}, "want at most 128 KiB"},
		"an empty member after END": {".gz", func(b []byte) []byte {
			var empty bytes.Buffer
			if err := gzip.NewWriter(&empty).Close(); err != nil {
				t.Fatal(err)
			}
			return append(b, empty.Bytes()...)
		}, "decompress the tape and compress it again"},
	} {
		b, _ := framesOf(t, c.ending, events)
		b = c.damage(b)
		name := tempFile(t, "tape.yaml"+c.ending, b)
		_, _, err := Append(name)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found the error %v, want one with %q", what, err, c.want)
		}
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, b) {
			t.Errorf("%s: the tape was changed, %v", what, err)
		}
	}
}

// A compressed tape by another tool is one frame, END and all.
func TestAppendCutsWithinFrame(t *testing.T) {
	want := sampleEvents(5, 30)
	b := tape(t, append(want[:20:20], Event{At: want[19].At, Type: End}))
	for _, c := range []codec{gzipped, zstandard} {
		f, err := os.Create(filepath.Join(t.TempDir(), "foreign.yaml"+string(c)))
		if err != nil {
			t.Fatal(err)
		}
		out, err := sinkFor(f, 0, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(out.line(b), out.flush(), out.close()); err != nil {
			t.Fatal(err)
		}
		w, _, err := Append(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		writeAll(t, w, want[20:])
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, readAll(t, r), want)
	}
}

func TestResumeTellsVersions(t *testing.T) {
	node := func(typ Type, rv string) Event {
		return Event{Type: typ, Resource: "nodes", Object: []byte(`{"metadata":{"name":"n","uid":"u","resourceVersion":"` + rv + `"}}`)}
	}
	for _, c := range []struct {
		story  string
		events []Event
		want   string
		known  bool
	}{
		{"list cut off", []Event{node(Added, "5")}, "", false},
		{"synced", []Event{node(Added, "5"), {Type: Sync, Resource: "nodes", RV: "9"}}, "9", true},
		{"event after", []Event{node(Added, "5"), {Type: Sync, Resource: "nodes", RV: "9"}, node(Modified, "12")}, "12", true},
		{"in a gap", []Event{{Type: Sync, Resource: "nodes", RV: "9"}, {Type: Gap, Resource: "nodes"}, node(Added, "12")}, "", false},
		{"after a gap", []Event{{Type: Sync, Resource: "nodes", RV: "9"}, {Type: Gap, Resource: "nodes"}, node(Added, "12"), {Type: Sync, Resource: "nodes", RV: "20"}}, "20", true},
	} {
		w, resume, err := Append(tempFile(t, "t.yaml", tape(t, c.events)))
		if err != nil {
			t.Fatal(err)
		}
		if rv, known := resume.RV["nodes"]; rv != c.want || known != c.known {
			t.Errorf("%s: watch on from %q, %v, want %q, %v", c.story, rv, known, c.want, c.known)
		}
		for ev := range resume.Objects() {
			if ev.Type != Added || ev.UID != "u" || ev.RV == "" || !bytes.Contains(ev.Object, []byte(`"name":"n"`)) {
				t.Errorf("%s: alive is %+v", c.story, ev)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// limited fails after n bytes, as a full disk does: with a short write.
type limited struct {
	bytes.Buffer
	n int
}

var errFull = errors.New("no space left on device")

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.n {
		n, _ := l.Buffer.Write(p[:l.n])
		l.n = 0
		return n, errFull
	}
	l.n -= len(p)
	return l.Buffer.Write(p)
}

func TestWriterStopsOnError(t *testing.T) {
	events := sampleEvents(6, 50)
	whole := tape(t, events)
	l := &limited{n: len(whole) / 2}
	w, err := NewWriter(l, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	n := 0
	for _, ev := range events {
		if failed = w.Write(ev); failed != nil {
			break
		}
		n++
	}
	if !errors.Is(failed, errFull) {
		t.Fatalf("no error from a full disk: %v", failed)
	}
	if err := w.Write(events[n]); !errors.Is(err, errFull) {
		t.Errorf("the Writer goes on after it: %v", err)
	}
	got, r, err := drain(l.Bytes())
	if err != nil || r.Torn() == "" {
		t.Fatalf("%v, torn %q", err, r.Torn())
	}
	wantSame(t, got, events[:n])
}

func TestOpenStaysOpen(t *testing.T) {
	r, err := Open(tempFile(t, "t.yaml", tape(t, sampleEvents(1, 3))))
	if err != nil {
		t.Fatal(err)
	}
	readAll(t, r)
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// A frame that can't be written is not on the tape, and doesn't count.
func TestLostFrameDoesNotCount(t *testing.T) {
	name := filepath.Join(t.TempDir(), "full.yaml.zst")
	w, err := Create(name, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	events := sampleEvents(9, 12)
	writeAll(t, w, events[:7])
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	writeAll(t, w, events[7:])
	if n := w.Events(); n != 12 {
		t.Errorf("%d events before, want 12", n)
	}
	if err := w.out.(*framed).f.Close(); err != nil { // as a disk that is gone
		t.Fatal(err)
	}
	if err := w.Flush(); err == nil {
		t.Fatal("no error")
	}
	if n := w.Events(); n != 7 {
		t.Errorf("%d events after, want the 7 that are on the tape", n)
	}
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, readAll(t, r), events[:7])
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
