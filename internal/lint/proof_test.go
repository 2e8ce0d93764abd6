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

const module = "github.com/nodesim/nodesim"

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
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off")
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

// layout is what each package may import of ours; everything else of this table is forbidden to it.
var layout = map[string][]string{
	"timeline":               {"internal/rawjson", "internal/suggest", "internal/phrase"},
	"noderoll":               {},
	"golden":                 {},
	"internal/rawjson":       {},
	"internal/suggest":       {},
	"internal/phrase":        {},
	"internal/faultspec":     {"internal/suggest", "internal/phrase"},
	"internal/render":        {"noderoll"},
	"recorder":               {"timeline", "internal/rawjson", "internal/suggest"},
	"replay":                 {"timeline", "internal/rawjson"},
	"replay/internal/shift":  {"timeline", "internal/rawjson"},
	"replay/internal/writes": {"replay", "timeline", "internal/rawjson"},
	"replay/observe":         {"replay", "noderoll", "timeline", "internal/rawjson"},
	"replay/fakeclient": {
		"replay", "replay/internal/shift", "replay/internal/writes", "timeline", "internal/rawjson", "internal/phrase", "internal/suggest",
	},
	"replay/apiserver": {
		"replay", "replay/internal/shift", "replay/internal/writes", "timeline", "internal/rawjson", "internal/phrase", "internal/suggest",
		"replay/apiserver/internal/discovery", "replay/apiserver/internal/inbound", "replay/apiserver/internal/media", "replay/apiserver/internal/openapi", "replay/apiserver/internal/tables",
	},
	"replay/apply": {
		"replay", "replay/internal/shift", "replay/internal/writes", "timeline", "internal/rawjson", "internal/phrase", "internal/suggest",
	},
	"replay/fault":                        {"replay", "replay/observe", "timeline", "noderoll", "internal/rawjson", "internal/suggest", "internal/phrase", "internal/faultspec"},
	"replay/apiserver/internal/discovery": {"timeline"},
	"replay/apiserver/internal/openapi":   {"timeline"},
	"replay/apiserver/internal/tables":    {"timeline"},
	"replay/apiserver/internal/media":     {"replay", "timeline", "internal/rawjson"},
	"replay/apiserver/internal/inbound":   {"replay/internal/writes"},
	"internal/control":                    {"replay", "noderoll", "timeline"},
	"internal/ctl":                        {"internal/control", "internal/phrase", "internal/suggest", "noderoll"},
	"internal/show":                       {"internal/control", "internal/render", "replay", "replay/observe", "noderoll", "timeline", "scenarios"},
	"internal/serve": {
		"internal/control", "internal/show", "internal/phrase", "replay", "replay/apiserver", "replay/fault", "noderoll", "timeline",
	},
	"internal/perform":              {"internal/capture", "internal/show", "recorder", "scenarios", "scenarios/live", "scenarios/cycle", "timeline"},
	"internal/conformance":          {"timeline", "internal/rawjson", "internal/phrase"},
	"internal/controlplane":         {"internal/controlplane/process", "internal/controlplane/assets", "internal/controlplane/flock"},
	"internal/controlplane/process": {"internal/controlplane/flock"},
	"internal/controlplane/assets":  {"internal/controlplane/flock"},
	"internal/controlplane/flock":   {},
	"internal/clusters": {
		"internal/controlplane", "internal/controlplane/process", "internal/controlplane/assets", "internal/controlplane/flock",
		"internal/suggest", "internal/phrase",
	},

	"scenarios/model":           {},
	"scenarios/cycle":           {},
	"scenarios/nodemanager":     {},
	"scenarios/inplace":         {},
	"scenarios/internal/loop":   {},
	"scenarios/internal/api":    {"timeline", "internal/rawjson"},
	"scenarios/internal/mirror": {"scenarios/internal/api"},
	"scenarios/internal/cloud":  {"scenarios/internal/loop", "scenarios/model"},
	"scenarios/internal/actors": {
		"scenarios/internal/api", "scenarios/internal/cloud", "scenarios/internal/loop", "scenarios/model", "scenarios/nodemanager",
	},
	"scenarios/internal/roll": {
		"scenarios/internal/actors", "scenarios/internal/api", "scenarios/internal/cloud", "scenarios/internal/loop",
		"scenarios/model", "scenarios/cycle", "scenarios/inplace", "timeline",
	},
	"scenarios/virtualnode":         {"scenarios/inplace", "scenarios/virtualnode/api", "scenarios/virtualnode/shell", "scenarios/virtualnode/metrics"},
	"scenarios/virtualnode/api":     {"scenarios/inplace", "scenarios/virtualnode", "scenarios/virtualnode/shell", "scenarios/virtualnode/metrics"},
	"scenarios/virtualnode/shell":   {"scenarios/inplace", "scenarios/virtualnode", "scenarios/virtualnode/api", "scenarios/virtualnode/metrics"},
	"scenarios/virtualnode/metrics": {"scenarios/inplace", "scenarios/virtualnode", "scenarios/virtualnode/api", "scenarios/virtualnode/shell"},
	"scenarios/live": {
		"internal/phrase", "scenarios", "scenarios/model", "scenarios/cycle", "scenarios/nodemanager", "scenarios/inplace",
		"scenarios/virtualnode", "scenarios/virtualnode/api", "scenarios/virtualnode/shell", "scenarios/virtualnode/metrics", "scenarios/internal/loop", "scenarios/internal/api",
		"scenarios/internal/cloud", "scenarios/internal/actors", "scenarios/internal/roll", "scenarios/internal/mirror",
	},
	"scenarios": {
		"timeline", "noderoll", "internal/suggest", "internal/phrase", "internal/faultspec", "scenarios/model", "scenarios/cycle", "scenarios/nodemanager",
		"scenarios/inplace", "scenarios/virtualnode", "scenarios/virtualnode/api", "scenarios/virtualnode/shell", "scenarios/virtualnode/metrics", "scenarios/live",
		"scenarios/internal/loop", "scenarios/internal/api", "scenarios/internal/cloud", "scenarios/internal/actors",
		"scenarios/internal/roll", "scenarios/internal/mirror",
	},
}

// others are packages that no library may import.
var others = []string{"cmd/nodesim/verbs", "internal/testcluster"}

func TestArrows(t *testing.T) {
	for from, allowed := range layout {
		t.Run(strings.ReplaceAll(from, "/", "-"), func(t *testing.T) {
			files := map[string]string{}
			var want []string
			var imports strings.Builder
			for _, to := range slices.Concat(slices.Collect(mapKeys(layout)), others) {
				if parent, _, ok := strings.Cut(to, "/internal/"); to == from || ok && from != parent && !strings.HasPrefix(from, parent+"/") {
					continue // itself, or what the compiler refuses
				}
				files[to+"/stub.go"] = "// Package stub is empty.\npackage stub\n"
				fmt.Fprintf(&imports, "\t_ %q\n", module+"/"+to)
				if !slices.Contains(allowed, to) {
					want = append(want, to)
				}
			}
			files[from+"/importer.go"] = "// Package stub imports.\npackage stub\n\nimport (\n" + imports.String() + ")\n"
			var got []string
			for _, i := range violate(t, files, "depguard") {
				_, rest, _ := strings.Cut(i.Text, "import '"+module+"/")
				to, _, _ := strings.Cut(rest, "'")
				got = append(got, to)
			}
			slices.Sort(want)
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("%s: the linter refuses\n%q, want\n%q", from, got, want)
			}
		})
	}
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// TestBans breaks every ban once; the comment at the end of a line is a part of what the linter has to say there. A
// line without one has to pass.
func TestBans(t *testing.T) {
	const decider = `// Package %s decides.
package %s

import (
	"math/rand/v2"
	"os"
	"time"
)

// Decide breaks every ban on deciders.
func Decide(r *rand.Rand, now time.Time) {
	_ = time.Now()              // take the time as an argument
	_ = time.Since(now)         // take the time as an argument
	<-time.After(1)             // take the time as an argument
	time.Sleep(1)               // take the time as an argument
	_ = time.NewTimer(1)        // take the time as an argument
	_ = time.NewTicker(1)       // take the time as an argument
	_ = rand.IntN(3)            // seeded *rand.Rand
	rand.Shuffle(0, nil)        // seeded *rand.Rand
	_ = os.Getenv("X")          // read it in cmd/nodesim
	_, _ = os.LookupEnv("X")    // read it in cmd/nodesim
	_ = r.IntN(3)
	_ = now.Add(time.Second)
}
`
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
	_ "github.com/spf13/cobra"           // parsed in cmd/nodesim
	_ "github.com/stretchr/testify"      // go-cmp
	_ "golang.org/x/exp"                 // use the standard library
	_ "gopkg.in/yaml.v2"                 // use gopkg.in/yaml.v3
	_ "io/ioutil"                        // use io and os
	_ "math/rand"                        // math/rand/v2
	_ "sigs.k8s.io/yaml"                 // use gopkg.in/yaml.v3
	_ "github.com/nodesim/nodesim/internal/testcluster" // only tests may start
)
`,
		"internal/testcluster/stub.go": "// Package stub is empty.\npackage stub\n",
		"recorder/free.go": `// Package recorder is no decider.
package recorder

import (
	"os"
	"time"
)

// Free may look at the clock.
func Free() (time.Time, string) { return time.Now(), os.Getenv("X") }
`,
		"replay/a.go": strings.ReplaceAll(decider, "%s", "replay"),
	}
	for _, folder := range []string{
		"timeline", "noderoll", "internal/rawjson", "internal/suggest", "internal/phrase", "internal/faultspec", "internal/render", "replay/fault", "scenarios", "scenarios/model",
		"scenarios/cycle", "scenarios/nodemanager", "scenarios/inplace", "scenarios/internal/loop", "scenarios/internal/api",
		"scenarios/internal/cloud", "scenarios/internal/actors", "scenarios/internal/roll", "scenarios/internal/mirror",
	} {
		files[folder+"/a.go"] = strings.ReplaceAll(decider, "%s", filepath.Base(folder))
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
