package app

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"nodesim": Main, "kubectl-nodesim": Main, "crash": crash, "stubborn": stubborn})
}

// crash is the program where it panics.
func crash() {
	defer crashed(os.Stderr)
	panic("on purpose")
}

// TestScript runs the command line as users do, each story in a file below
// testdata/script. $TAPES holds the committed tape and its golden files.
func TestScript(t *testing.T) {
	tapes, err := filepath.Abs(filepath.Join("testdata", "tapes"))
	if err != nil {
		t.Fatal(err)
	}
	packaging, err := filepath.Abs(filepath.Join("..", "..", "..", "packaging"))
	if err != nil {
		t.Fatal(err)
	}
	hearSignals(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       golden.Updating(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TAPES", tapes)
			e.Setenv("PACKAGING", packaging)
			e.Setenv("HOSTILE", "\x1b[2J\u202ex\x07")
			e.Setenv("TERM", "xterm-256color")
			e.Setenv("LANG", "C.UTF-8")
			e.Setenv("KUBECONFIG", filepath.Join(e.WorkDir, "no-kubeconfig"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":       status,
			"plain":        plain,
			"tear":         tear,
			"terminal":     onTerminal,
			"conversation": conversation,
			"waitfor":      waitFor,
			"oneline":      oneLineOnly,
			"apiserver":    rollingServer,
		},
	})
}

// hearSignals has what the scripts start hear signals even where the tests run under
// nohup, or with a shell's &: one that is ignored stays so in children, one that is
// caught doesn't.
func hearSignals(t *testing.T) {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			heard := make(chan os.Signal, 1)
			signal.Notify(heard, s)
			t.Cleanup(func() { signal.Stop(heard) })
		}
	}
}

// The committed tape is the demo's: scripts and people read the same.
func TestCommittedTape(t *testing.T) {
	s, err := scenarios.Find("demo")
	if err != nil {
		t.Fatal(err)
	}
	header, _ := scenarios.Demo()
	var want bytes.Buffer
	w, err := timeline.NewWriter(&want, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "tapes", "demo.yaml")
	if golden.Updating() {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not the demo's tape (%v); make it with NODESIM_UPDATE=1 go test ./cmd/nodesim/app -run TestCommittedTape", path, err)
	}
}
