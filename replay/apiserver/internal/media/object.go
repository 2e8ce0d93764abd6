package media

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay"
)

// Object is the answer to a get. Errors are a 406 for a Form that only a list
// has, and those of decoding an object that isn't what its kind says.
func (m *Maker) Object(f Form, o *replay.Object) ([]byte, error) {
	if f.shape == partialList {
		return nil, m.notAList()
	}
	raw, err := m.raw(o)
	if err != nil {
		return nil, err
	}
	if f.encoding == asProtobuf {
		return m.protobuf(f, o, raw)
	}
	text, err := m.text(f, raw, true)
	if err != nil {
		return nil, err
	}
	return finish(f, text)
}

// text is an object in the shape of a Form, as compact JSON with room for a
// line's end.
func (m *Maker) text(f Form, raw []byte, header bool) ([]byte, error) {
	switch f.shape {
	case table:
		return m.tableOfOne(f, raw, header)
	case partial:
		return appendPartial(make([]byte, 0, len(metadata(raw))+96), raw, f.meta()), nil
	case partialList:
		return nil, m.notAList()
	}
	return appendWhole(make([]byte, 0, len(raw)+96), raw, m.resource), nil
}

// notAList and isAList refuse as asPartialObjectMetadataList and
// asPartialObjectMetadata of
// k8s.io/apiserver/pkg/endpoints/handlers/response.go do. A custom resource
// gets past the former's check, and fails when its items are looked for.
func (m *Maker) notAList() error {
	if !m.bare {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: "content is not a list",
		}}
	}
	return notAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (%s)", m.goType(""))
}

func (m *Maker) isAList() error {
	return notAcceptable("you requested PartialObjectMetadata, but the requested object is a list (%s)", m.goType("List"))
}

// goType is the type that the server holds the kind in, by the custom of
// k8s.io/kubernetes/pkg/apis: a package for each group.
func (m *Maker) goType(suffix string) string {
	if !m.bare {
		return "*unstructured.Unstructured" + suffix
	}
	pkg, _, _ := strings.Cut(m.resource.Group, ".")
	if pkg == "" || pkg == "events" {
		pkg = "core"
	}
	return "*" + pkg + "." + m.resource.Kind + suffix
}

func notAcceptable(format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotAcceptable,
		Reason:  metav1.StatusReasonNotAcceptable,
		Message: fmt.Sprintf(format, args...),
	}}
}
