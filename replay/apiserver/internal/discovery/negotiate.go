package discovery

import (
	"encoding/json"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/nodesim/nodesim/replay/apiserver/internal/negotiation"
)

// codecs knows the encodings. Documents carry their own kind, so no scheme has to.
var codecs = serializer.NewCodecFactory(runtime.NewScheme())

const jsonOnly = "application/json"

// mediaTypes are those of codecs, in the order in which the real server names them.
var mediaTypes, _ = negotiation.MediaTypesForSerializer(codecs)

// restrictions say which conversions an endpoint does, beside the encodings; nil is the plain document.
type restrictions func(target *schema.GroupVersionKind) bool

// plain is for documents that come in one form.
var plain restrictions = func(target *schema.GroupVersionKind) bool { return target == nil }

// AllowsMediaTypeTransform implements negotiation.EndpointRestrictions.
func (r restrictions) AllowsMediaTypeTransform(_, _ string, target *schema.GroupVersionKind) bool {
	return r(target)
}

// AllowsServerVersion implements negotiation.EndpointRestrictions.
func (restrictions) AllowsServerVersion(string) bool { return false }

// AllowsStreamSchema implements negotiation.EndpointRestrictions.
func (restrictions) AllowsStreamSchema(schema string) bool { return schema == "watch" }

// write answers with an object in the encoding that the client asks for. Like the real server it answers an error in
// JSON where none of the client's encodings is known, since the error matters more.
func write(w http.ResponseWriter, r *http.Request, code int, object runtime.Object) {
	_, info, err := negotiation.NegotiateOutputMediaType(r, codecs, plain)
	if err != nil {
		if code >= http.StatusBadRequest {
			writeJSON(w, code, object)
			return
		}
		notAcceptable(w, err)
		return
	}
	encode(w, info, info.MediaType, code, object)
}

// writeAggregate answers with aggregated discovery, which the client has asked for in these terms.
func writeAggregate(w http.ResponseWriter, r *http.Request, a aggregate, terms negotiation.MediaTypeOptions) {
	h := w.Header()
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "public")
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, info, err := negotiation.NegotiateOutputMediaType(r, codecs, restrictions(func(kind *schema.GroupVersionKind) bool {
		return kind != nil && *kind == *terms.Convert
	}))
	if err != nil {
		notAcceptable(w, err)
		return
	}
	c := terms.Convert
	encode(w, info, info.MediaType+";g="+c.Group+";v="+c.Version+";as="+c.Kind, http.StatusOK, a.in(c.Version))
}

// encode writes an object; a client that has gone away gets no report.
func encode(w http.ResponseWriter, info runtime.SerializerInfo, contentType string, code int, object runtime.Object) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	_ = info.Serializer.Encode(object, w)
}

// writeJSON writes indented JSON, as the real server writes what isn't negotiated
// (k8s.io/apiserver, pkg/endpoints/handlers/responsewriters, WriteRawJSON).
func writeJSON(w http.ResponseWriter, code int, object any) {
	text, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", jsonOnly)
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

// notAcceptable answers with 406 after a failed negotiation.
func notAcceptable(w http.ResponseWriter, err error) {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable, Message: err.Error()}
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	writeJSON(w, int(status.Code), &status)
}

// writeFailure answers with what the real server's router says: 404, 405 or 406, in the client's encoding.
func writeFailure(w http.ResponseWriter, r *http.Request, code int, message string) {
	status := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", message, 0, false).Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	write(w, r, code, &status)
}

// routed does what the real server's router (go-restful) does before a handler runs: it refuses all methods but GET,
// even HEAD, and an Accept header without any of the media types that are produced. It reports whether it let pass.
func routed(w http.ResponseWriter, r *http.Request, produces ...string) bool {
	if r.Method != http.MethodGet {
		writeFailure(w, r, http.StatusMethodNotAllowed, "405: Method Not Allowed")
		return false
	}
	if !Accepts(r.Header.Get("Accept"), produces) {
		writeFailure(w, r, http.StatusNotAcceptable, "406: Not Acceptable\n\nAvailable representations: "+strings.Join(produces, ", "))
		return false
	}
	return true
}

// Accepts is go-restful's rule: parameters and "application/*" mean nothing to it.
func Accepts(header string, produces []string) bool {
	if header == "" {
		return true
	}
	for clause := range strings.SplitSeq(header, ",") {
		mediaType, _, _ := strings.Cut(clause, ";")
		mediaType = strings.TrimSpace(mediaType)
		if mediaType == "*/*" {
			return true
		}
		for _, p := range produces {
			if p == mediaType {
				return true
			}
		}
	}
	return false
}
