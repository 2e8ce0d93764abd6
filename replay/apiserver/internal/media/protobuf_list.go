package media

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nodesim/nodesim/replay"
)

// protobufList writes a list without holding more than one item of it beside
// what the objects keep. All lists have the same two fields, metadata and items,
// whose messages are written after their tags; so does
// k8s.io/apimachinery/pkg/runtime/serializer/protobuf/collections.go.
func (m *Maker) protobufList(f Form, l *replay.List, w io.Writer) error {
	meta, err := listMeta(l).Marshal()
	if err != nil {
		return fmt.Errorf("write the metadata of a list as protobuf: %w", err)
	}
	kind := runtime.TypeMeta{Kind: m.resource.Kind + "List", APIVersion: m.resource.APIVersion()}
	metaTag, itemTag := byte(0x0a), byte(0x12) // fields 1 and 2, bytes
	if f.shape == partialList {
		kind = runtime.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: f.meta().String()}
		if f.meta() == metav1beta1.SchemeGroupVersion {
			metaTag, itemTag = itemTag, metaTag
		}
	}
	bodies := make([][]byte, len(l.Items))
	size := field(len(meta))
	for i, o := range l.Items {
		raw, err := m.raw(o)
		if err != nil {
			return err
		}
		if bodies[i], err = m.keptBody(f, o, raw); err != nil {
			return err
		}
		size += field(len(bodies[i]))
	}
	return writeList(w, kind, size, metaTag, meta, itemTag, bodies)
}

// field is the number of bytes a field of length n takes, with its tag.
func field(n int) int { return 1 + (bits.Len(uint(n)|1)+6)/7 + n }

func listMeta(l *replay.List) *metav1.ListMeta {
	return &metav1.ListMeta{ResourceVersion: l.ResourceVersion, Continue: l.Continue, RemainingItemCount: l.Remaining}
}

// writeList writes the envelope of a list and what is in it; size is that of
// the list's message.
func writeList(w io.Writer, kind runtime.TypeMeta, size int, metaTag byte, meta []byte, itemTag byte, items [][]byte) error {
	t, err := kind.Marshal()
	if err != nil {
		return fmt.Errorf("write the kind of a list as protobuf: %w", err)
	}
	b := make([]byte, 0, min(chunk, size+len(t)+64)) // a reconciler lists a node's few pods again and again
	put := func(tag byte, message []byte) error {
		b = append(binary.AppendUvarint(append(b, tag), uint64(len(message))), message...)
		if len(b) < chunk {
			return nil
		}
		_, err := w.Write(b)
		b = b[:0]
		return err
	}
	b = append(b, magic...)
	if err := put(0x0a, t); err != nil {
		return err
	}
	b = binary.AppendUvarint(append(b, 0x12), uint64(size))
	metaFirst := metaTag < itemTag
	if metaFirst {
		if err := put(metaTag, meta); err != nil {
			return err
		}
	}
	for _, item := range items {
		if err := put(itemTag, item); err != nil {
			return err
		}
	}
	if !metaFirst {
		if err := put(metaTag, meta); err != nil {
			return err
		}
	}
	b = append(b, 0x1a, 0, 0x22, 0) // contentEncoding and contentType, both empty
	_, err = w.Write(b)
	return err
}
