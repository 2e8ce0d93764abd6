package apply

import (
	"context"
)

// update goes from one state on the tape to the next.
func (a *Applier) update(ctx context.Context, k key, w *want, t *tracked) error {
	was, wasStatus := t.said()
	change := delta(was, w.main, true)
	if isPod(w.resource) {
		change = w.podPatch(change, was)
	}
	status := delta(wasStatus, w.status, true)
	binds := isPod(w.resource) && text(was, "spec", "nodeName") == "" && text(w.main, "spec", "nodeName") != ""
	ends := w.deleting && !t.ending
	if len(change) == 0 && status == nil && !binds && !ends {
		a.count(func(l *reportBuilder) { l.of(k.resource.String()).Unchanged++ })
		t.says(w)
		return nil
	}
	if err := a.send(ctx, k, w, t, "", change); err != nil {
		return err
	}
	if binds {
		if err := a.bind(ctx, k, w, t, ""); err != nil {
			return err
		}
	}
	if ends {
		if err := a.terminate(ctx, k, w, t); err != nil {
			return err
		}
	}
	if status != nil {
		if err := a.send(ctx, k, w, t, "status", object{"status": status}); err != nil {
			return err
		}
	}
	t.says(w)
	a.count(func(l *reportBuilder) { l.of(k.resource.String()).Updated++ })
	return nil
}

// bind has a pod run where the tape says.
func (a *Applier) bind(ctx context.Context, k key, w *want, t *tracked, bound string) error {
	node := text(w.main, "spec", "nodeName")
	if !isPod(k.resource) || bound != "" || node == "" || t.sent == nil && bound == node {
		return nil
	}
	body := object{
		"apiVersion": "v1", "kind": "Binding", "metadata": object{"name": k.name, "namespace": k.namespace},
		"target": object{"apiVersion": "v1", "kind": "Node", "name": node},
	}
	_, err := a.server.do(ctx, request{
		verb: Create, resource: k.resource, namespace: k.namespace, name: k.name, sub: "binding", body: encode(body),
	})
	t.version = "" // the answer doesn't say it
	return err
}
