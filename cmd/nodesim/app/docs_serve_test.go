package app

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/app/serve"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// docs/serve.md shows of ctl what the program prints.
func TestTheManualOfServeShowsWhatIsPrinted(t *testing.T) {
	text, err := os.ReadFile("../../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```console\n")
	block, _, found := strings.Cut(block, "```")
	if !found || strings.Count(block, "$ nodesim ctl ") < 5 {
		t.Fatalf("found no console with nodesim ctl: %q", block)
	}
	t.Setenv("KUBECONFIG", serveDemo(t))
	var got strings.Builder
	for _, line := range strings.Split(block, "\n") {
		command, is := strings.CutPrefix(line, "$ nodesim ")
		if !is {
			continue
		}
		got.WriteString(line + "\n")
		var out bytes.Buffer
		root := newRoot()
		root.SetOut(&out)
		root.SetErr(&out)
		verb, name, _ := strings.Cut(command, " '") // one word may be quoted
		args := strings.Fields(verb)
		if name != "" {
			args = append(args, strings.TrimSuffix(name, "'"))
		}
		run(t.Context(), root, args)
		got.Write(out.Bytes())
	}
	if diff := cmp.Diff(block, got.String()); diff != "" {
		t.Errorf("(-manual +printed):\n%s", diff)
	}
}

// serveDemo serves the demo, standing at its beginning, and returns the
// kubeconfig.
func serveDemo(t *testing.T) string {
	t.Helper()
	tape := ui.Simulated("demo", func(opts ...timeline.ReadOption) (*timeline.Reader, error) {
		return scenarios.Open("demo", opts...)
	})
	s, err := serve.Open(t.Context(), serve.Options{
		Tape: tape, Player: []replay.Option{replay.StartPaused()},
		Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), Say: func(string) {},
		Driver: func(h *timeline.Header) (*ui.Driver, error) {
			o, err := observe.OptionsFor(h, "", "", "")
			return ui.NewDriver(ui.NewView(h, o), nil), err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	// How long the tape is, is found out while it is served.
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	tooLate := time.After(5 * time.Minute)
	for s.Control.Duration() == 0 {
		select {
		case <-look.C:
		case <-tooLate:
			t.Fatal("how long the tape is wasn't found out within five minutes")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(ctx, func(ctx context.Context) error {
			return s.Show.Play(ctx, ui.Watcher{Control: s.Control})
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.Kubeconfig
}
