package apply

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/replay"
)

// put brings one object of the tape to its present state in the cluster. had is
// what the cluster was found to have of it, or nil. Errors are those that end
// the replay; whatever concerns this object alone is counted.
func (a *Applier) put(ctx context.Context, k key, o *replay.Object, had object) error {
	a.count(func(l *reportBuilder) { l.Changes++ })
	way, err := a.mappingOf(ctx, k.resource)
	if err != nil {
		return err
	}
	t := a.get(k)
	if way.reason != "" || t != nil && t.skip != "" && t.tape == string(o.UID()) {
		reason := way.reason
		if reason == "" {
			reason = t.skip
		}
		a.skip(k, o, reason)
		return nil
	}
	w, err := a.prepare(k.resource, o, way.status)
	if err != nil {
		a.skip(k, o, err.Error())
		return nil
	}
	if t != nil && (t.tape != w.uid || t.skip != "") {
		if t.skip == "" {
			if err := a.remove(ctx, k, t.uid); err != nil {
				return err
			}
		}
		t = nil
	}
	w.holds(t)
	known, noted := t != nil, len(w.notes)
	switch {
	case t != nil:
		err = a.update(ctx, k, w, t)
	case had != nil:
		err = a.adopt(ctx, k, w, had)
	default:
		err = a.create(ctx, k, w)
	}
	if !known {
		noted = 0
	}
	for _, n := range w.notes[noted:] {
		a.count(func(l *reportBuilder) { l.change(k.resource.String(), n, w.where()) })
	}
	if errors.Is(err, errSettled) {
		err = nil
	}
	if err == nil || fatal(ctx, err) {
		return err
	}
	a.skip(k, o, whyNot(err))
	return nil
}

// fatal reports whether an error ends the replay, and doesn't concern one object
// alone.
func fatal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || apierrors.IsUnauthorized(err)
}
