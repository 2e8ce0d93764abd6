package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// badRequest is an error that is answered with 400.
type badRequest string

func (e badRequest) Error() string      { return string(e) }
func (e badRequest) InvalidInput() bool { return true }

func notImplemented(what string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusNotImplemented, what+": this node has none")
	})
}

func writeError(w http.ResponseWriter, err error) { writeText(w, statusOf(err), err.Error()) }

// writeStatus says an error to clients that ask for streams. SPDY clients before client-go 0.36 read text as YAML, in which
// "pod x: not found" is a mapping: they showed nothing of it (NewConnection in k8s.io/apimachinery, pkg/util/httpstream/spdy).
func writeStatus(w http.ResponseWriter, err error) {
	code := statusOf(err)
	h := w.Header()
	h.Del("Content-Length")
	h.Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Message: err.Error(), Code: int32(code),
	})
}

func writeText(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Del("Content-Length")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// statusOf is the HTTP status for an error; the first of its causes that says what it is decides.
func statusOf(err error) int {
	status, budget := http.StatusInternalServerError, maxCauses
	walk(err, &budget, func(err error) bool {
		kind, isNotFound := err.(interface{ NotFound() bool })
		input, isInput := err.(interface{ InvalidInput() bool })
		_, isAPI := err.(apierrors.APIStatus)
		switch {
		case isNotFound && kind.NotFound(), isAPI && apierrors.IsNotFound(err):
			status = http.StatusNotFound
		case isInput && input.InvalidInput(), isAPI && (apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)):
			status = http.StatusBadRequest
		default:
			return false
		}
		return true
	})
	return status
}

// maxCauses bounds the walk, since an error may be a cause of itself.
const maxCauses = 64

// walk shows an error and then its causes to visit, until that returns true or the budget is used up.
func walk(err error, budget *int, visit func(error) bool) bool {
	if err == nil || *budget == 0 {
		return false
	}
	*budget--
	if visit(err) {
		return true
	}
	if e, ok := err.(interface{ Cause() error }); ok {
		return walk(e.Cause(), budget, visit)
	}
	if e, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.ContainsFunc(e.Unwrap(), func(one error) bool { return walk(one, budget, visit) })
	}
	return walk(errors.Unwrap(err), budget, visit)
}
