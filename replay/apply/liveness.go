package apply

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/replay"
)

// liveness knows the nodes whose kubelets live, by the tape: those whose Ready
// condition isn't Unknown. A controller manager believes the leases that their
// kubelets renew, so the applier has to.
type liveness struct {
	mu    sync.Mutex
	beats map[string]bool // by node; true once the lease is there
}

func (h *liveness) see(k key, o *replay.Object) {
	if !isNode(k.resource) {
		return
	}
	lives := false
	for c := range rawjson.Elements(rawjson.Get(o.Raw(), "status", "conditions")) {
		if rawjson.Text(c, "type") == "Ready" {
			lives = rawjson.Text(c, "status") != "Unknown"
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.beats == nil {
		h.beats = map[string]bool{}
	}
	_, beats := h.beats[k.name]
	switch {
	case lives && !beats:
		h.beats[k.name] = false
	case !lives:
		delete(h.beats, k.name)
	}
}

func (h *liveness) gone(k key) {
	if isNode(k.resource) {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.beats, k.name)
	}
}

func (h *liveness) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.beats)
}

// alive copies the nodes that live.
func (h *liveness) alive() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[string]bool, len(h.beats))
	for name, is := range h.beats {
		out[name] = is
	}
	return out
}

// keepAlive renews the leases of the nodes that live, until the context ends. A
// tape that holds leases says itself when they are renewed.
func (a *Applier) keepAlive(ctx context.Context) {
	if a.heartbeat <= 0 || slices.Contains(a.player.Header().Resources, leases) {
		return
	}
	for {
		for node, there := range a.liveness.alive() {
			if err := a.renew(ctx, node, there); err != nil && ctx.Err() == nil {
				a.count(func(l *reportBuilder) { l.skip(leases.String(), whyNot(err), node) })
			}
		}
		if retry.Pause(ctx, a.clock, a.heartbeat) != nil {
			return
		}
	}
}

// renew says that a node's kubelet lives, as a kubelet does.
func (a *Applier) renew(ctx context.Context, node string, there bool) error {
	const micro = "2006-01-02T15:04:05.000000Z07:00"
	spec := object{"renewTime": a.clock.Now().UTC().Format(micro), "holderIdentity": node, "leaseDurationSeconds": 40}
	r := request{verb: Patch, resource: leases, namespace: corev1.NamespaceNodeLease, name: node, body: encode(object{"spec": spec})}
	if there {
		if _, err := a.server.do(ctx, r); !apierrors.IsNotFound(err) {
			return err
		}
	}
	meta := object{"name": node, "labels": object{Label: a.label}}
	if t := a.get(key{resource: nodes, name: node}); t != nil && t.uid != "" {
		meta["ownerReferences"] = []any{object{"apiVersion": "v1", "kind": "Node", "name": node, "uid": t.uid}}
	}
	c := request{verb: Create, resource: leases, namespace: corev1.NamespaceNodeLease, body: encode(object{
		"apiVersion": leases.APIVersion(), "kind": leases.Kind, "metadata": meta, "spec": spec,
	})}
	_, err := a.server.do(ctx, c)
	if apierrors.IsAlreadyExists(err) {
		_, err = a.server.do(ctx, r)
	}
	if err == nil {
		a.liveness.mu.Lock()
		defer a.liveness.mu.Unlock()
		if _, lives := a.liveness.beats[node]; lives {
			a.liveness.beats[node] = true
		}
	}
	return err
}
