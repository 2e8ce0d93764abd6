package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay/apiserver/internal/inbound"
	"github.com/nodesim/nodesim/replay/apiserver/internal/media"
	"github.com/nodesim/nodesim/replay/apiserver/internal/route"
)

// ServeHTTP answers a request as kube-apiserver would.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if h := s.settings.mountedAt(req.URL.Path); h != nil {
		h.ServeHTTP(w, req)
		return
	}
	w.Header().Set("Cache-Control", "no-cache, private") // as filters/cachecontrol.go of k8s.io/apiserver
	info, err := route.Of(req)
	if err != nil { // a path that ends too early; kube-apiserver takes it for a mistake of its own, with 500
		s.catalog().discovery.ServeHTTP(w, req)
		return
	}
	switch {
	case info.IsResourceRequest:
		s.serveResource(w, req, info)
	case strings.HasPrefix(req.URL.Path, "/openapi/"):
		s.catalog().openapi.ServeHTTP(w, req)
	default:
		s.catalog().discovery.ServeHTTP(w, req) // 404 for what it doesn't know
	}
}

// serveResource answers what is below /api/v1 and /apis/GROUP/VERSION.
func (s *Server) serveResource(w http.ResponseWriter, req *http.Request, info *route.Info) {
	if err := s.player.CatchUp(); err != nil {
		refuse(w, req, err)
		return
	}
	if s.reviews(info) {
		if err := s.review(w, req, info); err != nil {
			refuse(w, req, err)
		}
		return
	}
	name := schema.GroupVersionResource{Group: info.APIGroup, Version: info.APIVersion, Resource: info.Resource}
	all := s.catalog()
	r := all.resources[name]
	write := inbound.IsWrite(info.Verb)
	// Of what isn't on the tape, writes may be taken: the write handler knows.
	if r == nil && !(write && s.writeHandler != nil) {
		all.discovery.ServeHTTP(w, req) // 404, in the form that this path has it
		return
	}
	if text := warning(r, write); text != "" {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
	}
	if r != nil && !write {
		if err := s.routed(req, r, info); err != nil {
			if apierrors.IsNotFound(err) && (info.Subresource == "" || s.builtin(r.Resource)) {
				all.discovery.ServeHTTP(w, req)
				return
			}
			refuse(w, req, err)
			return
		}
	}
	namespace := info.Namespace
	if r != nil && !r.Namespaced {
		namespace = ""
	}
	var err error
	switch {
	case write:
		err = s.write(w, req, r, info)
	case info.Verb == "get" && info.Subresource == "scale" && slices.Contains(all.subresources(r.Resource), "scale"):
		err = s.scale(w, req, r, info)
	case info.Verb == "get":
		err = s.get(w, req, r, namespace, info.Name)
	case info.Verb == "list":
		err = s.list(w, req, r, namespace, info.Name)
	case info.Verb == "watch":
		err = s.watch(w, req, r, namespace, info.Name)
	default:
		err = apierrors.NewMethodNotSupported(name.GroupResource(), info.Verb)
	}
	if err != nil {
		refuse(w, req, err)
	}
}

// refuse answers with an error, as the Status that it carries or as a 500.
func refuse(w http.ResponseWriter, req *http.Request, err error) {
	var status metav1.Status
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status = known.Status()
	} else {
		status = apierrors.NewInternalError(err).ErrStatus
	}
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	form := media.ForStatus(req)
	w.Header().Set("Content-Type", form.ContentType())
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(media.Status(form, &status))
}
