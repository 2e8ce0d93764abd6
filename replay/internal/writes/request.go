package writes

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The verbs of a [Request], as RBAC names them.
const (
	Create           = "create"
	Update           = "update"
	Patch            = "patch"
	Delete           = "delete"
	DeleteCollection = "deletecollection"
)

// Request is a write, freed from how it came.
type Request struct {
	Verb        string
	Resource    schema.GroupVersionResource
	Subresource string
	Namespace   string
	// Name is the one in the URL; a create has none but for a subresource.
	Name string
	// Body is JSON: the object of a create or update, the patch of a patch. An
	// apply patch may be YAML. It is not written to, nor kept.
	Body []byte
	// PatchType is that of a patch.
	PatchType types.PatchType
	// UserAgent is the client's, whose first word names it where no field manager
	// is said.
	UserAgent string
	// Options are those of a create, update or patch: CreateOptions and
	// UpdateOptions are a part of them.
	Options metav1.PatchOptions
	// Delete are the options of a delete or deletecollection.
	Delete metav1.DeleteOptions
	// Selector says what a deletecollection is about.
	Selector metav1.ListOptions
}

// Answer holds what an API server would say to a write that it accepts.
type Answer struct {
	// Code is the HTTP status: 200, 201 or 202.
	Code int
	// Object is the answer as JSON: an object, a list or a Status.
	Object []byte
	// Warnings belong in Warning headers (RFC 7234), code 299 each.
	Warnings []string
	// Entry holds what the log says about the write.
	Entry Entry
}

// dryRun reports whether nothing would have been stored.
func (r Request) dryRun() bool {
	return len(r.Options.DryRun) > 0 || len(r.Delete.DryRun) > 0
}

// BuiltIn reports whether the kind is one of Kubernetes' own, as far as
// apischeme has them.
func (r Request) BuiltIn() bool {
	_, ok := builtIns()[r.Resource]
	return ok
}
