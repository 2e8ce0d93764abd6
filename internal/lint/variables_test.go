package lint

import (
	"strings"
	"testing"
)

// variables has exported ones in each form that Go has.
const variables = `package p

import "errors"

var All = []string{"a"} // refused
var Do func()           // refused
var (
	Most, least = 1, 2     // refused
	ErrGone = errors.New("gone")
	Errand  = map[string]int{} // refused
)
const Max = 3
var known = map[string]bool{}

func F() { var Local = 1; _ = Local }
`

func TestVariables(t *testing.T) {
	found, err := Variables("replay/p.go", []byte(variables))
	if err != nil {
		t.Fatal(err)
	}
	at := map[int]string{}
	for _, f := range found {
		at[f.Line] = f.Text
	}
	number := 0
	for line := range strings.Lines(variables) {
		number++
		if refused := strings.Contains(line, "// refused"); refused != (at[number] != "") {
			t.Errorf("line %d, %q: found %q, want it refused: %t", number, strings.TrimSpace(line), at[number], refused)
		}
	}
	for _, file := range []string{"internal/ui/p.go", "replay/internal/hub/p.go", "replay/p_test.go", "docs/p.md"} {
		if found, err := Variables(file, []byte(variables)); err != nil || len(found) > 0 {
			t.Errorf("%s: found %v (%v), want nothing", file, found, err)
		}
	}
}

// No public package has a variable that its importers can change.
func TestPublicPackagesHaveNoVariables(t *testing.T) {
	files, err := Files(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sorted(files) {
		found, err := Variables(file, files[file])
		if err != nil {
			t.Error(err)
		}
		for _, f := range found {
			t.Error(f)
		}
	}
}
