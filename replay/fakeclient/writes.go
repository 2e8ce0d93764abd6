package fakeclient

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"

	"github.com/nodesim/nodesim/replay"
)

// Writes says what becomes of a write.
type Writes int

const (
	// Refuse answers every write with 405 Method Not Allowed.
	Refuse Writes = iota
	// Record accepts writes and logs them. The tape goes on unchanged: what is
	// read after a write is what the tape says, as if somebody had undone it.
	//
	// What the tape knows is checked: a write to an object that isn't alive is
	// 404, a create of one that is 409, an update from an old version 409
	// Conflict. Nothing else is: no validation, defaulting, admission, budget
	// or finalizer. Of a resource that isn't on the tape everything is
	// accepted. A patch is answered with the patched object.
	Record
)

func errClosed() error { return apierrors.NewServiceUnavailable("the replay is closed") }

// refuse is the answer to what a replay doesn't do.
func (c *Client) refuse(a testing.Action, why string) error {
	gr := a.GetResource().GroupResource()
	err := apierrors.NewMethodNotSupported(gr, verbOf(a))
	err.ErrStatus.Message = fmt.Sprintf("%s of %s is not allowed: this is a replay of tape %q: %s", verbOf(a), gr, c.player.Header().Metadata.Name, why)
	err.ErrStatus.Code = http.StatusMethodNotAllowed
	return err
}

func verbOf(a testing.Action) string {
	if s := a.GetSubresource(); s != "" {
		return a.GetVerb() + " " + s
	}
	return a.GetVerb()
}

// write refuses or records.
func (c *Client) write(a testing.Action, as form) (runtime.Object, error) {
	if err := c.cluster.Admit(replay.Request{
		Verb: admitted(a), Resource: a.GetResource(), Subresource: a.GetSubresource(), Namespace: a.GetNamespace(), Name: nameOf(a),
	}); err != nil {
		return nil, err
	}
	if c.writes != Record {
		return nil, c.refuse(a, "use fakeclient.WithWrites(fakeclient.Record) to accept writes and log them")
	}
	w := Write{
		At: c.cluster.At(), Verb: a.GetVerb(), Resource: a.GetResource(),
		Subresource: a.GetSubresource(), Namespace: a.GetNamespace(),
	}
	ret, err := c.answer(&w, a, as)
	if err != nil {
		return nil, err
	}
	c.log.add(w, a)
	return ret, nil
}

// answer checks a write, fills in what it is about, and makes the reply.
func (c *Client) answer(w *Write, a testing.Action, as form) (runtime.Object, error) {
	switch a := a.(type) {
	case testing.CreateActionImpl:
		return c.create(w, a)
	case testing.UpdateActionImpl:
		return c.update(w, a)
	case testing.PatchActionImpl:
		w.Name, w.PatchType, w.Body = a.GetName(), a.GetPatchType(), append([]byte(nil), a.GetPatch()...)
		return c.patch(w, as)
	case testing.DeleteActionImpl:
		w.Name = a.GetName()
		_, err := c.alive(w)
		return &metav1.Status{Status: metav1.StatusSuccess}, err
	case testing.DeleteCollectionActionImpl:
		w.Verb = "deletecollection" // what the API calls it
		w.Selector = selectorOf(a.ListOptions, a.ListRestrictions)
		return &metav1.Status{Status: metav1.StatusSuccess}, nil
	}
	return nil, c.refuse(a, "unknown verb")
}

// alive returns the object that a write is about; nil and no error where the
// tape doesn't hold the resource.
func (c *Client) alive(w *Write) (*replay.Object, error) {
	if _, known := c.cluster.Resource(w.Resource); !known {
		return nil, nil
	}
	if o := c.cluster.Peek(w.Resource, w.Namespace, w.Name); o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(w.Resource.GroupResource(), w.Name)
}

func (c *Client) create(w *Write, a testing.CreateActionImpl) (runtime.Object, error) {
	obj := a.GetObject().DeepCopyObject()
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	w.Name, w.Object = m.GetName(), obj
	if a.Name != "" {
		w.Name = a.Name
	}
	if w.Name == "" && m.GetGenerateName() != "" {
		w.Name = fmt.Sprintf("%s%05d", m.GetGenerateName(), c.log.number())
		m.SetName(w.Name)
	}
	if w.Namespace != "" && m.GetNamespace() == "" {
		m.SetNamespace(w.Namespace)
	}
	there, err := c.alive(w)
	switch {
	case w.Subresource != "" && err != nil: // eviction, binding
		return nil, err
	case w.Subresource == "" && there != nil:
		return nil, apierrors.NewAlreadyExists(w.Resource.GroupResource(), w.Name)
	}
	return obj.DeepCopyObject(), nil
}

func (c *Client) update(w *Write, a testing.UpdateActionImpl) (runtime.Object, error) {
	obj := a.GetObject().DeepCopyObject()
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	w.Name, w.Object = m.GetName(), obj
	there, err := c.alive(w)
	if err != nil {
		return nil, err
	}
	if there != nil && m.GetUID() != "" && there.UID() != "" && m.GetUID() != there.UID() {
		return nil, conflict(w, fmt.Errorf("UID %s is gone, UID %s is alive", m.GetUID(), there.UID()))
	}
	if rv := m.GetResourceVersion(); there != nil && rv != "" && rv != there.ResourceVersion() {
		return nil, conflict(w, fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return obj.DeepCopyObject(), nil
}

func conflict(w *Write, why error) error {
	return apierrors.NewConflict(w.Resource.GroupResource(), w.Name, why)
}

func selectorOf(o metav1.ListOptions, r testing.ListRestrictions) string {
	label, field := o.LabelSelector, o.FieldSelector
	if label == "" && r.Labels != nil {
		label = r.Labels.String()
	}
	if field == "" && r.Fields != nil {
		field = r.Fields.String()
	}
	switch {
	case label != "" && field != "":
		return label + ";" + field
	case label != "":
		return label
	}
	return field
}

var patchNames = map[types.PatchType]string{
	types.JSONPatchType: "json", types.MergePatchType: "merge",
	types.StrategicMergePatchType: "strategic", types.ApplyYAMLPatchType: "apply",
	types.ApplyCBORPatchType: "apply-cbor",
}
