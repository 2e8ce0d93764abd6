package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
)

// observers are the files of noderoll that watch a cluster, and so have a clock and goroutines of their own.
var observers = regexp.MustCompile(`^noderoll/(kube|informer|observer)[a-z_]*\.go$`)

// goroutinesRefused reports whether a go statement is refused in a package too. replay and its adapters keep the ban on clocks (they
// take one from their caller), and own the goroutines that they start.
func goroutinesRefused(folder string) bool { return folder != "replay" && folder != "replay/fault" }

// An outside is something from outside that a decider may not use.
type outside struct {
	names         *regexp.Regexp
	what, instead string
}

// outsides are the bans by the import path of the package.
var outsides = map[string]outside{
	"time": {regexp.MustCompile(`^(Now|Since|Until|After|AfterFunc|Sleep|Tick|NewTimer|NewTicker)$`),
		"the clock", "take the time as an argument, or a k8s.io/utils/clock where one must wait"},
	"math/rand/v2": {regexp.MustCompile(`^(Int|IntN|Int32|Int32N|Int64|Int64N|Uint|UintN|Uint32|Uint32N|Uint64|Uint64N|N|Float32|Float64|ExpFloat64|NormFloat64|Perm|Shuffle)$`),
		"the global random source", "take a seeded *rand.Rand as an argument"},
	"os": {regexp.MustCompile(`^(Getenv|LookupEnv|Environ|ExpandEnv)$`),
		"the environment", "take the value as an argument and read it in cmd/nodesim/app"},
}

// Decider finds where a file of a decider asks the clock, the global random source or the environment, and where it
// starts a goroutine, by a go statement or by the calls that start one in the caller's name: Go of a sync.WaitGroup
// or an
// errgroup, and AfterFunc. file is relative to the repository, with slashes.
func Decider(file string, text []byte) ([]Finding, error) {
	if observers.MatchString(file) {
		return nil, nil
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("look for clocks and goroutines: %w", err)
	}
	var found []Finding
	report := func(at token.Pos, text string) {
		found = append(found, Finding{file, set.Position(at).Line, text})
	}
	imported := importedOutsides(tree)
	refuseGoroutines := goroutinesRefused(path.Dir(file))
	ast.Inspect(tree, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			if refuseGoroutines {
				report(node.Pos(), "go statement in a decider; return data and let the caller run it")
			}
		case *ast.CallExpr:
			name, ok := node.Fun.(*ast.SelectorExpr)
			if ok && refuseGoroutines && (name.Sel.Name == "AfterFunc" || name.Sel.Name == "Go" && len(node.Args) == 1) {
				report(node.Pos(), "call of "+name.Sel.Name+" in a decider; return data and let the caller run it")
			}
		case *ast.SelectorExpr:
			name, ok := node.X.(*ast.Ident)
			if !ok {
				break
			}
			if s, ok := imported[name.Name]; ok && s.names.MatchString(node.Sel.Name) {
				report(node.Pos(), fmt.Sprintf("%s.%s: a decider doesn't ask %s; %s", name.Name, node.Sel.Name, s.what, s.instead))
			}
		}
		return true
	})
	return found, nil
}

// importedOutsides are the banned outsides of a file, by the name under which it imports their package.
func importedOutsides(tree *ast.File) map[string]outside {
	imported := map[string]outside{}
	for _, spec := range tree.Imports {
		at, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		s, ok := outsides[at]
		if !ok {
			continue
		}
		name := path.Base(at)
		if at == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = s
	}
	return imported
}
