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

// errorName is what an exported error is called: every program compares with it, and nobody assigns to it.
var errorName = regexp.MustCompile(`^Err[A-Z]`)

// nodemanagerDefaults has the variables of the package that nodemanager follows, by which its tests shorten waits.
const nodemanagerDefaults = "scenarios/nodemanager/defaults.go"

// Variables finds the exported variables of a file of a public package, which any importer could change for all others.
// Errors may stay. file is relative to the repository, with slashes.
func Variables(file string, text []byte) ([]Finding, error) {
	folder := path.Dir(file)
	if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains("/"+folder+"/", "/internal/") || file == nodemanagerDefaults {
		return nil, nil
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("look for exported variables: %w", err)
	}
	if tree.Name.Name == "main" {
		return nil, nil
	}
	var found []Finding
	for _, decl := range tree.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				if name.IsExported() && !errorName.MatchString(name.Name) {
					found = append(found, Finding{file, set.Position(name.Pos()).Line,
						"exported variable " + name.Name + ": any importer can change it; make it a constant, or a function that returns it"})
				}
			}
		}
	}
	return found, nil
}
