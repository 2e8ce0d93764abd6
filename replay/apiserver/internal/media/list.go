package media

import (
	"bufio"
	"bytes"
	"io"
	"strconv"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
)

// chunk bounds how much of a list is made before it is written.
const chunk = 32 << 10

// List writes the answer to a list. JSON is written piece by piece, whatever
// the list's length, and so is protobuf; YAML and indented JSON are made whole.
//
// An error that isn't w's comes before anything is written where it is a 406;
// one from an object of the list may come in the middle.
func (m *Maker) List(f Form, l *replay.List, w io.Writer) error {
	switch {
	case f.shape == partial:
		return m.isAList()
	case f.encoding == asProtobuf:
		return m.protobufList(f, l, w)
	case f.encoding == asYAML || f.pretty:
		var text bytes.Buffer
		if err := m.listText(f, l, &text); err != nil {
			return err
		}
		out, err := finish(f, text.Bytes())
		if err != nil {
			return err
		}
		_, err = w.Write(out)
		return err
	}
	b := bufio.NewWriterSize(w, chunk)
	if err := m.listText(f, l, b); err != nil {
		return err
	}
	if err := b.WriteByte('\n'); err != nil {
		return err
	}
	return b.Flush()
}

// buffer holds what a list's text is gathered in: a bufio.Writer or bytes.Buffer,
// whose errors stay until the end.
type buffer interface {
	io.Writer
	AvailableBuffer() []byte
}

func (m *Maker) listText(f Form, l *replay.List, b buffer) error {
	put := func(text []byte) error { _, err := b.Write(text); return err }
	item, before := m.appendItem, `,"items":[`
	head := b.AvailableBuffer()
	switch f.shape {
	case table:
		p, err := m.tablePrinter()
		if err != nil {
			return err
		}
		head = m.appendListMeta(appendType(head, "Table", f.meta().String()), l, false)
		if head, err = appendColumns(head, p, true); err != nil {
			return err
		}
		now := m.now()
		item = func(dst, raw []byte) ([]byte, error) { return m.appendRow(dst, f, raw, p, now) }
		before = `,"rows":[`
	case partialList:
		head = m.appendListMeta(appendType(head, "PartialObjectMetadataList", f.meta().String()), l, false)
		item = func(dst, raw []byte) ([]byte, error) { return appendPartial(dst, raw, f.meta()), nil }
	default:
		head = m.appendListMeta(appendType(head, m.resource.Kind+"List", m.resource.APIVersion()), l, !m.bare)
	}
	if err := put(append(head, before...)); err != nil {
		return err
	}
	for i, o := range l.Items {
		raw, err := m.raw(o)
		if err != nil {
			return err
		}
		text := b.AvailableBuffer()
		if i > 0 {
			text = append(text, ',')
		}
		if text, err = item(text, raw); err != nil {
			return err
		}
		if err := put(text); err != nil {
			return err
		}
	}
	return put(append(b.AvailableBuffer(), "]}"...))
}

// appendItem appends an object as it is in a list of its kind.
func (m *Maker) appendItem(dst, raw []byte) ([]byte, error) {
	if m.bare {
		return appendBare(dst, raw), nil
	}
	return appendWhole(dst, raw, m.resource), nil
}

// appendListMeta appends the metadata of a list. One of custom resources has a
// continue even where it is empty
// (k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructured_list.go).
func (m *Maker) appendListMeta(dst []byte, l *replay.List, always bool) []byte {
	dst = append(dst, `,"metadata":{`...)
	empty := len(dst)
	member := func(name string) {
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
	}
	if l.ResourceVersion != "" || always {
		member("resourceVersion")
		dst = rawjson.AppendString(dst, l.ResourceVersion)
	}
	if l.Continue != "" || always {
		member("continue")
		dst = rawjson.AppendString(dst, l.Continue)
	}
	if l.Remaining != nil {
		member("remainingItemCount")
		dst = strconv.AppendInt(dst, *l.Remaining, 10)
	}
	return append(dst, '}')
}
