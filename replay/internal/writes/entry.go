package writes

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// Entry holds what the log says about a write. All of it is what the client sent or
// what the tape decides: it is the same from run to run.
type Entry struct {
	At          time.Duration // the tape's position
	Verb        string
	Resource    schema.GroupVersionResource
	Subresource string
	Namespace   string
	Name        string // of what was created too, if the server named it
	PatchType   types.PatchType
	// Body holds what was sent, as compact JSON. Of secrets and of tokens it is
	// nil, and Hidden is true.
	Body   json.RawMessage
	Hidden bool
	// Delete are the options of a delete, where there are any.
	Delete *metav1.DeleteOptions
	// Labels and Fields are the selectors of a deletecollection.
	Labels, Fields string
	DryRun         bool
	// Manager is the fieldManager that the client named, and Force is whether an
	// apply was forced.
	Manager string
	Force   bool
	// Code is the HTTP status of the answer, and Reason the Status' of a write
	// that was refused.
	Code   int
	Reason metav1.StatusReason
}

// entry returns what is logged of the write.
func (w *write) entry(a Answer) Entry {
	e := Entry{
		At: w.at, Verb: w.Verb, Resource: w.Resource, Subresource: w.Subresource,
		Namespace: w.Namespace, Name: w.Name, PatchType: w.PatchType,
		Labels: w.Selector.LabelSelector, Fields: w.Selector.FieldSelector,
		DryRun: w.dryRun(), Manager: w.Options.FieldManager, Code: a.Code,
	}
	e.Force = w.Options.Force != nil && *w.Options.Force
	if w.named != "" {
		e.Name = w.named
	}
	switch {
	case w.Verb == Delete || w.Verb == DeleteCollection:
		if opts := w.Delete; !emptyOptions(opts) {
			opts.TypeMeta = metav1.TypeMeta{}
			e.Delete = &opts
		}
	case hidden(w.Resource):
		e.Hidden = true
	default:
		e.Body = compact(w.Body, w.PatchType)
	}
	return e
}

func emptyOptions(o metav1.DeleteOptions) bool {
	o.TypeMeta = metav1.TypeMeta{}
	raw, err := json.Marshal(o)
	return err == nil && string(raw) == "{}"
}

// hidden reports whether what is written to a resource must stay secret.
func hidden(r schema.GroupVersionResource) bool {
	return r.Group == "" && r.Resource == "secrets" || strings.Contains(r.Resource, "token")
}

// compact is the body as JSON on one line, its members in the order in which
// they came.
func compact(body []byte, t types.PatchType) json.RawMessage {
	if t == types.ApplyYAMLPatchType {
		if doc, err := yaml.ToJSON(body); err == nil {
			body = doc
		}
	}
	if out, err := rawjson.Compact(nil, body); err == nil {
		return out
	}
	var out bytes.Buffer // what has a member twice
	if json.Compact(&out, body) != nil {
		return nil
	}
	return out.Bytes()
}
