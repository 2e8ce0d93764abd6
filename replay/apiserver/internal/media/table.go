package media

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// tablePrinter is the printer of a Table that begins now.
func (m *Maker) tablePrinter() (Printer, error) {
	if m.printer != nil {
		if p := m.printer(); p != nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("a Table of %s: no printer was given; want one in Options.Printer", m.resource)
}

// tableOfOne is the Table of one object, its metadata the object's version
// (k8s.io/kubernetes/pkg/printers/tablegenerator.go).
func (m *Maker) tableOfOne(f Form, raw []byte, header bool) ([]byte, error) {
	p, err := m.tablePrinter()
	if err != nil {
		return nil, err
	}
	dst := appendType(make([]byte, 0, len(raw)+512), "Table", f.meta().String())
	dst = append(dst, `,"metadata":{`...)
	if v := rawjson.Get(raw, "metadata", "resourceVersion"); v != nil {
		dst = append(append(dst, `"resourceVersion":`...), v...)
	}
	dst, err = appendColumns(append(dst, '}'), p, header)
	if err != nil {
		return nil, err
	}
	dst, err = m.appendRow(append(dst, `,"rows":[`...), f, raw, p, m.now())
	if err != nil {
		return nil, err
	}
	return append(dst, "]}"...), nil
}

// appendColumns appends the columnDefinitions of a Table, which are null in all
// frames of a stream but the first (watchEmbeddedEncoder in
// k8s.io/apiserver/pkg/endpoints/handlers/response.go).
func appendColumns(dst []byte, p Printer, header bool) ([]byte, error) {
	dst = append(dst, `,"columnDefinitions":`...)
	if !header {
		return append(dst, "null"...), nil
	}
	columns, err := json.Marshal(p.Columns())
	if err != nil {
		return nil, fmt.Errorf("write the columns of a Table: %w", err)
	}
	return append(dst, columns...), nil
}

// appendRow appends the row of an object. The bookmark at the end of the initial
// events carries its metadata, whatever the client asked for (asTable in
// response.go): they identify it.
func (m *Maker) appendRow(dst []byte, f Form, raw []byte, p Printer, now time.Time) ([]byte, error) {
	cells, conditions, err := p.Cells(raw, now)
	if err != nil {
		return nil, fmt.Errorf("a row of a Table of %s: %w", m.resource, err)
	}
	text, err := json.Marshal(cells)
	if err != nil {
		return nil, fmt.Errorf("write a row of a Table of %s: %w", m.resource, err)
	}
	dst = append(append(dst, `{"cells":`...), text...)
	if len(conditions) > 0 {
		if text, err = json.Marshal(conditions); err != nil {
			return nil, fmt.Errorf("write the conditions of a row of %s: %w", m.resource, err)
		}
		dst = append(append(dst, `,"conditions":`...), text...)
	}
	dst = append(dst, `,"object":`...)
	switch {
	case f.include == includeObject:
		dst = appendWhole(dst, raw, m.resource)
	case f.include == includeMetadata || endsInitialEvents(raw):
		dst = appendPartial(dst, raw, f.meta())
	default:
		dst = append(dst, "null"...)
	}
	return append(dst, '}'), nil
}

// endsInitialEvents reports whether the object is the bookmark after the
// initial events of a watch (metav1.InitialEventsAnnotationKey).
func endsInitialEvents(raw []byte) bool {
	return rawjson.Text(raw, "metadata", "annotations", "k8s.io/initial-events-end") == "true"
}
