package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/timeline"
)

// Cleanup takes away everything that replays of this tape have written: what
// carries the label with the tape's name, and nothing else. Events and pods go
// first, nodes last; namespaces that a replay made go with all that is in them.
// What the user may not list or delete stays, and the Report says so. It plays
// nothing, needs no Open, and may be repeated.
func (a *Applier) Cleanup(ctx context.Context) (Report, error) {
	err := a.connect(ctx)
	if err == nil {
		err = a.sweep(ctx)
	}
	return a.Report(), err
}

func (a *Applier) sweep(ctx context.Context) error {
	resources := slices.Clone(a.player.Header().Resources)
	for _, r := range []timeline.Resource{leases, serviceAccounts, definitions, namespaces, nodes} {
		if !slices.Contains(resources, r) {
			resources = append(resources, r)
		}
	}
	order := func(r timeline.Resource) int {
		switch {
		case isNode(r):
			return last + 2
		case r == namespaces:
			return last + 1
		case r == serviceAccounts:
			return last
		case r == definitions:
			return last - 1
		}
		return -rank(r)
	}
	slices.SortStableFunc(resources, func(x, y timeline.Resource) int { return order(x) - order(y) })
	for _, r := range resources {
		if f, err := a.catalog.find(ctx, r); err != nil {
			return fmt.Errorf("cluster %s: %w", a.host, err)
		} else if !f.served {
			continue
		}
		err := a.sweepResource(ctx, r)
		if apierrors.IsForbidden(err) {
			a.count(func(l *reportBuilder) { l.skip(r.String(), whyNot(err), "") })
			continue
		}
		if err != nil {
			return fmt.Errorf("clean up %s: %w", r, err)
		}
	}
	return nil
}

func (a *Applier) sweepResource(ctx context.Context, r timeline.Resource) error {
	uids := map[key]string{}
	var keys []key
	if err := a.each(ctx, r, a.ours(), func(o object) error {
		k := key{r, text(o, "metadata", "namespace"), text(o, "metadata", "name")}
		uids[k] = text(o, "metadata", "uid")
		keys = append(keys, k)
		return nil
	}); err != nil {
		return err
	}
	return a.inWaves(ctx, keys, func(key) int { return 0 }, func(ctx context.Context, k key) error {
		err := a.remove(ctx, k, uids[k])
		if err == nil && r == namespaces && !a.dry {
			err = a.ended(ctx, k)
		}
		if err == nil {
			a.count(func(l *reportBuilder) { l.of(r.String()).Deleted++ })
		}
		return err
	})
}

// ended waits until a namespace is gone. That is the work of a controller; where
// none is, and nothing is left in the namespace, it is finalized here.
func (a *Applier) ended(ctx context.Context, k key) error {
	const tries = 50
	var raw []byte
	for range tries {
		var err error
		raw, err = a.server.do(ctx, request{verb: Get, resource: namespaces, name: k.name})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := retry.Pause(ctx, a.clock, 100*time.Millisecond); err != nil {
			return err
		}
	}
	left, err := a.left(ctx, k.name)
	if err != nil {
		return err
	}
	if left != "" {
		return fmt.Errorf("namespace %s is still there, with %s in it: want a controller manager that empties it, or nothing of others in it", k.name, left)
	}
	o, err := decode(raw)
	if err != nil {
		return err
	}
	part(o, "spec")["finalizers"] = []any{}
	_, err = a.server.do(ctx, request{verb: Put, resource: namespaces, name: k.name, sub: "finalize", body: encode(o)})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// left names a resource of which there is something in a namespace, or "".
func (a *Applier) left(ctx context.Context, namespace string) (string, error) {
	versions := []string{"v1"}
	raw, err := a.catalog.ask.get(ctx, "/apis")
	if err != nil {
		return "", err
	}
	var groups metav1.APIGroupList
	if err := json.Unmarshal(raw, &groups); err != nil {
		return "", err
	}
	for _, g := range groups.Groups {
		versions = append(versions, g.PreferredVersion.GroupVersion)
	}
	for _, version := range versions {
		list, err := a.catalog.list(ctx, version)
		if err != nil {
			return "", err
		}
		gv, err := schema.ParseGroupVersion(version)
		if err != nil {
			return "", err
		}
		for _, s := range list {
			if !s.Namespaced || !slices.Contains(s.Verbs, "list") {
				continue
			}
			r := timeline.Resource{Group: gv.Group, Version: gv.Version, Kind: s.Kind, Resource: s.Name, Namespaced: true}
			raw, err := a.server.do(ctx, request{verb: List, resource: r, namespace: namespace})
			if err != nil {
				return "", err
			}
			o, err := decode(raw)
			if err != nil {
				return "", err
			}
			if len(elements(o["items"])) > 0 {
				return r.String(), nil
			}
		}
	}
	return "", nil
}
