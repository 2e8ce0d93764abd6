package fakeclient

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/testing"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay/internal/writes"
)

// Writes says what becomes of a write.
type Writes int

const (
	// Refuse answers every write with 405 Method Not Allowed.
	Refuse Writes = iota
	// Record accepts writes and logs them. The tape continues unchanged: what is
	// read after a write is what the tape says, as if it had been undone.
	//
	// They are validated and answered as an API server would whose state is the
	// tape's at that moment: 404, 409, 422 with its messages, budgets that stop
	// an eviction, a pod that is given its grace. What can't be known here
	// isn't checked: most rules of single fields, defaults, admission, quotas,
	// who owns a field; an apply patch finds no conflicts. Of a built-in
	// resource that isn't on the tape every well-formed write is accepted, for
	// Events and Leases; replay.Empty adds other resources.
	Record
)

func errClosed() error { return apierrors.NewServiceUnavailable("the replay is closed") }

// refuse is the answer to what a replay doesn't do.
func (c *Client) refuse(a testing.Action, why string) error {
	return writes.Refuse(c.player.Header(), c.player.Writable(), verbOf(a), a.GetResource().GroupResource(), why)
}

func verbOf(a testing.Action) string {
	if s := a.GetSubresource(); s != "" {
		return a.GetVerb() + " " + s
	}
	return a.GetVerb()
}

// write refuses or records.
func (c *Client) write(a testing.Action, as form) (runtime.Object, error) {
	r, sent, err := c.request(a)
	if err != nil {
		return nil, err
	}
	if c.writes != Record {
		return nil, c.refuse(a, "use fakeclient.WithWrites(fakeclient.Record) to accept writes and log them")
	}
	answer, err := c.writeHandler.Handle(context.Background(), r)
	if err != nil {
		return nil, err
	}
	obj, err := answered(answer.Object, as)
	if err != nil {
		return nil, err
	}
	c.log.Add(recorded{recordedWrite(answer.Entry, sent, r), a})
	return obj, nil
}

// request is an action as the write handler takes it, and the object that was sent.
func (c *Client) request(a testing.Action) (r writes.Request, sent runtime.Object, err error) {
	r = writes.Request{
		Verb: admitted(a), Resource: a.GetResource(), Subresource: a.GetSubresource(),
		Namespace: a.GetNamespace(), Name: nameOf(a),
	}
	switch a := a.(type) {
	case testing.CreateActionImpl:
		if r.Subresource == "" {
			r.Name = ""
		}
		o := a.CreateOptions
		r.Options = metav1.PatchOptions{DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation}
		sent = a.GetObject()
	case testing.UpdateActionImpl:
		o := a.UpdateOptions
		r.Options = metav1.PatchOptions{DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation}
		sent = a.GetObject()
	case testing.PatchActionImpl:
		r.PatchType, r.Body, r.Options = a.GetPatchType(), a.GetPatch(), a.PatchOptions
	case testing.DeleteActionImpl:
		r.Delete = a.DeleteOptions
	case testing.DeleteCollectionActionImpl:
		r.Delete, r.Selector = a.DeleteOptions, selectorOf(a)
	default:
		return r, nil, c.refuse(a, "unknown verb")
	}
	if sent != nil {
		sent = sent.DeepCopyObject()
		if r.Body, err = json.Marshal(sent); err != nil {
			return r, nil, apierrors.NewBadRequest(err.Error())
		}
	}
	return r, sent, nil
}

// selectorOf returns what a deletecollection is about: typed fakes keep selectors
// parsed, the twins as they were.
func selectorOf(a testing.DeleteCollectionActionImpl) metav1.ListOptions {
	o := a.ListOptions
	if o.LabelSelector == "" && a.ListRestrictions.Labels != nil {
		o.LabelSelector = a.ListRestrictions.Labels.String()
	}
	if o.FieldSelector == "" && a.ListRestrictions.Fields != nil {
		o.FieldSelector = a.ListRestrictions.Fields.String()
	}
	return o
}

// recordedWrite returns what the client's log says.
func recordedWrite(e writes.Entry, sent runtime.Object, r writes.Request) Write {
	w := Write{
		At: e.At, Verb: e.Verb, Resource: e.Resource, Subresource: e.Subresource, Namespace: e.Namespace, Name: e.Name,
		Object: sent, PatchType: e.PatchType, Selector: e.Labels, DryRun: e.DryRun,
	}
	if e.Fields != "" {
		if w.Selector += ";" + e.Fields; e.Labels == "" {
			w.Selector = e.Fields
		}
	}
	if r.Verb == writes.Patch {
		w.Body = append([]byte(nil), r.Body...)
	}
	return w
}

// answered decodes an answer. A Status that reports a failure is an error, as
// it is to a client of a server.
func answered(raw []byte, as form) (runtime.Object, error) {
	if rawjson.Text(raw, "kind") == "Status" && rawjson.Text(raw, "apiVersion") == "v1" {
		s := &metav1.Status{}
		if err := json.Unmarshal(raw, s); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if s.Status == metav1.StatusFailure {
			return nil, apierrors.FromObject(s)
		}
		return s, nil
	}
	obj, err := as.decode(raw)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("answer to a write: %w", err))
	}
	return obj, nil
}
