package plan_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	app "github.com/nodesim/nodesim/internal/app/plan"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/plan"
)

func surge(t *testing.T) *scenarios.File {
	t.Helper()
	s, err := scenarios.Find("surge")
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// On a terminal one line counts the runs, and is gone in the end.
func TestProgress(t *testing.T) {
	var out, status bytes.Buffer
	r := app.Request{File: surge(t), Options: plan.Options{Runs: 3}, Format: "text", Out: &out, Status: &status, Width: func() int { return 20 }}
	if failure, err := r.Run(t.Context()); failure != "" || err != nil {
		t.Fatal(failure, err)
	}
	got := status.String()
	if !strings.Contains(got, "\r\x1b[Kplan: 2 of 3 runs") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("got %q", got)
	}
}

// A plan that is interrupted says how far it came, and prints no answer.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	r := app.Request{File: surge(t), Options: plan.Options{Runs: 1000}, Format: "text", Out: &out, Status: writer(func(line []byte) {
		if bytes.Contains(line, []byte("2 of 1000")) {
			cancel()
		}
	}), Width: func() int { return 80 }}
	if _, err := r.Run(ctx); err == nil || err.Error() != "plan: interrupted after 2 of 1000 runs: want all of them" || out.Len() > 0 {
		t.Errorf("got %v and %q", err, out.String())
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// A file's content says whether it is a scenario, and standard input is read only once.
func TestIsScenario(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct {
		text string
		is   bool
	}{
		"scenario.yaml": {"# a comment\napiVersion: nodesim.dev/v1\nkind: Scenario\n", true},
		"scenario.json": {`{"apiVersion":"nodesim.dev/v1","kind":"Scenario"}`, true},
		"tape.yaml":     {"apiVersion: nodesim.dev/v1\nkind: Timeline\n", false},
		"list.json":     {`{"apiVersion":"v1","kind":"List"}`, false},
		"empty":         {"", false},
		"no kind":       {"apiVersion: nodesim.dev/v1\nmetadata: {name: mine}\n", true},
		"list of ours":  {"apiVersion: v1\nitems:\n- apiVersion: nodesim.dev/v1\n", false},
		"quoted":        {"apiVersion: \"nodesim.dev/v1\"\nkind:   'Scenario'\n", true},
		"spaced json":   {`{"apiVersion": "nodesim.dev/v1", "kind": "Scenario"}`, true},
		"quoted tape":   {"apiVersion: nodesim.dev/v1\nkind: \"Timeline\"\n", false},
		"spaced tape":   {`{"apiVersion": "nodesim.dev/v1", "kind": "Timeline"}`, false},
		"other tape":    {"apiVersion: nodesim.dev/v1\nkind: Timelines\n", true},
		"large":         {strings.Repeat("x", 1<<20) + "apiVersion: nodesim.dev/v1\nkind: Scenario\n", false},
	} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if is, _, err := app.IsScenario(file, nil); is != c.is || err != nil {
			t.Errorf("%s: got %v, %v", name, is, err)
		}
		is, rest, err := app.IsScenario("-", strings.NewReader(c.text))
		if is != c.is || err != nil {
			t.Errorf("%s on standard input: got %v, %v", name, is, err)
		}
		if all, err := io.ReadAll(rest); string(all) != c.text || err != nil {
			t.Errorf("%s on standard input: %d bytes are left, %v", name, len(all), err)
		}
	}
	if is, _, err := app.IsScenario(folder, nil); is || err != nil {
		t.Errorf("a folder: got %v, %v", is, err)
	}
	if _, _, err := app.IsScenario("surge", nil); err == nil || !strings.HasSuffix(err.Error(), "did you mean --simulate surge?") {
		t.Errorf("got %v", err)
	}
}
