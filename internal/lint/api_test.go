package lint

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// roll is a package with each form of declaration that importers see.
const roll = `// Package roll is an example. It may still change.
package roll

import (
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/timeline"
)

const (
	First Kind = "first"
	Second
	least = 1
)

var ErrGone error

type Kind string
type Old = timeline.Event
type Do func(ctx int, nodes ...string) error

type Roll struct {
	Name string ` + "`json:\"name\"`" + `
	hidden int
	*inner
}

type inner struct{ Seen int }
type alone struct{ Unseen int }

func (r *Roll) Begin(w io.Writer, node *corev1.Node) (ended bool, err error) { return }
func (i *inner) Promoted()                                                   {}
func (a alone) Unseen2()                                                     {}
func (r *Roll) end()                                                         {}

type Source interface {
	Next() (e timeline.Event, err error)
	closed()
}

type Set[T comparable] map[T]bool

func Of[T comparable](of ...T) Set[T] { return nil }
func (s Set[T]) Has(t T) bool         { return s[t] }
func least2()                         {}
`

func TestWhatAPackageExports(t *testing.T) {
	files := map[string][]byte{
		"roll/roll.go":          []byte(roll),
		"roll/roll_test.go":     []byte("package roll\n\nfunc InATest() {}\n"),
		"internal/x/x.go":       []byte("package x\n\nfunc Internal() {}\n"),
		"cmd/nodesim/app/x.go":  []byte("package app\n\nfunc OfTheProgram() {}\n"),
		"examples/drain/x.go":   []byte("package drain\n\nfunc Example() {}\n"),
		"roll/generate/main.go": []byte("package main\n\nfunc Main() {}\n"),
	}
	got, err := Baselines(files)
	if err != nil {
		t.Fatal(err)
	}
	want := `const First Kind = "first"
const Second Kind
func Of[T comparable](...T) Set[T]
method (*Roll) Begin(io.Writer, *k8s.io/api/core/v1.Node) (bool, error)
method (*inner) Promoted()
method (Set[T]) Has(T) bool
type Do func(int, ...string) error
type Kind string
type Old = timeline.Event
type Roll struct
type Roll struct, Name string ` + "`json:\"name\"`" + `
type Roll struct, embedded *inner
type Set[T] map[T]bool
type Source interface { Next, closed }
type Source interface, Next() (timeline.Event, error)
type inner struct
type inner struct, Seen int
var ErrGone error
`
	if names := slices.Collect(maps.Keys(got)); !slices.Equal(names, []string{"internal/lint/api/roll.txt"}) {
		t.Errorf("found baselines %q: want that of the one public package", names)
	}
	if text := string(got["internal/lint/api/roll.txt"]); text != want {
		t.Errorf("found\n%s\nwant\n%s", text, want)
	}
}

// Each change of the package, and what is said about it. Names of parameters are free.
func TestChangesOfAnAPI(t *testing.T) {
	baseline, err := Baselines(map[string][]byte{"roll/roll.go": []byte(roll)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", "", "", ""},
		{"a parameter's name", "w io.Writer", "out io.Writer", ""},
		{"an unexported method", "end() ", "stop() ", ""},
		{"a function is gone", "func Of[T comparable](of ...T) Set[T] { return nil }", "", `found no "func Of`},
		{"a parameter's type", "w io.Writer", "w io.StringWriter", `found no "method (*Roll) Begin(io.Writer`},
		{"a constant's value", `"first"`, `"1st"`, `found no "const First Kind = \"first\""`},
		{"a tag", `json:"name"`, `json:"called"`, `found no "type Roll struct, Name string`},
		{"a field's type", "Name string", "Name []byte", `found no "type Roll struct, Name string`},
		{"a method that implementers need", "closed()", "closed(); Len() int", `found no "type Source interface { Next, closed }"`},
		{"a promoted method", "Promoted()", "Promotes()", `found no "method (*inner) Promoted()"`},
		{"a new function", "func least2()", "func Most()", `new in package roll: "func Most()"`},
		{"no word about change", "may still change", "is fine", `docs/stability.md:1: package roll: found it listed: false`},
	} {
		text := strings.Replace(roll, c.old, c.new, 1)
		files := map[string][]byte{"roll/roll.go": []byte(text)}
		maps.Copy(files, baseline)
		found, err := API(files)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, f := range found {
			said.WriteString(f.String() + "\n")
		}
		if c.want == "" && said.Len() > 0 || !strings.Contains(said.String(), c.want) {
			t.Errorf("%s: found %q: want %q", c.name, said.String(), c.want)
		}
	}
}

// A package that the promises list must not say that it may change.
func TestAPIWhereThePromisesContradict(t *testing.T) {
	files := map[string][]byte{
		"roll/roll.go":      []byte(roll),
		"docs/stability.md": []byte("| package | for |\n|---|---|\n| `roll` | rolls |\n"),
	}
	baseline, err := Baselines(files)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, baseline)
	found, err := API(files)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Text, "package roll: found it listed: true") {
		t.Errorf("found %v, %v: want that roll is listed and may change", found, err)
	}
}

func TestAPIOfAPackageThatIsGone(t *testing.T) {
	found, err := API(map[string][]byte{"internal/lint/api/replay/old.txt": []byte("func Gone()\n")})
	if err != nil || len(found) != 1 || !strings.Contains(found[0].String(), "internal/lint/api/replay/old.txt:1: found no such package") {
		t.Errorf("found %v, %v: want the package that is gone", found, err)
	}
}

func TestAssumedNamesOfPackages(t *testing.T) {
	for from, want := range map[string]string{
		"k8s.io/api/core/v1":                   "v1",
		"gopkg.in/yaml.v3":                     "yaml",
		"github.com/spf13/cobra":               "cobra",
		"sigs.k8s.io/structured-merge-diff/v6": "structured-merge-diff",
		"github.com/google/go-cmp":             "cmp",
	} {
		if got := assumed(from); got != want {
			t.Errorf("%s: found the name %q: want %q", from, got, want)
		}
	}
}
