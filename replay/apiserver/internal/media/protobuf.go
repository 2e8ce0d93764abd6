package media

import (
	"encoding/binary"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/replay"
)

// magic is before every message that isn't in a stream
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf/protobuf.go).
const magic = "k8s\x00"

// decode reads the object raw into its Go type.
func (m *Maker) decode(raw []byte) (runtime.Object, error) {
	o, err := types().New(m.kind)
	if err != nil {
		return nil, fmt.Errorf("decode an object of %s: %w", m.resource, err)
	}
	if err := json.Unmarshal(raw, o); err != nil {
		return nil, fmt.Errorf("decode an object of %s: %w", m.resource, err)
	}
	return o, nil
}

type message interface{ Marshal() ([]byte, error) }

// bodyOf makes the protobuf message of an object, without the envelope that
// tells its kind.
func (m *Maker) bodyOf(f Form, raw []byte) ([]byte, error) {
	switch f.shape {
	case partial, partialList:
		var p metav1.PartialObjectMetadata
		if err := json.Unmarshal(metadata(raw), &p.ObjectMeta); err != nil {
			return nil, fmt.Errorf("decode the metadata of an object of %s: %w", m.resource, err)
		}
		return p.Marshal()
	case table:
		return nil, notAcceptable("a Table has no protobuf encoding")
	}
	if p := m.plan(); p != nil {
		if body, ok := encoded(p, raw); ok {
			return body, nil
		}
	}
	return m.decodedBody(raw)
}

// plan is how the kind's objects are written as protobuf; nil where there is no Go type for it.
func (m *Maker) plan() *messagePlan {
	if t := types().AllKnownTypes()[m.kind]; t != nil {
		return planOf(t)
	}
	return nil
}

// decodedBody makes the message of the Go object.
func (m *Maker) decodedBody(raw []byte) ([]byte, error) {
	o, err := m.decode(raw)
	if err != nil {
		return nil, err
	}
	p, ok := o.(message)
	if !ok {
		return nil, fmt.Errorf("encode an object of %s: %T has no protobuf encoding", m.resource, o)
	}
	return p.Marshal()
}

// keptBody is bodyOf, made once.
func (m *Maker) keptBody(f Form, o *replay.Object, raw []byte) ([]byte, error) {
	key := &m.body
	if f.shape != whole {
		key = &m.partialBody
	}
	v, err := o.Memo(key, func(*replay.Object) (any, error) { return m.bodyOf(f, raw) })
	if err != nil {
		return nil, err
	}
	return v.([]byte), nil
}

// typeOf is the kind that is in the envelope of one object.
func (m *Maker) typeOf(f Form) runtime.TypeMeta {
	if f.shape == whole {
		return runtime.TypeMeta{Kind: m.resource.Kind, APIVersion: m.resource.APIVersion()}
	}
	return runtime.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: f.meta().String()}
}

func (m *Maker) protobuf(f Form, o *replay.Object, raw []byte) ([]byte, error) {
	body, err := m.keptBody(f, o, raw)
	if err != nil {
		return nil, err
	}
	return envelope(m.typeOf(f), body)
}

// envelope is a message with its kind.
func envelope(t runtime.TypeMeta, body []byte) ([]byte, error) {
	u := runtime.Unknown{TypeMeta: t, Raw: body}
	out := make([]byte, len(magic)+u.Size())
	copy(out, magic)
	n, err := u.MarshalTo(out[len(magic):])
	if err != nil {
		return nil, fmt.Errorf("write %s as protobuf: %w", t.Kind, err)
	}
	return out[:len(magic)+n], nil
}

func statusProtobuf(st *metav1.Status) ([]byte, error) {
	body, err := complete(st).Marshal()
	if err != nil {
		return nil, fmt.Errorf("write a Status as protobuf: %w", err)
	}
	return envelope(runtime.TypeMeta{Kind: "Status", APIVersion: "v1"}, body)
}

func (m *Maker) protobufFrame(f Form, ev replay.Event, raw []byte, key *slot) ([]byte, error) {
	if f.shape == partialList {
		return nil, m.notAList()
	}
	v, err := ev.Object.Memo(key, func(o *replay.Object) (any, error) {
		if raw == nil {
			raw = o.Raw()
		}
		body, err := m.bodyOf(f, raw)
		if err != nil {
			return nil, err
		}
		if body, err = envelope(m.typeOf(f), body); err != nil {
			return nil, err
		}
		return delimited(ev.Type, body)
	})
	if err != nil {
		return nil, err
	}
	return v.([]byte), nil
}

// delimited is a WatchEvent after its length, four bytes, the highest first
// (k8s.io/apimachinery/pkg/util/framer).
func delimited(t watch.EventType, body []byte) ([]byte, error) {
	e := metav1.WatchEvent{Type: string(t), Object: runtime.RawExtension{Raw: body}}
	out := make([]byte, 4+e.Size())
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	if _, err := e.MarshalTo(out[4:]); err != nil {
		return nil, fmt.Errorf("write a frame as protobuf: %w", err)
	}
	return out, nil
}
