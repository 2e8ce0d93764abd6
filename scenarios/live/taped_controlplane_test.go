//go:build controlplane

package live_test

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// recordings holds what ends the recording of a test, by the test.
var recordings sync.Map

// check records a cluster until the test ends, and then checks the recording against all that a real cluster obeys.
// Further calls of the same test do nothing.
func check(t *testing.T, config *rest.Config) {
	t.Helper()
	if _, already := recordings.Load(t); already {
		return
	}
	tape := filepath.Join(t.TempDir(), "live.jsonl")
	opened, ended := make(chan struct{}), make(chan error, 1)
	rec, err := recorder.New(recorder.Config{
		REST: config, Name: "live", Resources: recorder.DefaultResources(), Warn: func(text string) { t.Log("recorder:", text) },
		Open: func(h timeline.Header) (*timeline.Writer, error) {
			defer close(opened)
			return timeline.Create(tape, h)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	recording, stop := context.WithCancel(context.Background())
	go func() {
		_, err := rec.Run(recording)
		ended <- err
	}()
	end := sync.OnceFunc(func() {
		stop()
		switch err := <-ended; {
		case errors.Is(err, context.Canceled): // the test was over before the lists were read: nothing has happened
		case err != nil:
			t.Errorf("record the test: %v", err)
		default:
			checkTape(t, tape)
		}
	})
	recordings.Store(t, end)
	t.Cleanup(end)
	select {
	case <-opened:
	case err := <-ended:
		ended <- nil
		t.Fatalf("record the test: %v", err)
	}
}

// endCheck ends the recording now, so that nothing of it runs any more.
func endCheck(t *testing.T) {
	t.Helper()
	end, recorded := recordings.Load(t)
	if !recorded {
		t.Fatal("the test isn't recorded")
	}
	end.(func())()
}

func checkTape(t *testing.T, tape string) {
	r, err := timeline.Open(tape)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = r.Close() }() // it was only read
	report, err := inspect.Check(r, inspect.CheckOptions(r.Header()))
	if err != nil {
		t.Error(err)
	}
	if len(report.Violations) == 0 {
		return
	}
	text, err := os.ReadFile(tape)
	if err != nil {
		t.Error(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, v := range report.Violations {
		t.Errorf("inspect --check: %s", v)
		for i, line := range lines[:min(v.Line, len(lines))] { // the object up to there
			if strings.Contains(line, `"name":"`+path.Base(v.Object)+`"`) && len(line) < 10_000 {
				t.Logf("line %d: %s", i+1, line)
			}
		}
	}
}
