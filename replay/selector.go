package replay

import (
	"github.com/nodesim/nodesim/timeline"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
)

// request is a list or a watch, checked and with its selectors parsed.
type request struct {
	namespace string
	labels    labels.Selector // nil for everything
	fields    []fieldTest
	opts      metav1.ListOptions
}

type fieldTest struct {
	name, value string
	get         func(*Object) string
	not         bool
}

// newRequest checks options as the API server does
// (k8s.io/apiserver/pkg/endpoints/handlers/get.go, ListResource).
func (c *Cluster) newRequest(r timeline.Resource, namespace string, opts metav1.ListOptions) (*request, error) {
	in := internalversion.ListOptions{
		Watch: opts.Watch, AllowWatchBookmarks: opts.AllowWatchBookmarks,
		ResourceVersion: opts.ResourceVersion, ResourceVersionMatch: opts.ResourceVersionMatch,
		Limit: opts.Limit, Continue: opts.Continue, SendInitialEvents: opts.SendInitialEvents,
	}
	internalversion.SetListOptionsDefaults(&in, true)
	if errs := validation.ValidateListOptions(&in, true); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	opts.SendInitialEvents, opts.ResourceVersionMatch = in.SendInitialEvents, in.ResourceVersionMatch
	q := &request{namespace: namespace, opts: opts}
	if opts.LabelSelector != "" {
		s, err := labels.Parse(opts.LabelSelector)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if !s.Empty() {
			q.labels = s
		}
	}
	if opts.FieldSelector == "" {
		return q, nil
	}
	return q, q.parseFields(r, c.definition(r))
}

func (q *request) parseFields(r timeline.Resource, definition []byte) error {
	s, err := fields.ParseSelector(q.opts.FieldSelector)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	for _, want := range s.Requirements() {
		label, get, err := selectableField(r, definition, want.Field)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		q.fields = append(q.fields, fieldTest{label, want.Value, get, want.Operator == selection.NotEquals})
	}
	return nil
}

// single reports whether the request names one object, which a server then looks up by its key
// (registry/generic/registry/store.go of k8s.io/apiserver, ListPredicate).
func (q *request) single(r timeline.Resource) bool {
	if q.opts.Continue != "" || r.Namespaced && q.namespace == "" {
		return false
	}
	_, is := q.named()
	return is
}

// named is the one name that the request's field selector asks for.
func (q *request) named() (name string, is bool) {
	for i := range q.fields {
		if f := &q.fields[i]; f.name == metav1.ObjectNameField && !f.not {
			return f.value, true
		}
	}
	return "", false
}

// everything reports whether the request selects no part of the namespace.
func (q *request) everything() bool { return q.labels == nil && len(q.fields) == 0 }

// matches reports whether the request is for o; nil is never asked for.
func (q *request) matches(o *Object) bool {
	if o == nil || (q.namespace != "" && o.namespace != q.namespace) {
		return false
	}
	if q.labels != nil && !q.labels.Matches(o.Labels()) {
		return false
	}
	for i := range q.fields {
		f := &q.fields[i]
		if (o.field(f.name, f.get) == f.value) == f.not {
			return false
		}
	}
	return true
}
