package media

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay/apiserver/internal/negotiation"
	"github.com/nodesim/nodesim/timeline"
)

// Negotiate reads what a request says about the form of its answer, as an API
// server does for the resource: the first clause of the Accept header that can
// be served, JSON where there is none; ?pretty, or without it whether a human
// seems to read along (curl, Wget, a browser); ?includeObject of a Table.
//
// Errors carry a Status: 406 where nothing can be served that is accepted, with
// what could be, and 400 for an includeObject that is none.
func Negotiate(req *http.Request, r timeline.Resource, what What) (Form, error) {
	if isBuiltIn(r) {
		if err := routed(req.Header.Get("Accept"), what); err != nil {
			return Form{}, err
		}
	}
	allowed := endpoint{protobuf: inScheme(r)}
	chosen, info, err := negotiation.NegotiateOutputMediaType(req, codecs(), allowed)
	if err != nil {
		return Form{}, err
	}
	f := Form{encoding: encodingOf(info), stream: what == Stream, pretty: what != Stream && isPretty(info)}
	if f, err = f.as(chosen.Convert, req); err != nil {
		return Form{}, err
	}
	if f.stream {
		if _, err := negotiation.NegotiateOutputMediaTypeStream(req, codecs(), allowed); err != nil {
			return Form{}, err
		}
	}
	return f, nil
}

// as is the Form in the representation that was asked for, if any was.
func (f Form) as(target *schema.GroupVersionKind, req *http.Request) (_ Form, err error) {
	if target == nil {
		return f, nil
	}
	f.beta = target.Version == metav1beta1.SchemeGroupVersion.Version
	switch target.Kind {
	case "PartialObjectMetadata":
		f.shape = partial
	case "PartialObjectMetadataList":
		f.shape = partialList
	case "Table":
		f.shape = table
		f.include, err = included(req)
	}
	return f, err
}

// ForStatus is the Form of an error's Status. It never fails: where nothing that
// the client accepts can be had, and for Tables alone, it is indented JSON, as
// with the server (WriteObjectNegotiated in
// k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/writers.go).
func ForStatus(req *http.Request) Form {
	_, info, err := negotiation.NegotiateOutputMediaType(req, codecs(), negotiation.DefaultEndpointRestrictions)
	if err != nil {
		return Form{pretty: true}
	}
	return Form{encoding: encodingOf(info), pretty: isPretty(info)}
}

func encodingOf(info runtime.SerializerInfo) encoding {
	switch info.MediaType {
	case runtime.ContentTypeYAML:
		return asYAML
	case runtime.ContentTypeProtobuf:
		return asProtobuf
	}
	return asJSON
}

func isPretty(info runtime.SerializerInfo) bool {
	return info.PrettySerializer != nil && info.Serializer == info.PrettySerializer
}

// included reads ?includeObject, with the refusal of optionsForTransform in
// k8s.io/apiserver/pkg/endpoints/handlers/response.go, and of ValidateTableOptions in k8s.io/apimachinery.
func included(req *http.Request) (include, error) {
	var policy metav1.IncludeObjectPolicy
	if req.URL != nil {
		policy = metav1.IncludeObjectPolicy(req.URL.Query().Get("includeObject"))
	}
	switch policy {
	case metav1.IncludeNone:
		return includeNone, nil
	case metav1.IncludeObject:
		return includeObject, nil
	case metav1.IncludeMetadata, "":
		return includeMetadata, nil
	}
	return 0, apierrors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: includeObject: Invalid value: %q: "+
		"must be 'Metadata', 'Object', 'None', or empty", policy))
}

// endpoint restricts a negotiation as RequestScope of
// k8s.io/apiserver/pkg/endpoints/handlers/rest.go does.
type endpoint struct{ protobuf bool }

func (e endpoint) AllowsMediaTypeTransform(kind, subkind string, target *schema.GroupVersionKind) bool {
	isProtobuf := subkind == "vnd.kubernetes.protobuf"
	if target == nil {
		return e.protobuf || !isProtobuf
	}
	if gv := target.GroupVersion(); gv != metav1.SchemeGroupVersion && gv != metav1beta1.SchemeGroupVersion {
		return false
	}
	switch target.Kind {
	case "Table":
		return !isProtobuf
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return true
	}
	return false
}

func (endpoint) AllowsServerVersion(version string) bool { return version == "v1" }

func (endpoint) AllowsStreamSchema(s string) bool { return s == "watch" }
