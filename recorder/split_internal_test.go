package recorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// values splits a text, reading it one byte at a time or as it comes.
func values(r io.Reader, size int) (list []string, err error) {
	s := newSplitter(r, size)
	s.lines = true
	for {
		v, err := s.next()
		if err != nil {
			return list, err
		}
		list = append(list, string(v))
	}
}

func TestSplitter(t *testing.T) {
	text := `{"a":"}"}` + "\n\n" + ` { "b" : { "c" : "\\\"{" } }{}` + "\r\n" + `{"d":["}","\\"]}`
	want := []string{`{"a":"}"}`, `{ "b" : { "c" : "\\\"{" } }`, `{}`, `{"d":["}","\\"]}`}
	for name, r := range map[string]io.Reader{
		"at once": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)),
		"with the end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		got, err := values(r, 4)
		if !errors.Is(err, io.EOF) || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: found %q, %v, want %q and EOF", name, got, err, want)
		}
	}
}

func TestSplitterSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]error{`{"a":`: io.ErrUnexpectedEOF, `{"a":"}`: io.ErrUnexpectedEOF, "": io.EOF} {
		if _, err := values(strings.NewReader(text), 16); !errors.Is(err, want) {
			t.Errorf("%q: found %v, want %v", text, err, want)
		}
	}
	if _, err := values(strings.NewReader("[1]"), 16); err == nil || !strings.Contains(err.Error(), `'['`) {
		t.Errorf("found %v, want it to name the bracket", err)
	}
	endless := io.MultiReader(strings.NewReader(`{"a":"`), iotest.TimeoutReader(zeros{}))
	if _, err := values(endless, 1<<20); err == nil {
		t.Error("found no error for a value without end")
	}
}

// zeros is an endless string.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestSplitterBoundsItsMemory(t *testing.T) {
	_, err := values(io.MultiReader(strings.NewReader(`{"a":"`), zeros{}), 1<<20)
	if err == nil || !strings.Contains(err.Error(), "32 MiB") {
		t.Errorf("found %v, want an error that names the limit", err)
	}
}

// FuzzSplitter checks the splitter against encoding/json: whatever that reads
// as a stream of objects, the splitter cuts at the same places.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte(`{"a":"}"}{"b":[{"c":"\\"}]}`))
	f.Add([]byte(`{"a":`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var want []string
		d := json.NewDecoder(bytes.NewReader(text))
		for {
			var v json.RawMessage
			if d.Decode(&v) != nil || v[0] != '{' {
				break
			}
			want = append(want, string(v))
		}
		got, _ := values(bytes.NewReader(text), 8)
		if len(got) < len(want) {
			t.Fatalf("found %q, want %q", got, want)
		}
		for i, w := range want {
			if got[i] != w {
				t.Fatalf("found %q, want %q", got[i], w)
			}
		}
	})
}

func TestEnvelope(t *testing.T) {
	for frame, want := range map[string]string{
		`{"type":"ADDED","object":{"a":1}}`:       `ADDED {"a":1}`,
		`{ "object": {"a": 1}, "type": "ADDED" }`: `ADDED {"a":1}`,
		`{"type":"A\u0044D","object":{}}`:         `A\u0044D {}`,
	} {
		typ, object, err := envelope([]byte(frame))
		if got := typ + " " + string(object); err != nil || got != want {
			t.Errorf("%s: found %q, %v, want %q", frame, got, err, want)
		}
	}
	for _, frame := range []string{`{}`, `{"type":"ADDED"}`, `{"type":1,"object":{}}`, `{"object":{}}`} {
		if typ, object, err := envelope([]byte(frame)); err == nil {
			t.Errorf("%s: found %s %s, want an error", frame, typ, object)
		}
	}
}
