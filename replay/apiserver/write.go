package apiserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver/internal/inbound"
	"github.com/nodesim/nodesim/replay/apiserver/internal/media"
	"github.com/nodesim/nodesim/replay/apiserver/internal/route"
	"github.com/nodesim/nodesim/replay/internal/option"
	"github.com/nodesim/nodesim/replay/internal/writes"
	"github.com/nodesim/nodesim/timeline"
)

// Write is a write and how it was answered, as the log tells it. As JSON it is one line.
type Write = writes.Entry

// RecordWrites takes writes: they are validated, answered as an API server
// would, and told to record, in the order in which they were answered, one at a
// time. The tape continues unchanged: what is read after a write is what the tape
// says, as if it had been undone. Without this option every write is
// answered with 405. docs/writes.md says what is checked.
func RecordWrites(record func(Write)) Option {
	return option.New("apiserver.RecordWrites", func(s *settings) { s.record = record })
}

// KeepWrites takes writes of a Player whose cluster keeps them
// ([replay.Player.Writable]): what a client creates, changes and deletes is there
// for everybody who reads, and the cluster goes on from it. record is told of each
// write as in [RecordWrites], unless it is nil.
func KeepWrites(record func(Write)) Option {
	return option.New("apiserver.KeepWrites", func(s *settings) { s.keep, s.record = true, record })
}

// WriteLines is for RecordWrites and KeepWrites: record writes each write to w, as a line of
// JSON. The first error ends that; failed returns it.
func WriteLines(w io.Writer) (record func(Write), failed func() error) { return writes.Lines(w) }

// write answers a write. r is nil where the tape doesn't hold the resource.
func (s *Server) write(w http.ResponseWriter, req *http.Request, r *resource, info *route.Info) error {
	if r != nil && slices.Contains(kubelets, info.Subresource) {
		return s.withoutKubelet(r, info)
	}
	if s.writeHandler == nil {
		verb := info.Verb
		if info.Subresource != "" {
			verb += " " + info.Subresource
		}
		return s.refused(verb, gvr(r.Resource).GroupResource(), s.taking())
	}
	if r != nil { // before anything is accepted
		if _, err := media.Negotiate(req, r.Resource, media.Single); err != nil {
			return err
		}
	}
	decoded, err := inbound.Decode(req, info)
	if err != nil {
		return err
	}
	answer, err := s.writeHandler.Handle(req.Context(), decoded)
	for _, text := range answer.Warnings { // of a refusal too
		if header, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
			w.Header().Add("Warning", header)
		}
	}
	if err != nil {
		return err
	}
	return s.answer(w, req, r, info, answer.Code, answer.Object)
}

// refused says what this is, and why it doesn't do something.
func (s *Server) refused(verb string, gr schema.GroupResource, why string) error {
	return writes.Refuse(s.player.Header(), s.player.Writable(), verb, gr, why)
}

// taking says how a server takes writes.
func (s *Server) taking() string {
	if s.player.Writable() {
		return "with --writes=act, or apiserver.KeepWrites, writes are kept"
	}
	return "with --writes=record, or apiserver.RecordWrites, writes are taken and logged"
}

// answer answers with an object or Status that isn't the tape's. r is nil where
// the tape doesn't hold the resource.
func (s *Server) answer(w http.ResponseWriter, req *http.Request, r *resource, info *route.Info, code int, raw []byte) error {
	form, body, err := s.formed(req, r, info, raw)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", form.ContentType())
	w.WriteHeader(code)
	_, _ = w.Write(body) // the client is gone
	return nil
}

// formed puts an answer in the form that the client wants.
func (s *Server) formed(req *http.Request, r *resource, info *route.Info, raw []byte) (media.Form, []byte, error) {
	kind := rawjson.Text(raw, "kind")
	if kind == "Status" {
		var status metav1.Status
		if err := json.Unmarshal(raw, &status); err != nil {
			return media.Form{}, nil, fmt.Errorf("read the Status that a write is answered with: %w", err)
		}
		form := media.ForStatus(req)
		return form, media.Status(form, &status), nil
	}
	if info.Verb == "deletecollection" && strings.HasSuffix(kind, "List") {
		return media.Form{}, raw, nil // of a deletecollection: JSON, which every client takes
	}
	if r == nil || r.Kind != kind { // the tape doesn't hold it, or a Scale
		group, version, found := strings.Cut(rawjson.Text(raw, "apiVersion"), "/")
		if !found {
			group, version = "", group
		}
		r = s.newResource(timeline.Resource{Group: group, Version: version, Kind: kind, Resource: info.Resource, Namespaced: info.Namespace != ""})
	}
	form, err := media.Negotiate(req, r.Resource, media.Single)
	if err != nil {
		return form, nil, err
	}
	body, err := r.maker.Object(form, replay.NewObject(raw))
	return form, body, err
}
