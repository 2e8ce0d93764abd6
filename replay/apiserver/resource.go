package apiserver

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
	"github.com/nodesim/nodesim/replay/apiserver/internal/inbound"
	"github.com/nodesim/nodesim/replay/apiserver/internal/media"
	"github.com/nodesim/nodesim/replay/apiserver/internal/route"
	"github.com/nodesim/nodesim/replay/internal/writes"
	"github.com/nodesim/nodesim/timeline"
)

// resource is one kind of object that is served.
type resource struct {
	timeline.Resource
	maker      *media.Maker
	cluster    *replay.Cluster // that holds its objects
	definition []byte          // by which its objects come out, where clients may change it
	warning    string          // of a deprecated version
}

func (s *Server) newResource(r timeline.Resource) *resource {
	o := media.Options{
		Printer: (&printer{resource: r, definition: s.definition}).get,
		Now:     s.now,
	}
	var definition []byte
	warning := ""
	if s.player.Writable() && !discovery.BuiltIn(r.Group) {
		definition = s.definition(r)
		o.Shift, warning = writes.View(definition, r.Version)
	}
	if s.shifter != nil {
		o.Shift = func(raw []byte) ([]byte, error) { return s.shifter.Object(r, raw) }
	}
	return &resource{r, media.NewMaker(r, o), s.cluster, definition, warning}
}

// get answers with one object.
func (s *Server) get(w http.ResponseWriter, req *http.Request, r *resource, namespace, name string) error {
	form, err := media.Negotiate(req, r.Resource, media.Single)
	if err != nil {
		return err
	}
	if err := exported(req); err != nil {
		return err
	}
	o, err := r.cluster.Get(gvr(r.Resource), namespace, name, metav1.GetOptions{ResourceVersion: req.URL.Query().Get("resourceVersion")})
	if err != nil {
		return err
	}
	body, err := r.maker.Object(form, o)
	if err != nil {
		return err
	}
	out := media.Compress(w, req)
	w.Header().Set("Content-Type", form.ContentType())
	_, _ = out.Write(body)
	_ = out.Close()
	return nil
}

// scale answers with the replicas of a workload, its subresource scale.
func (s *Server) scale(w http.ResponseWriter, req *http.Request, r *resource, info *route.Info) error {
	o, err := r.cluster.Get(gvr(r.Resource), info.Namespace, info.Name, metav1.GetOptions{ResourceVersion: req.URL.Query().Get("resourceVersion")})
	if err != nil {
		return err
	}
	raw := o.Raw()
	if view, _ := writes.View(r.definition, r.Version); view != nil {
		if raw, err = view(raw); err != nil {
			return err
		}
	}
	raw, err = writes.Scale(raw, s.definition(r.Resource), r.Version)
	if err != nil {
		return err
	}
	return s.answer(w, req, r, info, http.StatusOK, raw)
}

// list answers with those that are selected.
func (s *Server) list(w http.ResponseWriter, req *http.Request, r *resource, namespace, name string) error {
	form, err := media.Negotiate(req, r.Resource, media.Collection)
	if err != nil {
		return err
	}
	opts, err := inbound.ListOptions(req, name)
	if err != nil {
		return err
	}
	l, err := r.cluster.List(gvr(r.Resource), namespace, opts)
	if err != nil {
		return err
	}
	out := media.Compress(w, req)
	w.Header().Set("Content-Type", form.ContentType())
	if err := r.maker.List(form, l, out); err != nil {
		if out.Begun() {
			panic(http.ErrAbortHandler) // half a list must not look like a whole one
		}
		return err
	}
	_ = out.Close() // what fails after the beginning is that the client is gone
	return nil
}

// definitions is where a tape keeps what custom resources are.
var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// definition returns the CustomResourceDefinition of a resource, where the tape
// holds it.
func (s *Server) definition(r timeline.Resource) []byte {
	if r.Group == "" {
		return nil
	}
	o, _, err := s.cluster.GetUnfaulted(definitions, "", r.Resource+"."+r.Group)
	if err != nil || rawjson.Text(o.Raw(), "spec", "group") != r.Group {
		return nil
	}
	return o.Raw()
}
