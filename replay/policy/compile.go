package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"

	"github.com/nodesim/nodesim/replay/analysis"
)

// compiler compiles the expressions of one policy.
type compiler struct {
	file  string
	types *goTypes
	base  *cel.Env
	envs  map[Over]*cel.Env
}

// place is where an expression stands.
type place struct {
	file, path string
	line       int
}

type resultType struct {
	cel  *cel.Type
	want string
}

var (
	truth = resultType{cel.BoolType, "an expression that is true or false"}
	text  = resultType{cel.StringType, "an expression that is text"}
)

// program is a compiled expression. traced also keeps what its parts came to.
type program struct {
	plain, traced cel.Program
	// parts are what is joined by && at the top, in their order.
	parts []part
}

// part is one condition of an expression, with the values to show where it is false.
type part struct {
	id    int64
	text  string
	shown []shown
	// fields are those of the rule's object that it names.
	fields []string
}

type shown struct {
	id   int64
	text string
}

// lists are the fields of an Analysis that are variables of every expression.
var lists = reflect.TypeFor[analysis.Analysis]()

func overs() []string {
	return []string{string(OverTape), string(OverRolls), string(OverNodes), string(OverWorkloads), string(OverBudgets), string(OverFindings), string(OverPods)}
}

// variable is the name of one object.
func (o Over) variable() string { return strings.TrimSuffix(string(o), "s") }

func newCompiler(file string) *compiler {
	c := &compiler{file: file, envs: map[Over]*cel.Env{}}
	base, err := cel.NewEnv(append(libraries(), func(e *cel.Env) (*cel.Env, error) {
		c.types = newTypes(e.CELTypeAdapter(), e.CELTypeProvider())
		e, err := cel.CustomTypeAdapter(c.types)(e)
		if err != nil {
			return nil, err
		}
		return cel.CustomTypeProvider(c.types)(e)
	})...)
	if err != nil {
		panic(fmt.Sprintf("policy: %v", err)) // of constants: can't happen
	}
	c.base = base
	return c
}

// env has the variables of a rule: those of the analysis, and the rule's object.
func (c *compiler) env(over Over) (*cel.Env, error) {
	if e := c.envs[over]; e != nil {
		return e, nil
	}
	var vars []cel.EnvOption
	for _, f := range c.types.structOf(lists).fields {
		vars = append(vars, cel.Variable(f.name, f.cel))
		if f.name == string(over) && over != OverTape {
			vars = append(vars, cel.Variable(over.variable(), f.cel.Parameters()[0]))
		}
	}
	e, err := c.base.Extend(vars...)
	c.envs[over] = e
	return e, err
}

func (c *compiler) compile(over Over, source string, at place, as resultType) (*program, *Error) {
	bad := func(line int, found, wanted, remedy string) *Error {
		return &Error{File: at.file, Line: line, Path: at.path, Found: found, Wanted: wanted, Remedy: remedy}
	}
	if len(source) > MaxExpression {
		return nil, bad(at.line, fmt.Sprintf("%d bytes", len(source)), fmt.Sprintf("at most %d", MaxExpression), "")
	}
	env, err := c.env(over)
	if err != nil {
		return nil, bad(at.line, err.Error(), "an expression in CEL", "")
	}
	c.types.unknown.field = ""
	checked, issues := env.Compile(source)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		message := strings.Join(strings.Fields(first.Message), " ")
		line := at.line + max(first.Location.Line(), 1) - 1 // an error of the whole expression has none
		if of, field := c.types.unknown.of, c.types.unknown.field; field != "" && strings.Contains(message, "undefined field") {
			fields := c.types.structs[of].names()
			found := fmt.Sprintf("%s has no field %.80q", strings.ToLower(of), field)
			if remedy := didYouMean(field, fields); remedy != "" {
				return nil, bad(line, found, "", remedy)
			}
			return nil, bad(line, found, strings.Join(fields, ", "), "")
		}
		return nil, bad(line, strings.Replace(message, " (in container '')", "", 1), "", remedy(over, message))
	}
	if made := constructed(checked.NativeRep()); made != "" {
		return nil, bad(at.line, "the new object "+made+"{}", "an expression that makes no objects", "")
	}
	if !checked.OutputType().IsExactType(as.cel) {
		return nil, bad(at.line, "an expression of type "+cel.FormatCELType(checked.OutputType()), as.want, "")
	}
	p := &program{}
	if p.plain, err = env.Program(checked, limits(env, false)...); err == nil {
		p.traced, err = env.Program(checked, limits(env, true)...)
	}
	if err != nil {
		return nil, bad(at.line, err.Error(), "an expression in CEL", "")
	}
	c.describe(p, checked.NativeRep(), over)
	return p, nil
}

// remedy says what to do where a variable isn't there because the rule is over something else.
func remedy(over Over, message string) string {
	for _, o := range overs() {
		if o := Over(o); o != over && o != OverTape && strings.Contains(message, "undeclared reference to '"+o.variable()+"'") {
			return "set over: " + string(o)
		}
	}
	return "docs/policy.md has the variables and fields"
}

// constructed is the type of an object that an expression makes, or "".
func constructed(tree *ast.AST) string {
	made := ""
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.StructKind {
			made = e.AsStruct().TypeName()
		}
	}))
	return made
}

// describe finds what is to be shown where the expression is false.
func (c *compiler) describe(p *program, tree *ast.AST, over Over) {
	for _, e := range conditions(tree.Expr()) {
		one := part{id: e.ID(), text: source(e, tree), fields: c.fields(e, tree, over)}
		for _, v := range compared(e) {
			text := source(v, tree)
			if !slices.ContainsFunc(one.shown, func(s shown) bool { return s.text == text }) {
				one.shown = append(one.shown, shown{v.ID(), text})
			}
		}
		p.parts = append(p.parts, one)
	}
}

// fields are those of the rule's object that a part of an expression names. It notes as well where one needs series.
func (c *compiler) fields(part ast.Expr, tree *ast.AST, over Over) (all []string) {
	variable := over.variable()
	ast.PostOrderVisit(part, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind && e.AsIdent() == string(OverPods) || over == OverPods {
			c.types.series = true
		}
		of, name := selected(e)
		if of == nil {
			return
		}
		c.types.series = c.types.series || series(tree.GetType(of.ID()), name)
		if of.Kind() == ast.IdentKind && of.AsIdent() == variable && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}))
	return all
}

// fields are those of the rule's object that any part names.
func (p *program) fields() (all []string) {
	for _, one := range p.parts {
		all = append(all, one.fields...)
	}
	return all
}

// selected is the operand of a.b, a.?b, a[b] or a[?b] with the field's name, which is "" where it isn't a constant.
func selected(e ast.Expr) (of ast.Expr, name string) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName()
	case ast.CallKind:
		switch args := e.AsCall().Args(); e.AsCall().FunctionName() {
		case operators.OptSelect, operators.Index, operators.OptIndex:
			if args[1].Kind() == ast.LiteralKind {
				if text, ok := args[1].AsLiteral().(types.String); ok {
					name = string(text)
				}
			}
			return args[0], name
		}
	}
	return nil, ""
}

// series reports whether a field of a type is there only in an analysis made with Series. Where the checker doesn't know the
// type, as of dyn(node), the name decides, and one that is no constant may be that of such a field.
func series(owner *cel.Type, name string) bool {
	if owner.Kind() == types.OpaqueKind && len(owner.Parameters()) == 1 { // an optional value
		owner = owner.Parameters()[0]
	}
	switch owner.Kind() {
	case types.StructKind:
		return slices.Contains(seriesFields, owner.TypeName()+"."+name)
	case types.DynKind, types.AnyKind:
		return name == "" || slices.ContainsFunc(seriesFields, func(f string) bool { return strings.HasSuffix(f, "."+name) })
	}
	return false
}

// conditions are what && joins at the top of an expression.
func conditions(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var all []ast.Expr
	for _, arg := range e.AsCall().Args() {
		all = append(all, conditions(arg)...)
	}
	return all
}

var comparisons = []string{
	operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.Equals, operators.NotEquals, operators.In,
}

// compared are the parts of a condition whose values explain it: the sides of a comparison that aren't constants, or the
// fields that it names.
func compared(e ast.Expr) []ast.Expr {
	if e.Kind() == ast.CallKind && slices.Contains(comparisons, e.AsCall().FunctionName()) {
		var all []ast.Expr
		for _, arg := range e.AsCall().Args() {
			if variables(arg) {
				all = append(all, arg)
			}
		}
		return all
	}
	var all []ast.Expr
	var visit func(ast.Expr)
	visit = func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			if !e.AsSelect().IsTestOnly() {
				all = append(all, e)
			}
		case ast.CallKind:
			if e.AsCall().IsMemberFunction() {
				visit(e.AsCall().Target())
			}
			for _, arg := range e.AsCall().Args() {
				visit(arg)
			}
		case ast.ComprehensionKind:
			visit(e.AsComprehension().IterRange())
		}
	}
	visit(e)
	return all
}

// variables reports whether an expression names a variable.
func variables(e ast.Expr) bool {
	found := false
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) { found = found || e.Kind() == ast.IdentKind }))
	return found
}

// source is a part of an expression as text.
func source(e ast.Expr, tree *ast.AST) string {
	text, err := parser.Unparse(e, tree.SourceInfo())
	if err != nil {
		return "the condition"
	}
	return strings.Join(strings.Fields(text), " ")
}
