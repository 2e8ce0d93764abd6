package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/lint"
	"github.com/nodesim/nodesim/internal/localcluster/assets"
)

// oldestMinor is the minor of Kubernetes, after 1, whose libraries go.mod asks for: the oldest that is supported, so that
// nobody who imports a package is lifted above it. 1.35 is supported until 2027-02-28 (https://kubernetes.io/releases/1.35/,
// and https://kubernetes.io/releases/patch-releases/ for all of them). After that day, and not before: raise it to the minor
// that is the oldest then, take its libraries into go.mod and cmd/nodesim-cloud/go.mod, and write docs/stability.md anew.
const oldestMinor = 35

// controllerRuntimeBehind is how far the minor of controller-runtime is below that of the libraries it is made of: 0.23 has
// v0.35 (sigs.k8s.io/controller-runtime, README.md, Compatibility).
const controllerRuntimeBehind = 12

// kubernetesLibraries are the modules that Kubernetes releases together, with its own minor.
var kubernetesLibraries = []string{
	"k8s.io/api", "k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/apiserver", "k8s.io/cli-runtime",
	"k8s.io/client-go", "k8s.io/component-base", "k8s.io/kubelet", "k8s.io/metrics",
}

const controllerRuntime = "sigs.k8s.io/controller-runtime"

// otherMinors finds the libraries in a go.mod that have another minor than wanted, or are replaced, and returns those that it
// names.
func otherMinors(file, text string, minor int) (wrong []lint.Finding, named []string) {
	line := 0
	for row := range strings.Lines(text) {
		line++
		fields := strings.Fields(row)
		if len(fields) > 0 && (fields[0] == "require" || fields[0] == "replace") {
			fields = fields[1:]
		}
		if len(fields) < 2 {
			continue
		}
		module, version, want := fields[0], fields[1], minor
		switch {
		case module == controllerRuntime:
			want -= controllerRuntimeBehind
		case !slices.Contains(kubernetesLibraries, module):
			continue
		}
		named = append(named, module)
		if slices.Contains(fields, "=>") || !strings.HasPrefix(version, fmt.Sprintf("v0.%d.", want)) {
			wrong = append(wrong, lint.Finding{File: file, Line: line, Text: fmt.Sprintf(
				"found %q, want %s v0.%d, as of Kubernetes 1.%d: go get %[2]s@v0.%[3]d and go mod tidy there (with -modfile for "+
					"test/newest/go.mod), or raise the minor as oldestMinor says",
				strings.TrimSpace(row), module, want, minor)})
		}
	}
	return wrong, named
}

// newestMinor is the newest minor that a local cluster offers, after 1.
func newestMinor(t *testing.T) int {
	t.Helper()
	minors := assets.Minors()
	last := minors[len(minors)-1]
	minor, err := strconv.Atoi(strings.TrimPrefix(last, "1."))
	if err != nil {
		t.Fatalf("internal/localcluster/assets: found minor %q, want 1 and a number: %v", last, err)
	}
	return minor
}

// The module asks for the libraries of the oldest minor of Kubernetes that is supported, make newest takes those of the newest,
// and the manual says which these are.
func TestKubernetesLibraries(t *testing.T) {
	newest := newestMinor(t)
	every := append(slices.Clone(kubernetesLibraries), controllerRuntime)
	for _, c := range []struct {
		file  string
		minor int
		asks  []string
	}{
		{"go.mod", oldestMinor, every},
		{"cmd/nodesim-cloud/go.mod", oldestMinor, []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go"}},
		{"test/newest/go.mod", newest, every},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(c.file)))
		if err != nil {
			t.Fatal(err)
		}
		wrong, named := otherMinors(c.file, string(text), c.minor)
		for _, f := range wrong {
			t.Error(f)
		}
		for _, module := range c.asks {
			if !slices.Contains(named, module) {
				t.Errorf("%s: found no %s, want it: take it out of this test if the module needs it no more", c.file, module)
			}
		}
	}

	const manual = "docs/stability.md"
	page, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(manual)))
	if err != nil {
		t.Fatal(err)
	}
	prose := strings.Join(strings.Fields(string(page)), " ")
	for _, want := range []string{
		fmt.Sprintf("k8s.io v0.%d and controller-runtime v0.%d", oldestMinor, oldestMinor-controllerRuntimeBehind),
		fmt.Sprintf("with the newest, v0.%d and controller-runtime v0.%d", newest, newest-controllerRuntimeBehind),
	} {
		if !strings.Contains(prose, want) {
			t.Errorf("%s: found no %q, want it below Kubernetes' libraries: write the minors of go.mod and test/newest/go.mod there", manual, want)
		}
	}
}

// A library that is too new, too old or replaced is found in each form that go.mod has.
func TestOtherMinors(t *testing.T) {
	const text = `module example.com/m

require k8s.io/api v0.36.1

require (
	k8s.io/client-go v0.35.8
	k8s.io/kubelet v0.34.0 // indirect
	k8s.io/klog/v2 v2.140.0
	sigs.k8s.io/controller-runtime v0.24.0
)

replace k8s.io/metrics => k8s.io/metrics v0.35.8
`
	wrong, named := otherMinors("go.mod", text, 35)
	var lines []int
	for _, f := range wrong {
		lines = append(lines, f.Line)
	}
	if want := []int{3, 7, 9, 12}; !slices.Equal(lines, want) {
		t.Errorf("found lines %v (%v), want %v", lines, wrong, want)
	}
	if len(named) != 5 {
		t.Errorf("found %q, want five modules", named)
	}
}
