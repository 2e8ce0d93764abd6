package lint

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is the path of this repository's module.
const module = "github.com/nodesim/nodesim"

// layoutFile is where the table of packages is, for findings.
const layoutFile = "internal/lint/layout.txt"

//go:embed layout.txt
var layoutText string

// A row of the layout is one package.
type row struct {
	line    int
	decider bool            // a function of its arguments: no clock, random source, environment or goroutine
	leaf    bool            // part of the block of leaves
	block   int             // from 0, in the order of the table
	all     bool            // may import everything
	leaves  bool            // may import every leaf
	imports map[string]bool // may import these, by path below the module
}

// A Layout says which package may import which. It is read-only once parsed.
type Layout struct {
	rows map[string]row
	last int // the last block
}

// ParseLayout reads the table of packages. An error names the line, what was found and what was wanted.
func ParseLayout(text string) (Layout, error) {
	rows := map[string]row{}
	number, block, ended := 0, 0, false
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" {
			ended = len(rows) > 0
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		if ended {
			block, ended = block+1, false
		}
		left, right, ok := strings.Cut(line, ":")
		words := strings.Fields(left)
		if !ok || len(words) == 0 || len(words) > 2 || len(words) == 2 && words[1] != "decider" {
			return Layout{}, fmt.Errorf("%s:%d: %q: want PACKAGE [decider] : IMPORTS", layoutFile, number, line)
		}
		if _, twice := rows[words[0]]; twice {
			return Layout{}, fmt.Errorf("%s:%d: %s has a row already; keep one", layoutFile, number, words[0])
		}
		r := row{line: number, decider: len(words) == 2, leaf: block == 0, block: block, imports: map[string]bool{}}
		for _, to := range strings.Fields(right) {
			switch to {
			case "*":
				r.all = true
			case "leaves":
				r.leaves = true
			default:
				r.imports[to] = true
			}
		}
		rows[words[0]] = r
	}
	return Layout{rows, block}, nil
}

// Decider reports whether the code of a folder has to be a function of its arguments.
func (l Layout) Decider(folder string) bool { return l.rows[folder].decider }

// ForTests reports whether a package is of the last block: for tests and this repository alone.
func (l Layout) ForTests(name string) bool { r, ok := l.rows[name]; return ok && r.block == l.last }

// Arrows checks the imports of a repository against the layout. files has the source of each Go file that isn't a
// test, by its name relative to the repository. It finds packages without a row, arrows that no row allows, rows
// without a package, and allowed arrows that no file needs.
func (l Layout) Arrows(files map[string][]byte) ([]Finding, error) {
	var found []Finding
	used := map[string]map[string]bool{} // by package
	for _, file := range slices.Sorted(maps.Keys(files)) {
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, files[file], parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("look for imports: %w", err)
		}
		from := path.Dir(file)
		r, known := l.rows[from]
		if used[from] == nil {
			used[from] = map[string]bool{}
			if !known {
				found = append(found, Finding{file, 1, fmt.Sprintf("package %s has no row in %s; add it where it belongs", from, layoutFile)})
			}
		}
		for _, spec := range tree.Imports {
			to, ours := ownImport(spec)
			if !ours {
				continue
			}
			used[from][to] = true
			switch {
			case !known || r.all || r.imports[to] || r.leaves && l.rows[to].leaf:
			default:
				found = append(found, Finding{file, set.Position(spec.Pos()).Line, fmt.Sprintf(
					"%s imports %s, which %s:%d doesn't allow; pass the value in, or move the code to its consumer",
					from, to, layoutFile, r.line)})
			}
		}
	}
	return append(found, l.stale(used)...), nil
}

// stale finds what the table has and the code hasn't.
func (l Layout) stale(used map[string]map[string]bool) []Finding {
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(l.rows)) {
		r := l.rows[name]
		if used[name] == nil {
			found = append(found, Finding{layoutFile, r.line, fmt.Sprintf("found no package %s; remove its row", name)})
			continue
		}
		for _, to := range slices.Sorted(maps.Keys(r.imports)) {
			if !used[name][to] {
				found = append(found, Finding{layoutFile, r.line, fmt.Sprintf("%s doesn't import %s; remove the arrow", name, to)})
			}
		}
	}
	return found
}

// ownImport is the path of an import below the module, if it is one of ours.
func ownImport(spec *ast.ImportSpec) (string, bool) {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(name, module+"/")
}
