//go:build controlplane

package scheduler_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// judge is kube-scheduler's own code in a process: the program of test/scheduler, a module of its own.
type judge struct {
	to   *json.Encoder
	from *json.Decoder
}

// verdict is what kube-scheduler makes of a pod; the fields are those of test/scheduler's Verdict.
type verdict struct {
	Gated     bool
	Feasible  []string
	Totals    map[string]int64
	Scores    map[string]map[string]int64
	Node      string
	Found     int
	Message   string
	Nominated string
	Victims   []string
}

// startJudge builds the program, and starts it for as long as the test runs.
func startJudge(t *testing.T) *judge {
	t.Helper()
	var said strings.Builder
	cmd := exec.Command("go", "run", "-C", "../../../test/scheduler", ".")
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("test/scheduler ended with %v: %s", err, said.String())
		}
	})
	return &judge{json.NewEncoder(in), json.NewDecoder(out)}
}

// of are the verdicts on the pods that wait in a world.
func (j *judge) of(w *world) ([]verdict, error) {
	if err := j.to.Encode(w); err != nil {
		return nil, fmt.Errorf("hand test/scheduler a world: %w", err)
	}
	var a struct {
		Verdicts []verdict
		Error    string
	}
	if err := j.from.Decode(&a); err != nil {
		return nil, fmt.Errorf("read what test/scheduler says: %w", err)
	}
	if a.Error != "" {
		return nil, fmt.Errorf("test/scheduler: %s", a.Error)
	}
	if len(a.Verdicts) != len(w.Waiting) {
		return nil, fmt.Errorf("test/scheduler has %d verdicts, want %d", len(a.Verdicts), len(w.Waiting))
	}
	return a.Verdicts, nil
}
