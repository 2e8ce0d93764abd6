//go:build lintproof

package lint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// golangci is the command that the Makefile runs.
func golangci(t *testing.T) []string {
	t.Helper()
	if command := os.Getenv("GOLANGCI_LINT"); command != "" {
		return strings.Fields(command)
	}
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if command, ok := strings.CutPrefix(line, "GOLANGCI_LINT ?= $(GO) "); ok {
			return append([]string{"go"}, strings.Fields(command)...)
		}
	}
	t.Fatal("found no GOLANGCI_LINT in the Makefile")
	return nil
}

type issue struct {
	FromLinter, Text string
	Pos              struct {
		Filename string
		Line     int
	}
}

// violate writes a module with the repository's configuration and the given files, lints it, and returns what some
// linters say.
func violate(t *testing.T, files map[string]string, linters ...string) []issue {
	t.Helper()
	root := t.TempDir()
	config, err := os.ReadFile("../../.golangci.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{".golangci.yaml": string(config)}
	if _, ok := files["go.mod"]; !ok {
		all["go.mod"] = "module " + module + "\n\ngo 1.26.0\n"
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := append(golangci(t), "run", "--allow-serial-runners", "--issues-exit-code=0",
		"--enable-only="+strings.Join(linters, ","), "--output.json.path=stdout", "--show-stats=false", "./...")
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOFLAGS=-trimpath -mod=mod -buildvcs=false", "GOWORK=off")
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, out, errors.String())
	}
	var report struct{ Issues []issue }
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&report); err != nil {
		t.Fatalf("read the linter's report: %v\n%s", err, out)
	}
	slices.SortFunc(report.Issues, func(a, b issue) int {
		return cmp.Or(cmp.Compare(a.Pos.Filename, b.Pos.Filename), cmp.Compare(a.Pos.Line, b.Pos.Line))
	})
	for _, i := range report.Issues {
		if i.FromLinter == "typecheck" {
			t.Fatalf("the violating module doesn't compile: %s:%d: %s", i.Pos.Filename, i.Pos.Line, i.Text)
		}
	}
	return report.Issues
}

// TestBans breaks every ban once; the comment at the end of a line is a part of what the linter has to say there. A
// line without one has to pass.
func TestBans(t *testing.T) {
	files := map[string]string{
		"timeline/a_test.go": `package timeline

import (
	"testing"
	"time"
)

func TestIt(t *testing.T) {
	time.Sleep(1)    // wait for the condition itself
	t.Skip("no")     // make the test able to run
	t.SkipNow()      // make the test able to run
	_ = time.Now()
}

func helper(tb testing.TB) {
	tb.Skipf("no")   // make the test able to run
}

func BenchmarkIt(b *testing.B) { helper(b) }
`,
		"imports/imports.go": `// Package imports imports what is banned.
package imports

import (
	_ "github.com/ghodss/yaml"           // use gopkg.in/yaml.v3
	_ "github.com/pkg/errors"            // fmt.Errorf
	_ "github.com/spf13/cobra"           // parsed in cmd/nodesim/app
	_ "github.com/stretchr/testify"      // go-cmp
	_ "golang.org/x/exp"                 // use the standard library
	_ "gopkg.in/yaml.v2"                 // use gopkg.in/yaml.v3
	_ "io/ioutil"                        // use io and os
	_ "math/rand"                        // math/rand/v2
	_ "sigs.k8s.io/yaml"                 // use gopkg.in/yaml.v3
)
`,
	}
	var mod strings.Builder
	mod.WriteString("module " + module + "\n\ngo 1.26.0\n\n")
	for i, foreign := range []string{
		"github.com/ghodss/yaml", "github.com/pkg/errors", "github.com/spf13/cobra", "github.com/stretchr/testify",
		"golang.org/x/exp", "gopkg.in/yaml.v2", "sigs.k8s.io/yaml",
	} {
		version := "v1.0.0"
		if strings.HasSuffix(foreign, ".v2") {
			version = "v2.0.0"
		}
		fmt.Fprintf(&mod, "require %s %s\nreplace %s => ./foreign/%d\n", foreign, version, foreign, i)
		files[fmt.Sprintf("foreign/%d/go.mod", i)] = "module " + foreign + "\n\ngo 1.26.0\n"
		files[fmt.Sprintf("foreign/%d/stub.go", i)] = "// Package stub is empty.\npackage stub\n"
	}
	files["go.mod"] = mod.String()

	said := map[string]string{}
	for _, i := range violate(t, files, "depguard", "forbidigo") {
		said[fmt.Sprintf("%s:%d", i.Pos.Filename, i.Pos.Line)] += i.Text + "\n"
	}
	for name, text := range files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		number := 0
		for line := range strings.Lines(text) {
			number++
			at := fmt.Sprintf("%s:%d", name, number)
			_, want, _ := strings.Cut(strings.TrimSpace(line), " // ")
			want = strings.TrimSpace(want)
			switch got := said[at]; {
			case want == "" && got != "":
				t.Errorf("%s: %s: the linter says %q, want nothing", at, strings.TrimSpace(line), got)
			case !strings.Contains(got, want):
				t.Errorf("%s: %s: the linter says %q, want %q", at, strings.TrimSpace(line), got, want)
			}
		}
	}
}
