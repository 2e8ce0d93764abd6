package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// deciders are the folders whose code is a function of its arguments. What waits, watches or serves is outside.
var deciders = regexp.MustCompile(
	`^(timeline|noderoll|internal/rawjson|internal/render|scenarios|scenarios/(model|cycle|nodemanager|inplace|internal/[a-z]+))$`)

// observers are the files of noderoll that watch a cluster, and so have goroutines of their own.
var observers = regexp.MustCompile(`^noderoll/(kube|informer|observer)[a-z_]*\.go$`)

// Goroutines finds the go statements of deciders, and the calls that start a goroutine in somebody's name: Go of a
// sync.WaitGroup or an errgroup, and AfterFunc. file is relative to the repository, with slashes. Tests are free.
func Goroutines(file string, source []byte) ([]Finding, error) {
	if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") ||
		!deciders.MatchString(path.Dir(file)) || observers.MatchString(file) {
		return nil, nil
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("look for goroutines: %w", err)
	}
	var found []Finding
	report := func(at token.Pos, what string) {
		found = append(found, Finding{
			File: file, Line: set.Position(at).Line,
			Text: what + " in a decider; return data and let the caller run it",
		})
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			report(node.Pos(), "go statement")
		case *ast.CallExpr:
			name, ok := node.Fun.(*ast.SelectorExpr)
			if ok && (name.Sel.Name == "AfterFunc" || name.Sel.Name == "Go" && len(node.Args) == 1) {
				report(node.Pos(), "call of "+name.Sel.Name)
			}
		}
		return true
	})
	return found, nil
}
