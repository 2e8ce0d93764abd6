package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// add lists the declarations of one file.
func (s *surface) add(set *token.FileSet, file string, tree *ast.File) error {
	if tree.Doc != nil {
		s.comment += tree.Doc.Text()
	}
	qualify(tree)
	var err error
	line := func(owner string, at token.Pos, format string, args ...any) {
		for i, a := range args {
			if node, ok := a.(ast.Expr); ok {
				text, e := printed(node)
				if e != nil {
					err = e
				}
				args[i] = text
			}
		}
		s.of = append(s.of, owned{symbol{fmt.Sprintf(format, args...), file, set.Position(at).Line}, owner})
	}
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			switch {
			case !d.Name.IsExported():
			case d.Recv == nil:
				line("", d.Pos(), "func %s%s", d.Name.Name, signature(d.Type))
			default:
				receiver := d.Recv.List[0].Type
				line(base(receiver), d.Pos(), "method (%s) %s%s", receiver, d.Name.Name, signature(d.Type))
			}
		case *ast.GenDecl:
			s.group(d, line)
		}
	}
	return err
}

// group lists constants, variables and types.
func (s *surface) group(d *ast.GenDecl, line func(owner string, at token.Pos, format string, args ...any)) {
	var repeated ast.Expr // the type of a constant that a later one without a value repeats
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.declared(spec, line)
		case *ast.ValueSpec:
			if spec.Type != nil || len(spec.Values) > 0 {
				repeated = spec.Type
			}
			for i, name := range spec.Names {
				if !name.IsExported() {
					continue
				}
				text := d.Tok.String() + " " + name.Name
				args := []any{}
				if repeated != nil {
					text, args = text+" %s", append(args, repeated)
				}
				if i < len(spec.Values) && d.Tok == token.CONST {
					if value, ok := spec.Values[i].(*ast.BasicLit); ok {
						text, args = text+" = %s", append(args, ast.Expr(value))
					}
				}
				line("", name.Pos(), text, args...)
			}
		}
	}
}

// declared lists a type: a line of its own, and one for each field or method that importers see.
func (s *surface) declared(spec *ast.TypeSpec, line func(owner string, at token.Pos, format string, args ...any)) {
	name := spec.Name.Name
	if spec.TypeParams != nil {
		var of []string
		for _, p := range spec.TypeParams.List {
			for _, n := range p.Names {
				of = append(of, n.Name)
			}
		}
		name += "[" + strings.Join(of, ", ") + "]"
	}
	switch t := spec.Type.(type) {
	case *ast.StructType:
		line(spec.Name.Name, spec.Pos(), "type %s struct", name)
		for _, field := range t.Fields.List {
			tag := ""
			if field.Tag != nil {
				tag = " " + field.Tag.Value
			}
			for _, n := range field.Names {
				if n.IsExported() {
					line(spec.Name.Name, n.Pos(), "type %s struct, %s %s%s", name, n.Name, anonymous(field.Type), tag)
				}
			}
			if len(field.Names) == 0 {
				s.embeds[spec.Name.Name] = append(s.embeds[spec.Name.Name], base(field.Type))
				line(spec.Name.Name, field.Pos(), "type %s struct, embedded %s%s", name, field.Type, tag)
			}
		}
	case *ast.InterfaceType:
		// The first line has every name: one more breaks those that implement the interface.
		var methods []string
		for _, m := range t.Methods.List {
			for _, n := range m.Names {
				methods = append(methods, n.Name)
				if f, ok := m.Type.(*ast.FuncType); ok && n.IsExported() {
					line(spec.Name.Name, n.Pos(), "type %s interface, %s%s", name, n.Name, signature(f))
				}
			}
			if len(m.Names) == 0 {
				methods = append(methods, "embedded")
				line(spec.Name.Name, m.Pos(), "type %s interface, embedded %s", name, anonymous(m.Type))
			}
		}
		line(spec.Name.Name, spec.Pos(), "type %s interface { %s }", name, strings.Join(methods, ", "))
	default:
		sign := ""
		if spec.Assign.IsValid() {
			sign = "= "
		}
		line(spec.Name.Name, spec.Pos(), "type %s %s%s", name, sign, anonymous(spec.Type))
	}
}

// signature is a function's type without the word func and without the names of parameters and results, which importers
// don't use.
func signature(f *ast.FuncType) string {
	text, err := printed(anonymous(f))
	if err != nil {
		return err.Error() // can't happen: the parser made the node
	}
	return strings.TrimPrefix(text, "func")
}

func printed(e ast.Expr) (string, error) {
	var b bytes.Buffer
	err := printer.Fprint(&b, token.NewFileSet(), e)
	return strings.Join(strings.Fields(b.String()), " "), err
}

// anonymous takes the names of parameters and results out of an expression.
func anonymous(e ast.Expr) ast.Expr {
	ast.Inspect(e, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok {
			unnamed(f.Params)
			unnamed(f.Results)
		}
		return true
	})
	return e
}

func unnamed(list *ast.FieldList) {
	if list == nil {
		return
	}
	var each []*ast.Field
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			each = append(each, &ast.Field{Type: f.Type})
		}
	}
	list.List = each
}

// base is the name of a type without pointer, package and type arguments.
func base(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return base(t.X)
	case *ast.IndexExpr:
		return base(t.X)
	case *ast.IndexListExpr:
		return base(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// qualify writes the path of an import wherever a file names it, so that a line doesn't depend on how a file calls it.
func qualify(tree *ast.File) {
	paths := map[string]string{}
	for _, spec := range tree.Imports {
		from, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // can't happen: the parser has read it
		}
		name := assumed(from)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		paths[name] = strings.TrimPrefix(from, module+"/")
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok && paths[x.Name] != "" {
				x.Name = paths[x.Name]
			}
		}
		return true
	})
}

// majorVersion is the last element of a module's path from its second version on.
var majorVersion = regexp.MustCompile(`^v[2-9][0-9]*$`)

// assumed is the name of a package that is imported without one.
func assumed(from string) string {
	name := path.Base(from)
	if majorVersion.MatchString(name) {
		name = path.Base(path.Dir(from))
	}
	name, _, _ = strings.Cut(name, ".")
	return strings.TrimPrefix(name, "go-")
}
