package policy

import (
	"reflect"
	"slices"

	"github.com/google/cel-go/cel"

	"github.com/nodesim/nodesim/replay/analysis"
)

// Type is a type of an analysis as expressions see it.
type Type struct {
	Name   string
	Fields []Field
}

// Field is one field of a type.
type Field struct {
	Of   string // the Go type that declares it: another one where that is embedded
	Name string
	Type string // in CEL
	// Absent says that an object may not have it, and Series that only an analysis made with Series has.
	Absent, Series bool
}

// Types are the types that expressions may name, each once, from the analysis itself on. What the analysis has are variables.
func Types() []Type {
	t := newTypes(nil, nil)
	var all []Type
	seen := map[string]bool{}
	var visit func(*structType)
	visit = func(s *structType) {
		if seen[s.name] {
			return
		}
		seen[s.name] = true
		typ := Type{Name: s.name}
		var next []*structType
		for _, f := range s.fields {
			typ.Fields = append(typ.Fields, Field{
				Of: f.owner.Name(), Name: f.name, Type: cel.FormatCELType(f.cel), Absent: f.pointer,
				Series: slices.Contains(seriesFields, s.name+"."+f.name),
			})
			kind := f.cel
			if len(kind.Parameters()) > 0 {
				kind = kind.Parameters()[0]
			}
			if of := t.structs[kind.TypeName()]; of != nil {
				next = append(next, of)
			}
		}
		all = append(all, typ)
		for _, n := range next {
			visit(n)
		}
	}
	visit(t.structOf(reflect.TypeFor[analysis.Analysis]()))
	return all
}
