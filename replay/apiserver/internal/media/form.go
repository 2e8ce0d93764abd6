package media

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Form holds what a client asked for: an encoding of a representation. It can be
// compared. The zero Form is the object as JSON.
type Form struct {
	encoding encoding
	shape    shape
	beta     bool // meta.k8s.io/v1beta1 in place of v1
	include  include
	pretty   bool
	stream   bool
}

// Table reports whether a Table was asked for.
func (f Form) Table() bool { return f.shape == table }

// What says what is answered.
type What int

const (
	// Single is an answer to a get.
	Single What = iota
	// Collection is an answer to a list.
	Collection
	// Stream is an answer to a watch.
	Stream
)

type encoding uint8

const (
	asJSON encoding = iota
	asYAML
	asProtobuf
)

// shape is a representation.
type shape uint8

const (
	whole shape = iota
	table
	partial
	partialList
)

// include says what a Table's rows carry: ?includeObject.
type include uint8

const (
	includeMetadata include = iota
	includeNone
	includeObject
)

// forms is the number of values index has.
const forms = 1 << 8

// index numbers the Forms, leaving out whether it is a stream.
func (f Form) index() int {
	i := int(f.encoding)&3 | int(f.shape)&3<<2 | int(f.include)&3<<4
	if f.beta {
		i |= 1 << 6
	}
	if f.pretty {
		i |= 1 << 7
	}
	return i
}

// ContentType is the answer's Content-Type. A stream of JSON has none of its
// own, one of protobuf has (serveWatchHandler in
// k8s.io/apiserver/pkg/endpoints/handlers/watch.go).
func (f Form) ContentType() string {
	switch {
	case f.encoding == asYAML:
		return runtime.ContentTypeYAML
	case f.encoding == asProtobuf && f.stream:
		return runtime.ContentTypeProtobuf + ";stream=watch"
	case f.encoding == asProtobuf:
		return runtime.ContentTypeProtobuf
	}
	return runtime.ContentTypeJSON
}

// meta is the version of meta.k8s.io that was asked for.
func (f Form) meta() schema.GroupVersion {
	if f.beta {
		return schema.GroupVersion{Group: metav1.GroupName, Version: "v1beta1"}
	}
	return schema.GroupVersion{Group: metav1.GroupName, Version: "v1"}
}
