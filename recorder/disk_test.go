package recorder_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// smallDisk takes n bytes.
type smallDisk struct {
	w io.Writer
	n int
}

func (d *smallDisk) Write(p []byte) (int, error) {
	if len(p) > d.n {
		return 0, syscall.ENOSPC
	}
	d.n -= len(p)
	return d.w.Write(p)
}

// A full disk ends the recording; what is on the tape stays readable, and
// nothing pretends that it is whole.
func TestFullDisk(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	a.fail("watch "+nodesPath, func(http.ResponseWriter, *http.Request) bool {
		for i := range 1000 {
			a.put(nodesPath, "MODIFIED", node("a", fmt.Sprintf(`"providerID":"%d"`, i)))
		}
		return true
	})
	var f *os.File
	r, err := record(t, a, func(c *recorder.Config) {
		file := filepath.Join(t.TempDir(), "tape.yaml")
		c.Open = func(h timeline.Header) (_ *timeline.Writer, err error) {
			if f, err = os.Create(file); err != nil {
				return nil, err
			}
			return timeline.NewWriter(&smallDisk{f, 20_000}, h)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "no space left on device") || strings.Contains(err.Error(), "\n") {
		t.Errorf("found %v, want one line that says no space left", err)
	}
	if r.sum.End != recorder.EndFailed {
		t.Errorf("found end %q, want %q", r.sum.End, recorder.EndFailed)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, f.Name())
	if n := strings.Count(got, "MODIFIED"); n < 50 || n != r.sum.Resources[0].Events-1 {
		t.Errorf("found %d changes on the tape, %d events in the summary, want the same and some", n, r.sum.Resources[0].Events)
	}
	if strings.Contains(got, "END") {
		t.Error("found an END, want none")
	}
}

// The context ends a recording cleanly at any moment.
func TestInterrupted(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := filepath.Join(t.TempDir(), "tape.yaml")
	rec, err := recorder.New(recorder.Config{
		REST: a.config(), Name: "test", Resources: []string{"nodes"}, Clock: newEager(),
		Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(file, h) },
		Stop: func(ev timeline.Event) bool {
			if ev.Name == "last" {
				cancel()
			}
			return false
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.fail("watch "+nodesPath, func(http.ResponseWriter, *http.Request) bool {
		a.put(nodesPath, "ADDED", node("last", ""))
		return true
	})
	sum, err := rec.Run(ctx)
	if err != nil || sum.End != recorder.EndInterrupted {
		t.Errorf("found %q, %v; want %q and no error", sum.End, err, recorder.EndInterrupted)
	}
	equal(t, lines(t, file), `
	0s ADDED nodes a 101
	0s SYNC nodes 101
	0s ADDED nodes last 102
	0s END interrupted
	`)
	if s := rec.Stats(); s.Nodes != 2 || s.Events != 4 || s.Bytes == 0 {
		t.Errorf("found %+v, want 2 nodes and 4 lines", s)
	}
}

func TestInterruptedBeforeItBegins(t *testing.T) {
	a := newAPI(t)
	ctx, cancel := context.WithCancel(t.Context())
	a.fail("list "+nodesPath, func(http.ResponseWriter, *http.Request) bool { cancel(); return false })
	rec, err := recorder.New(recorder.Config{
		REST: a.config(), Resources: []string{"nodes"},
		Open: func(timeline.Header) (*timeline.Writer, error) { t.Error("the tape was made"); return nil, io.EOF },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Run(ctx); err == nil || !strings.Contains(err.Error(), "interrupted before the recording began") {
		t.Errorf("found %v, want it to say that nothing began", err)
	}
}
