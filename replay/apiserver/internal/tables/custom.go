package tables

import (
	"bytes"
	"cmp"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"
)

// customColumn is a printerColumn whose path is read.
type customColumn struct {
	printerColumn
	search *jsonpath.JSONPath
}

// custom is the printer of a custom resource. The first column with a path that can't be read ends the columns, as in
// the API server.
func custom(defined []printerColumn) *Printer {
	var columns []customColumn
	definitions := []metav1.TableColumnDefinition{builtin().common["Name"].TableColumnDefinition}
	for _, c := range defined {
		search, err := readPath(c.path())
		if err != nil {
			break
		}
		columns = append(columns, customColumn{c, search})
		definitions = append(definitions, metav1.TableColumnDefinition{
			Name: c.Name, Type: c.Type, Format: c.Format, Priority: c.Priority,
			Description: cmp.Or(c.Description, "Custom resource definition column (in JSONPath format): "+c.path()),
		})
	}
	return &Printer{columns: definitions, row: func(raw []byte, now time.Time) ([]any, []metav1.TableRowCondition, error) {
		var object map[string]any
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, nil, err
		}
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		cells := make([]any, 1, 1+len(columns))
		cells[0] = name
		for _, c := range columns {
			cells = append(cells, c.cell(object, now))
		}
		return cells, nil, nil
	}}
}

// cell is the first thing that the column's path finds, as the column's type, or nil.
func (c customColumn) cell(object map[string]any, now time.Time) any {
	results, err := c.search.FindResults(object)
	if err != nil || len(results) == 0 || len(results[0]) == 0 || !results[0][0].IsValid() {
		return nil
	}
	value := results[0][0].Interface()
	if c.Type != "string" {
		return convert(c.Type, value, now)
	}
	var printed bytes.Buffer
	if err := c.search.PrintResults(&printed, []reflect.Value{reflect.ValueOf(value)}); err != nil {
		return nil
	}
	return printed.String()
}

// convert makes a cell of a JSON value, or nil where it isn't of the type. A date becomes an age.
func convert(to string, value any, now time.Time) any {
	switch v := value.(type) {
	case int64:
		switch to {
		case "integer":
			return v
		case "number":
			return float64(v)
		}
	case float64:
		switch to {
		case "integer":
			return int64(v)
		case "number":
			return v
		}
	case bool:
		if to == "boolean" {
			return v
		}
	case string:
		if to == "date" {
			var t metav1.Time
			if t.UnmarshalQueryParameter(v) != nil {
				return "<invalid>"
			}
			return since(t, now)
		}
	}
	return nil
}
