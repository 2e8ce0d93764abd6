package lint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Dead finds the exported functions, methods, types, variables and constants of internal packages that only tests use.
// golangci-lint's unused finds those that aren't exported; it takes every exported one as used. A method by which a type
// implements an interface counts as used, and so does each constant of an enumeration. A package of the layout's last block,
// for tests, is not looked at, and what it uses is used.
//
// It reads the packages of the module at root, as the go command lists them, without their tests.
func Dead(ctx context.Context, root string) ([]Finding, error) {
	layout, err := ParseLayout(layoutText)
	if err != nil {
		return nil, err
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	packages, err := list(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("look for what only tests use: %w", err)
	}
	p, err := check(packages, layout)
	if err != nil {
		return nil, fmt.Errorf("look for what only tests use: %w", err)
	}
	var found []Finding
	for _, object := range p.declared {
		if p.used[object] || p.implements(object) {
			continue
		}
		at := p.set.Position(object.Pos())
		file, err := filepath.Rel(root, at.Filename)
		if err != nil {
			return nil, err
		}
		found = append(found, Finding{filepath.ToSlash(file), at.Line,
			fmt.Sprintf("only tests use %s; remove it, or move it to a _test.go file", object.Name())})
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	return found, nil
}

// A listed is a package as go list prints it. Export is the file of its compiled declarations.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// own returns the path of a package below the module, if it is one of ours.
func (l listed) own() (string, bool) { return strings.CutPrefix(l.ImportPath, module+"/") }

// list returns the packages of a module and all that they import, each after those that it imports.
func list(ctx context.Context, root string) ([]listed, error) {
	command := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	command.Dir, command.Stderr = root, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
		packages = append(packages, l)
	}
}

// A program is the code of a module, without its tests.
type program struct {
	set        *token.FileSet
	outside    types.Importer
	own        map[string]*types.Package // by import path
	types      []*types.Named            // of ours
	declared   []types.Object            // what only tests may use
	used       map[types.Object]bool
	interfaces map[string][]*types.Interface // by the name of each of their methods
}

// check reads the types of all packages: ours from their source, others from what the compiler has exported.
func check(packages []listed, layout Layout) (*program, error) {
	exports := map[string]string{}
	for _, l := range packages {
		exports[l.ImportPath] = l.Export
	}
	p := &program{
		set: token.NewFileSet(), own: map[string]*types.Package{}, used: map[types.Object]bool{}, interfaces: map[string][]*types.Interface{},
	}
	p.outside = importer.ForCompiler(p.set, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
	p.note(types.Universe.Lookup("error").Type())
	for _, l := range packages {
		if name, ours := l.own(); ours {
			if err := p.add(l, strings.Contains("/"+name, "/internal/") && !layout.ForTests(name)); err != nil {
				return nil, err
			}
			continue
		}
		is, err := p.Import(l.ImportPath)
		if err != nil {
			return nil, err
		}
		for _, name := range is.Scope().Names() {
			p.note(is.Scope().Lookup(name).Type())
		}
	}
	return p, nil
}

// Import returns a package of ours as add has read it, any other one from its export file.
func (p *program) Import(name string) (*types.Package, error) {
	if is, ok := p.own[name]; ok {
		return is, nil
	}
	return p.outside.Import(name)
}

// add reads a package of ours. Where inside is set, what it exports must be used.
func (p *program) add(l listed, inside bool) error {
	var files []*ast.File
	for _, name := range l.GoFiles {
		tree, err := parser.ParseFile(p.set, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, tree)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	is, err := (&types.Config{Importer: p}).Check(l.ImportPath, p.set, files, info)
	if err != nil {
		return err
	}
	p.own[l.ImportPath] = is
	for _, object := range info.Defs {
		if name, ok := object.(*types.TypeName); ok {
			if named, ok := name.Type().(*types.Named); ok {
				p.types = append(p.types, named)
			}
		}
		if inside && object != nil && object.Exported() && mayBeDead(object) {
			p.declared = append(p.declared, object)
		}
	}
	for _, t := range info.Types {
		if t.IsType() {
			p.note(t.Type)
		}
	}
	for _, file := range files {
		for _, d := range file.Decls {
			p.uses(d, info)
		}
	}
	return nil
}

// mayBeDead reports whether an object is one that its package exports: no field, no method of an interface, no constant of
// an enumeration, which may stand there for the values of the others.
func mayBeDead(object types.Object) bool {
	switch object := object.(type) {
	case *types.Func:
		recv := object.Signature().Recv()
		return recv == nil || !types.IsInterface(recv.Type())
	case *types.Const:
		if _, enumeration := object.Type().(*types.Named); enumeration {
			return false
		}
	}
	return object.Parent() == object.Pkg().Scope()
}

// uses notes what a declaration uses: itself, and the type that it is a method of, excepted.
func (p *program) uses(d ast.Decl, info *types.Info) {
	var self types.Object
	var receiver *ast.FieldList
	if f, ok := d.(*ast.FuncDecl); ok {
		self, receiver = info.Defs[f.Name], f.Recv
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if fields, ok := n.(*ast.FieldList); ok && fields == receiver {
			return false
		}
		name, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		object := info.Uses[name]
		if f, ok := object.(*types.Func); ok {
			object = f.Origin() // of a generic one
		}
		if object != self {
			p.used[object] = true
		}
		return true
	})
}

// note keeps a type if it is an interface.
func (p *program) note(t types.Type) {
	if named, ok := t.(*types.Named); ok && named.TypeParams().Len() > 0 {
		return
	}
	if t == nil || !types.IsInterface(t) {
		return
	}
	is := t.Underlying().(*types.Interface)
	for m := range is.Methods() {
		if all := p.interfaces[m.Name()]; !slices.Contains(all, is) {
			p.interfaces[m.Name()] = append(all, is)
		}
	}
}

// implements reports whether an object is a method by which one of our types implements an interface. Of a generic type, the
// name of the method is enough.
func (p *program) implements(object types.Object) bool {
	method, ok := object.(*types.Func)
	if !ok || method.Signature().Recv() == nil {
		return false
	}
	return slices.ContainsFunc(p.types, func(t *types.Named) bool {
		has, _, _ := types.LookupFieldOrMethod(t, true, method.Pkg(), method.Name()) // perhaps of an embedded type
		if f, ok := has.(*types.Func); !ok || f.Origin() != method {
			return false
		}
		return slices.ContainsFunc(p.interfaces[method.Name()], func(is *types.Interface) bool {
			return t.TypeParams().Len() > 0 || types.Implements(types.NewPointer(t), is)
		})
	})
}
