package tables

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/nodesim/nodesim/timeline"
)

// Printer makes the cells of one resource's rows. It is safe for concurrent use.
type Printer struct {
	columns []metav1.TableColumnDefinition
	row     row
}

// row makes the cells of an object, and the conditions of its row; an error means that the object isn't of the kind.
type row func(raw []byte, now time.Time) ([]any, []metav1.TableRowCondition, error)

// For returns the printer of a resource. Built-in resources are known by group and plural, in every version: versions
// that the API server no longer serves print like their successors. definition is the JSON of the
// CustomResourceDefinition that defines the resource, or nil; a built-in resource has no use for one. A definition
// that doesn't tell columns for r.Version makes NAME and AGE.
func For(r timeline.Resource, definition []byte) *Printer {
	gr := schema.GroupResource{Group: r.Group, Resource: r.Resource}
	if columns, ok := builtin().resources[gr]; ok {
		return builtinPrinter(columns, coded[gr], r.Version)
	}
	return custom(printerColumns(definition, r.Version))
}

// Columns returns the definitions of all columns, wide ones included, in the order of the cells. The caller may keep
// and change them.
func (p *Printer) Columns() []metav1.TableColumnDefinition { return slices.Clone(p.columns) }

// Cells returns the cells of the object raw as of now, and the conditions of its row: what says of a pod that it is
// done, so that a client may grey it out. Cells are strings, int64, float64, bool or nil. There is one per column,
// except for ipaddresses, where the API server sends an age without a column for it. The error is for raw bytes that
// are no JSON object.
func (p *Printer) Cells(raw []byte, now time.Time) ([]any, []metav1.TableRowCondition, error) {
	if start := bytes.TrimLeft(raw, " \t\r\n"); len(start) == 0 || start[0] != '{' {
		return nil, nil, fmt.Errorf("table row: found %s, want a JSON object", excerpt(start))
	}
	cells, conditions, err := p.row(raw, now)
	if err == nil {
		return cells, conditions, nil
	}
	cells, err = p.unreadable(raw, now)
	return cells, nil, err
}

// builtinPrinter is the printer of a built-in resource, whose rows the columns' cells make where no code does.
func builtinPrinter(columns []column, code func(version string) row, version string) *Printer {
	p := &Printer{}
	for _, c := range columns {
		if c.Name != "" {
			p.columns = append(p.columns, c.TableColumnDefinition)
		}
	}
	if code != nil {
		p.row = code(version)
		return p
	}
	p.row = func(raw []byte, now time.Time) ([]any, []metav1.TableRowCondition, error) {
		o, err := readObject(raw, now)
		if err != nil {
			return nil, nil, err
		}
		cells := make([]any, len(columns))
		for i, c := range columns {
			cells[i] = c.cell(o)
		}
		return cells, nil, o.err
	}
	return p
}

// typed makes the rows of a kind with a Go type.
func typed[T any](cells func(object *T, now time.Time) []any) row {
	return withConditions(func(object *T, now time.Time) ([]any, []metav1.TableRowCondition) { return cells(object, now), nil })
}

// withConditions is typed for rows that have conditions.
func withConditions[T any](made func(object *T, now time.Time) ([]any, []metav1.TableRowCondition)) row {
	return func(raw []byte, now time.Time) ([]any, []metav1.TableRowCondition, error) {
		object := new(T)
		if err := json.Unmarshal(raw, object); err != nil {
			return nil, nil, err
		}
		cells, conditions := made(object, now)
		return cells, conditions, nil
	}
}
