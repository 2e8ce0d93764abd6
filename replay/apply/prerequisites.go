package apply

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/timeline"
)

// prerequisites holds what a replay needs around the objects of its tape, and what was
// found out about it, or made, so far.
type prerequisites struct {
	mu sync.Mutex
	is map[key]bool
}

// createPrerequisites makes what an object can't be created without: its namespace, and
// for a pod its service account. Classes that aren't there are left out of it.
func (a *Applier) createPrerequisites(ctx context.Context, w *want) error {
	if w.namespace != "" {
		if err := a.ensure(ctx, key{resource: namespaces, name: w.namespace}); err != nil {
			return err
		}
	}
	if !isPod(w.resource) {
		return nil
	}
	spec := part(w.main, "spec")
	if _, mirror := part(part(w.main, "metadata"), "annotations")[corev1.MirrorPodAnnotationKey]; !mirror {
		account := text(spec, "serviceAccountName")
		if account == "" {
			account = "default"
		}
		if err := a.ensure(ctx, key{serviceAccounts, w.namespace, account}); err != nil {
			return err
		}
	}
	// Both admissions refuse a pod of a class that isn't there (k8s.io/kubernetes,
	// plugin/pkg/admission/priority and runtimeclass).
	for field, r := range map[string]timeline.Resource{"priorityClassName": priorityClasses, "runtimeClassName": runtimeClasses} {
		name := text(spec, field)
		if name == "" || a.there(ctx, key{resource: r, name: name}) {
			continue
		}
		delete(spec, field)
		if r == runtimeClasses {
			delete(spec, "overhead") // goes with its class
		}
		w.note("spec.%s %s is left out: the cluster has no such class", field, name)
	}
	return nil
}

// there reports whether an object is in the cluster. It is asked for once.
func (a *Applier) there(ctx context.Context, k key) bool {
	a.prerequisites.mu.Lock()
	defer a.prerequisites.mu.Unlock()
	is, asked := a.prerequisites.is[k]
	if !asked {
		_, err := a.server.do(ctx, request{verb: Get, resource: k.resource, namespace: k.namespace, name: k.name})
		is = err == nil
		if err == nil || apierrors.IsNotFound(err) {
			a.prerequisites.has(k, is)
		}
	}
	return is
}

func (s *prerequisites) has(k key, is bool) {
	if s.is == nil {
		s.is = map[key]bool{}
	}
	s.is[k] = is
}

// ensure makes an object that is nothing but its name, where it isn't there.
func (a *Applier) ensure(ctx context.Context, k key) error {
	if a.there(ctx, k) || a.get(k) != nil {
		return nil
	}
	a.prerequisites.mu.Lock()
	defer a.prerequisites.mu.Unlock()
	if a.prerequisites.is[k] {
		return nil
	}
	body := object{"apiVersion": k.resource.APIVersion(), "kind": k.resource.Kind, "metadata": object{
		"name": k.name, "labels": object{Label: a.label},
	}}
	_, err := a.server.do(ctx, request{verb: Create, resource: k.resource, namespace: k.namespace, body: encode(body)})
	switch {
	case err == nil:
		a.count(func(l *reportBuilder) { l.of(k.resource.String()).Created++ })
	case !apierrors.IsAlreadyExists(err):
		return fmt.Errorf("create %s %s, which is needed for it: %w", k.resource, k.where(), err)
	}
	a.prerequisites.has(k, true)
	return nil
}
