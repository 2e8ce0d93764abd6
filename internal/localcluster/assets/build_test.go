package assets

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// moduleThat is a module with a program that says its version.
func moduleThat(t *testing.T, says string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/tiny\n\ngo 1.26.0\n",
		"tiny/main.go": "package main\n\nfunc main() { println(\"" + says + "\") }\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

var tiny = Binary{Name: "tiny", Module: ".", Package: "./tiny", Version: "1.2.3"}

// offlineIn is a supply without released programs.
func offlineIn(folder string, log io.Writer) opened {
	return opened{Supply: Supply{Log: log, Offline: true}, folder: folder}
}

func mustBuild(t *testing.T, modules, folder string) (log string) {
	t.Helper()
	var out bytes.Buffer
	if err := offlineIn(folder, &out).make(t.Context(), modules, []Binary{tiny}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if err := whole(t.Context(), folder, []Binary{tiny}); err != nil {
		t.Fatalf("after the build: %v", err)
	}
	return out.String()
}

func TestBuildOnlyWhatIsNotWhole(t *testing.T) {
	from, folder := moduleThat(t, "tiny 1.2.3"), filepath.Join(t.TempDir(), "no[t] a pattern")
	path := filepath.Join(folder, "tiny")
	// What a build leaves that was killed: a scratch folder, and a binary without its receipt.
	put(t, filepath.Join(folder, ".building-1"), "tiny", "half", false)
	put(t, folder, "tiny", "half", false)
	if log := mustBuild(t, from, folder); !strings.Contains(log, "built tiny") {
		t.Errorf("first build: found log %q, want it to build", log)
	}
	left, err := fs.Glob(os.DirFS(folder), ".building-*")
	if err != nil || len(left) > 0 {
		t.Errorf("found leftovers %q, %v", left, err)
	}
	if log := mustBuild(t, from, folder); log != "" {
		t.Errorf("second build: found log %q, want nothing to be done", log)
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if log := mustBuild(t, from, folder); !strings.Contains(log, "built tiny") {
		t.Errorf("build over a damaged binary: found log %q, want it to build", log)
	}
	// A binary that is whole by its size and doesn't run.
	put(t, folder, "tiny", "#!/bin/sh\nexit 1\n", true)
	if log := mustBuild(t, from, folder); !strings.Contains(log, "built tiny") {
		t.Errorf("build over a binary that doesn't run: found log %q, want it to build", log)
	}
}

func TestBuildRefusesAnotherVersion(t *testing.T) {
	folder := t.TempDir()
	err := offlineIn(folder, &bytes.Buffer{}).make(t.Context(), moduleThat(t, "tiny 0.9"), []Binary{tiny})
	if err == nil || !strings.Contains(err.Error(), `found "tiny 0.9", want version 1.2.3`) {
		t.Errorf("found %v, want an error with both versions", err)
	}
	if err := checkReceipt(filepath.Join(folder, "tiny")); err == nil {
		t.Error("found the wrong binary in place")
	}
}

func TestBuildsAtOnceBuildOnce(t *testing.T) {
	from, folder := moduleThat(t, "tiny 1.2.3"), t.TempDir()
	var all sync.WaitGroup
	logs := make([]bytes.Buffer, 3)
	for i := range logs {
		all.Go(func() {
			if err := offlineIn(folder, &logs[i]).make(t.Context(), from, []Binary{tiny}); err != nil {
				t.Errorf("build %d: %v", i, err)
			}
		})
	}
	all.Wait()
	built := 0
	for i := range logs {
		built += strings.Count(logs[i].String(), "built tiny")
	}
	if built != 1 {
		t.Errorf("found %d builds, want 1", built)
	}
}

// A built control plane needs no kwok, unless benchmarks ask for it.
func TestKwokIsBuiltForBenchmarksAlone(t *testing.T) {
	theirs := t.TempDir()
	for _, b := range binaries(KubernetesVersion) {
		if b.Name != Kwok {
			put(t, theirs, b.Name, "theirs", false)
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", theirs)
	t.Setenv("NODESIM_CACHE", t.TempDir())
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	var log bytes.Buffer
	if got, err := (Supply{Offline: true, Log: &log}).Build(t.Context(), nowhere); err != nil || got != theirs || log.Len() > 0 {
		t.Errorf("without kwok: found %s, %v and log %q, want %s and nothing to do", got, err, log.String(), theirs)
	}
	if _, err := (Supply{Offline: true, Log: &log}).Build(t.Context(), nowhere, Kwok); err == nil || !strings.Contains(log.String(), "building kwok") {
		t.Errorf("with kwok: found %v and log %q, want it to build kwok", err, log.String())
	}
}
