package apply

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// holds has a finalizer keep an object that is being deleted, until the tape
// says that it is gone. It isn't needed where the server keeps it by itself:
// bound pods that have not ended, for their grace
// (pkg/registry/core/pod, CheckGracefulDelete).
func (w *want) holds(t *tracked) {
	if !w.deleting {
		return
	}
	var was, status object
	if t != nil {
		was, status = t.said()
	}
	phase := text(status, "phase")
	needed := !isPod(w.resource) || text(w.main, "spec", "nodeName") == "" || phase == "Succeeded" || phase == "Failed"
	if t != nil && t.ending { // too late for another
		needed = at(was, "metadata", "finalizers") != nil
	}
	if needed {
		part(w.main, "metadata")["finalizers"] = []any{holder}
	}
}

// terminate has the server show the object as being deleted.
func (a *Applier) terminate(ctx context.Context, k key, w *want, t *tracked) error {
	options := object{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
	if isPod(k.resource) {
		options["gracePeriodSeconds"] = w.grace
	}
	if t.uid != "" {
		options["preconditions"] = object{"uid": t.uid}
	}
	raw, err := a.server.do(ctx, request{verb: Delete, resource: k.resource, namespace: k.namespace, name: k.name, body: encode(options)})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return a.vanished(ctx, k, w, t)
	}
	if err != nil {
		return err
	}
	t.ending = true
	have, err := decode(raw)
	if err != nil {
		return err
	}
	t.version = ""
	if text(have, "metadata", "uid") == t.uid {
		t.version = text(have, "metadata", "resourceVersion")
	}
	return nil
}

// drop returns what follows a DELETED on the tape.
func (a *Applier) drop(ctx context.Context, k key) error {
	a.count(func(l *reportBuilder) { l.Changes++ })
	t := a.get(k)
	if t == nil || t.skip != "" {
		reason := "it was never written"
		if t != nil {
			reason = t.skip
		}
		a.count(func(l *reportBuilder) { l.skip(k.resource.String(), reason, k.where()) })
		a.forget(k)
		return nil
	}
	if err := a.remove(ctx, k, t.uid); err != nil {
		if fatal(ctx, err) {
			return err
		}
		a.count(func(l *reportBuilder) { l.skip(k.resource.String(), whyNot(err), k.where()) })
		a.forget(k)
		return nil
	}
	if was, _ := t.said(); a.dry && at(was, "metadata", "finalizers") != nil {
		if err := a.release(ctx, k, t.uid); err != nil { // a real server's answer asks for it
			return err
		}
	}
	a.forget(k)
	a.count(func(l *reportBuilder) { l.of(k.resource.String()).Deleted++ })
	return nil
}

// remove deletes an object at once, and it alone: not another one that has
// taken its name. What is gone already is no error.
func (a *Applier) remove(ctx context.Context, k key, uid string) error {
	if uid == "" && !a.dry {
		return nil // nothing is deleted by its name alone
	}
	options := object{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
	if isPod(k.resource) {
		options["gracePeriodSeconds"] = 0
	}
	if uid != "" {
		options["preconditions"] = object{"uid": uid}
	}
	r := request{verb: Delete, resource: k.resource, namespace: k.namespace, name: k.name, body: encode(options)}
	raw, err := a.server.do(ctx, r)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case err != nil:
		return err
	}
	var left struct {
		Metadata struct {
			UID        string   `json:"uid"`
			Finalizers []string `json:"finalizers"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &left); err != nil || len(left.Metadata.Finalizers) == 0 {
		return err
	}
	return a.release(ctx, k, left.Metadata.UID)
}

// release lets an object go that waits for its finalizers: of their controllers none
// but us is here.
func (a *Applier) release(ctx context.Context, k key, uid string) error {
	_, err := a.server.do(ctx, request{
		verb: Patch, resource: k.resource, namespace: k.namespace, name: k.name,
		body: encode(object{"metadata": object{"uid": uid, "finalizers": nil}}),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
