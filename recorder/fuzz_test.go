package recorder_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// FuzzImport feeds anything to Import: it must answer with a tape that reads
// to its end, or with an error and no tape, and never panic.
func FuzzImport(f *testing.F) {
	a := obj("a", "7", 0, 0)
	f.Add([]byte(captured(0, "nodes", "ADDED", a) + captured(1, "nodes", "BOOKMARK", endMark("20")) + captured(2000, "nodes", "DELETED", a)))
	f.Add([]byte(`{"type":"ADDED","object":` + a + `}{"type":"MODIFIED","object":` + obj("a", "8", 0, 9) + `}`))
	f.Add([]byte(`{"kind":"List","apiVersion":"v1","items":[` + a + `]}{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[]}`))
	f.Add([]byte(captured(0, "nodes", "ADDED", a) + captured(9000, "nodes", "ADDED", strings.Replace(obj("a", "9", 0, 0), "uid-a", "uid-b", 1)) + `{"event":{`))
	f.Fuzz(func(t *testing.T, dump []byte) {
		var tape bytes.Buffer
		opened := false
		_, err := recorder.Import(t.Context(), bytes.NewReader(dump), recorder.ImportOptions{
			Scope: recorder.Scope{Selector: "!none"},
			Open: func(h timeline.Header) (*timeline.Writer, error) {
				w, err := timeline.NewWriter(&tape, h)
				opened = err == nil
				return w, err
			},
		})
		if err != nil {
			return
		}
		if !opened {
			t.Fatal("found neither a tape nor an error")
		}
		r, err := timeline.NewReader(&tape)
		if err != nil {
			t.Fatal(err)
		}
		for {
			_, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, dump)
			}
		}
	})
}
