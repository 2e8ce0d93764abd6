package media

import (
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status is the body of an answer that is an error, in a Form from [ForStatus]
// (or any other: its representation doesn't matter to a Status).
func Status(f Form, st *metav1.Status) []byte {
	if f.encoding == asProtobuf {
		if out, err := statusProtobuf(st); err == nil {
			return out
		}
	}
	f.shape = whole
	out, err := finish(f, statusText(st))
	if err != nil {
		return statusText(st)
	}
	return out
}

func statusText(st *metav1.Status) []byte {
	text, err := json.Marshal(complete(st))
	if err != nil { // a Status holds nothing that JSON can't
		return []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":500}`)
	}
	return text
}

// complete is the Status with its kind, as ErrorToAPIStatus of
// k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/status.go has it.
func complete(st *metav1.Status) *metav1.Status {
	var s metav1.Status
	if st != nil {
		s = *st
	}
	s.Kind, s.APIVersion = "Status", "v1"
	if s.Status == "" {
		s.Status = metav1.StatusFailure
	}
	if s.Code == 0 {
		s.Code = http.StatusInternalServerError
		if s.Status == metav1.StatusSuccess {
			s.Code = http.StatusOK
		}
	}
	return &s
}
