package inbound

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/replay/apiserver/internal/route"
	"github.com/nodesim/nodesim/replay/internal/writes"
)

// IsWrite reports whether a request of this verb is one.
func IsWrite(verb string) bool {
	switch verb {
	case writes.Create, writes.Update, writes.Patch, writes.Delete, writes.DeleteCollection:
		return true
	}
	return false
}

// Decode reads a write. info describes its path. Errors are 400, 413 and
// 415, with the messages of k8s.io/apiserver/pkg/endpoints/handlers, which look
// at a request in the same order.
func Decode(req *http.Request, info *route.Info) (writes.Request, error) {
	r := writes.Request{
		Verb: info.Verb, UserAgent: req.UserAgent(),
		Resource:    schema.GroupVersionResource{Group: info.APIGroup, Version: info.APIVersion, Resource: info.Resource},
		Subresource: info.Subresource, Namespace: info.Namespace, Name: info.Name,
	}
	if r.Resource.Group == "" && r.Resource.Resource == "namespaces" {
		r.Namespace = ""
	}
	switch r.Verb {
	case writes.Create, writes.Update:
		return decodeObject(req, r)
	case writes.Patch:
		return decodePatch(req, r)
	case writes.Delete, writes.DeleteCollection:
		return decodeDelete(req, r)
	}
	return r, apierrors.NewMethodNotSupported(r.Resource.GroupResource(), r.Verb)
}

func decodeObject(req *http.Request, r writes.Request) (_ writes.Request, err error) {
	media, err := mediaType(req)
	if err != nil {
		return r, err
	}
	body, err := readBody(req)
	if err != nil {
		return r, err
	}
	if r.Options, err = patchOptions(req, r.Verb); err != nil {
		return r, err
	}
	r.Body, err = toJSON(body, media)
	return r, err
}

func decodePatch(req *http.Request, r writes.Request) (_ writes.Request, err error) {
	sent, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	r.PatchType = types.PatchType(sent)
	if err := writes.CheckPatchType(r.PatchType, r.BuiltIn()); err != nil {
		return r, err
	}
	if r.Body, err = readBody(req); err != nil {
		return r, err
	}
	r.Options, err = patchOptions(req, r.Verb)
	return r, err
}

func decodeDelete(req *http.Request, r writes.Request) (_ writes.Request, err error) {
	if r.Verb == writes.DeleteCollection {
		if r.Selector, err = ListOptions(req, ""); err != nil {
			return r, err
		}
	}
	body, err := readBody(req)
	if err != nil {
		return r, err
	}
	if len(body) == 0 {
		return r, parameters(req, &r.Delete)
	}
	media, err := mediaType(req)
	if err != nil {
		return r, err
	}
	err = decodeDeleteOptions(body, media, &r.Delete)
	return r, err
}

// patchOptions reads those of a create, update or patch, each of which knows
// its own parameters.
func patchOptions(req *http.Request, verb string) (o metav1.PatchOptions, err error) {
	switch verb {
	case writes.Create:
		var in metav1.CreateOptions
		err = parameters(req, &in)
		o.DryRun, o.FieldManager, o.FieldValidation = in.DryRun, in.FieldManager, in.FieldValidation
	case writes.Update:
		var in metav1.UpdateOptions
		err = parameters(req, &in)
		o.DryRun, o.FieldManager, o.FieldValidation = in.DryRun, in.FieldManager, in.FieldValidation
	default:
		err = parameters(req, &o)
	}
	return o, err
}

func parameters(req *http.Request, into runtime.Object) error {
	if err := internalscheme.ParameterCodec.DecodeParameters(req.URL.Query(), metav1.SchemeGroupVersion, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}
