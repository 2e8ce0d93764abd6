//go:build controlplane

package app

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/localcluster/assets"
)

// TestCluster runs nodesim cluster with the real programs, each story in a file below testdata/cluster. $RUN holds the
// pid files of what runs.
func TestCluster(t *testing.T) {
	kubectl, err := assets.Find("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "cluster"),
		UpdateScripts:       golden.Updating(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(kubectl)+string(filepath.ListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir) // kubectl keeps a cache there
			e.Setenv("KUBEBUILDER_ASSETS", filepath.Dir(kubectl))
			e.Setenv("NODESIM_CACHE", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("NODESIM_KEEP", "")
			e.Setenv("XDG_CACHE_HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "waitfor": waitFor, "oneline": oneLineOnly, "ended": ended, "gone": gone, "conversation": conversation,
		},
	})
}

// patiently asks until the answer is yes, for five minutes.
func patiently(ts *testscript.TestScript, what string, ok func() bool) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	tooLate := time.After(5 * time.Minute)
	for !ok() {
		select {
		case <-look.C:
		case <-tooLate:
			ts.Fatalf("%s: not within five minutes", what)
		}
	}
}

// ended N FILE waits until no process runs any more whose number is in the file, of which there have to be N.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ended N FILE")
	}
	pids := strings.Fields(ts.ReadFile(args[1]))
	if strconv.Itoa(len(pids)) != args[0] {
		ts.Fatalf("%s: %d processes, want %s", args[1], len(pids), args[0])
	}
	for _, word := range pids {
		pid, err := strconv.Atoi(word)
		ts.Check(err)
		patiently(ts, "the end of process "+word, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	}
}

// gone PATTERN waits until there is no such file or folder.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone PATTERN")
	}
	patiently(ts, args[0]+" to be gone", func() bool {
		left, err := filepath.Glob(ts.MkAbs(args[0]))
		return err == nil && len(left) == 0
	})
	if _, err := os.Stat(ts.MkAbs(".")); err != nil {
		ts.Fatalf("%v", err)
	}
}
