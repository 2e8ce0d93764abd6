package apply

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/internal/retry"
)

// create makes an object, and then brings it to where the tape has it: the
// server takes no status with a new pod or node, and adds what it likes.
func (a *Applier) create(ctx context.Context, k key, w *want) error {
	if err := a.createPrerequisites(ctx, w); err != nil {
		return err
	}
	raw, err := a.server.do(ctx, request{verb: Create, resource: k.resource, namespace: k.namespace, body: encode(w.main)})
	if apierrors.IsAlreadyExists(err) {
		return a.exists(ctx, k, w)
	}
	if err != nil {
		return err
	}
	have, err := decode(raw)
	if err != nil {
		return fmt.Errorf("create %s: answer: %w", k.resource, err)
	}
	t := a.keep(k, w, have)
	a.count(func(l *reportBuilder) { l.of(k.resource.String()).Created++ })
	if k.resource == definitions {
		if err := a.established(ctx, k); err != nil {
			return err
		}
	}
	return a.complete(ctx, k, w, t, have, false)
}

// exists deals with an object that is there already: of this replay (a create
// whose answer was lost), or another client's.
func (a *Applier) exists(ctx context.Context, k key, w *want) error {
	raw, err := a.server.do(ctx, request{verb: Get, resource: k.resource, namespace: k.namespace, name: k.name})
	if apierrors.IsNotFound(err) {
		return a.create(ctx, k, w) // gone in between
	}
	if err != nil {
		return err
	}
	have, err := decode(raw)
	if err != nil {
		return err
	}
	if text(have, "metadata", "labels", Label) != a.label {
		return fmt.Errorf("there is one of that name, and no replay of this tape has made it")
	}
	return a.adopt(ctx, k, w, have)
}

// adopt continues with an object that an earlier run has made.
func (a *Applier) adopt(ctx context.Context, k key, w *want, have object) error {
	uid := text(have, "metadata", "uid")
	if text(have, "metadata", "annotations", AnnotationUID) == w.uid && adoptable(w, have) {
		t := a.keep(k, w, have)
		err := a.complete(ctx, k, w, t, have, true)
		if err == nil {
			a.count(func(l *reportBuilder) { l.of(k.resource.String()).Adopted++ })
			return nil
		}
		if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
			return err
		}
		// It has gone too far to come back to where the tape has it.
	}
	if err := a.remove(ctx, k, uid); err != nil {
		return err
	}
	return a.create(ctx, k, w)
}

// adoptable reports whether an object can be brought to where the tape has it:
// nothing unbinds a pod, and nothing takes a deletion back.
func adoptable(w *want, have object) bool {
	if at(have, "metadata", "deletionTimestamp") != nil {
		return false
	}
	if !isPod(w.resource) {
		return true
	}
	is, wanted := text(have, "spec", "nodeName"), text(w.main, "spec", "nodeName")
	return is == "" || is == wanted
}

// complete does what is left to do for an object of which the cluster has have;
// see against for exact.
func (a *Applier) complete(ctx context.Context, k key, w *want, t *tracked, have object, exact bool) error {
	defer t.says(w) // refused too: the next change is sent next
	if err := a.send(ctx, k, w, t, "", serverPatch(w, have, exact)); err != nil {
		return err
	}
	if err := a.bind(ctx, k, w, t, text(have, "spec", "nodeName")); err != nil {
		return err
	}
	if w.deleting {
		if err := a.terminate(ctx, k, w, t); err != nil {
			return err
		}
	}
	if w.status != nil {
		now, _ := have["status"].(object)
		if patch := delta(now, w.status, true); patch != nil {
			if err := a.send(ctx, k, w, t, "status", object{"status": patch}); err != nil {
				return err
			}
		}
	}
	return nil
}

// established waits until the server serves what a definition defines.
func (a *Applier) established(ctx context.Context, k key) error {
	const most = 30 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("the server doesn't serve it after %s", most))
	defer cancel()
	for a.catalog.ask != nil && !a.dry {
		raw, err := a.server.do(ctx, request{verb: Get, resource: k.resource, name: k.name})
		if err != nil {
			return err
		}
		o, err := decode(raw)
		if err != nil {
			return err
		}
		for _, c := range elements(at(o, "status", "conditions")) {
			if text(c, "type") == "Established" && text(c, "status") == "True" {
				return nil
			}
		}
		if err := retry.Pause(ctx, a.clock, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
