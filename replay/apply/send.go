package apply

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// send patches one part of an object. Where another client has written
// meanwhile, what the tape says is worked out against what is there, and sent
// again. What the server makes of it otherwise than wanted is counted.
func (a *Applier) send(ctx context.Context, k key, w *want, t *tracked, sub string, patch object) error {
	for len(patch) > 0 {
		body := object{}
		for name, v := range patch {
			body[name] = v
		}
		meta := object{}
		if m, ok := body["metadata"].(object); ok {
			for name, v := range m {
				meta[name] = v
			}
		}
		if t.uid != "" {
			meta["uid"] = t.uid
		}
		if t.version != "" {
			meta["resourceVersion"] = t.version
		}
		body["metadata"] = meta
		raw, err := a.server.do(ctx, request{
			verb: Patch, resource: k.resource, namespace: k.namespace, name: k.name, sub: sub, body: encode(body),
			strategic: isPod(k.resource) && sub == "",
		})
		switch {
		case err == nil:
			return a.sent(k, w, t, sub, raw)
		case apierrors.IsNotFound(err):
			return a.vanished(ctx, k, w, t)
		case !apierrors.IsConflict(err):
			return err
		}
		a.count(func(l *reportBuilder) { l.Conflicts++ })
		raw, err = a.server.do(ctx, request{verb: Get, resource: k.resource, namespace: k.namespace, name: k.name})
		if apierrors.IsNotFound(err) {
			return a.vanished(ctx, k, w, t)
		}
		if err != nil {
			return err
		}
		have, err := decode(raw)
		if err != nil {
			return err
		}
		if text(have, "metadata", "uid") != t.uid {
			return fmt.Errorf("another client has made another one of that name")
		}
		t.version = text(have, "metadata", "resourceVersion")
		if sub == "" {
			patch = serverPatch(w, have, false)
			continue
		}
		now, _ := have["status"].(object)
		if patch = delta(now, w.status, true); patch != nil {
			patch = object{"status": patch}
		}
	}
	return nil
}

// sent takes the server's answer to a patch.
func (a *Applier) sent(k key, w *want, t *tracked, sub string, raw []byte) error {
	have, err := decode(raw)
	if err != nil {
		return fmt.Errorf("patch %s: answer: %w", k.resource, err)
	}
	if have["kind"] == nil {
		return nil // a dry run's
	}
	t.version = text(have, "metadata", "resourceVersion")
	var other object
	if sub == "status" {
		now, _ := have["status"].(object)
		if d := delta(now, w.status, false); d != nil {
			other = object{"status": d}
		}
	} else {
		other = delta(have, w.main, false)
		if spec, ok := other["spec"].(object); ok && isPod(k.resource) {
			delete(spec, "schedulerName")
			delete(spec, "nodeName") // a binding says it
			if len(spec) == 0 {
				delete(other, "spec")
			}
		}
	}
	for _, p := range paths(other) {
		a.count(func(l *reportBuilder) { l.change(k.resource.String(), p+" is as the server has it", w.where()) })
	}
	return nil
}

// errSettled says that nothing is left to do for a change.
var errSettled = errors.New("settled")

// vanished deals with an object that another client has deleted.
func (a *Applier) vanished(ctx context.Context, k key, w *want, t *tracked) error {
	if w.deleting || t.ending {
		a.count(func(l *reportBuilder) {
			l.change(k.resource.String(), "it was gone before the tape says so", w.where())
		})
		return errSettled
	}
	a.count(func(l *reportBuilder) {
		l.change(k.resource.String(), "another client has deleted it: it was made again", w.where())
	})
	a.forget(k)
	if err := a.create(ctx, k, w); err != nil {
		return err
	}
	return errSettled
}

// whyNot is an error of the API server in a few words that don't hold the
// object's name, so that alike ones can be counted together.
func whyNot(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err.Error()
	}
	s := status.Status()
	if s.Details == nil || len(s.Details.Causes) == 0 || s.Reason != metav1.StatusReasonInvalid {
		return string(s.Reason) + ": " + s.Message
	}
	c := s.Details.Causes[0]
	return string(s.Reason) + ": " + c.Field + ": " + c.Message
}
