package tables

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// table holds the columns of the built-in resources, in the words of Kubernetes 1.36; its first lines say how it is read.
// The test against a control plane holds it to the server's.
//
//go:embed columns.tsv
var table string

// column is a line of the table.
type column struct {
	metav1.TableColumnDefinition
	cell func(*object) any // nil where Go code makes the rows
}

// coded are the resources whose rows Go code makes.
var coded = map[schema.GroupResource]func(version string) row{
	{Resource: "pods"}:     always(withConditions(podRow)),
	{Resource: "nodes"}:    always(typed(nodeCells)),
	{Resource: "services"}: always(typed(serviceCells)),
	{Resource: "events"}:   always(typed(coreEventCells)),

	{Group: "events.k8s.io", Resource: "events"}: always(typed(newerEventCells)),
	{Group: "batch", Resource: "jobs"}:           always(typed(jobCells)),

	{Group: "autoscaling", Resource: "horizontalpodautoscalers"}: func(version string) row {
		if version == "v1" {
			return typed(autoscalerV1Cells)
		}
		return typed(autoscalerCells)
	},
}

// always is for the kinds that look the same in all versions, as far as the cells go.
func always(made row) func(string) row { return func(string) row { return made } }

// columnTable is what the table says.
type columnTable struct {
	common    map[string]column // by name
	resources map[schema.GroupResource][]column
}

// builtin is the table of the resources of kube-apiserver itself.
var builtin = sync.OnceValue(func() columnTable {
	all, err := readTable(table)
	if err != nil {
		panic("tables: columns.tsv, which this program was built with: " + err.Error())
	}
	return all
})

func readTable(text string) (columnTable, error) {
	all := columnTable{map[string]column{}, map[schema.GroupResource][]column{}}
	var current schema.GroupResource
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fields, isColumn := strings.CutPrefix(line, "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if !isColumn {
			current = schema.ParseGroupResource(line)
			continue
		}
		c, err := all.readColumn(strings.Split(fields, "\t"))
		if err == nil && c.cell == nil && coded[current] == nil {
			err = errors.New("found no cell, and no code for the resource")
		}
		if err != nil {
			return all, fmt.Errorf("line %d: %w", i+1, err)
		}
		if current.Resource == "common" {
			all.common[c.Name] = c
		} else {
			all.resources[current] = append(all.resources[current], c)
		}
	}
	return all, nil
}

// readColumn reads name, type, priority, cell and description. A common column may stand by its name alone, or with a cell
// of its own; a cell without a column has no name and no description.
func (t columnTable) readColumn(fields []string) (c column, err error) {
	if len(fields) == 1 {
		c, ok := t.common[fields[0]]
		if !ok {
			return c, fmt.Errorf("found no common column %q", fields[0])
		}
		return c, nil
	}
	if len(fields) < 4 || len(fields) > 5 {
		return c, fmt.Errorf("found %d fields, want name, type, priority, cell and description", len(fields))
	}
	if len(fields) == 4 {
		c = t.common[fields[0]]
	} else {
		c.Name, c.Description = fields[0], strings.ReplaceAll(fields[4], `\n`, "\n")
		c.Type, c.Format, _ = strings.Cut(fields[1], "/")
		priority, err := strconv.ParseInt(fields[2], 10, 32)
		if err != nil {
			return c, fmt.Errorf("priority: %w", err)
		}
		c.Priority = int32(priority)
	}
	c.cell, err = cellOf(fields[3])
	return c, err
}

// cellOf reads the name of a function and its arguments.
func cellOf(expression string) (func(*object) any, error) {
	words := strings.Fields(expression)
	if len(words) == 1 && words[0] == "-" {
		return nil, nil
	}
	if len(words) == 0 || cells[words[0]] == nil {
		return nil, fmt.Errorf("cell %q: found no function of that name", expression)
	}
	return func(o *object) any { return cells[words[0]](o, words[1:]) }, nil
}
