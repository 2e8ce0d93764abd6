package objects

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// garbage is the garbage collector (pkg/controller/garbagecollector): an object goes after the last of its owners. One
// that is deleted with propagation Foreground waits for the dependents that block it, one with Orphan takes its own
// reference from its dependents first.
type garbage struct {
	*Objects
	stream     model.Stream
	dependents map[types.UID]map[*Object]struct{} // by the owner's UID, whether it is there or not
	queue      []*Object                          // to look at, in the order in which they came
	queued     map[*Object]bool
	unresolved map[*Object]struct{} // with an owner of a kind that isn't known
	wait       *loop.Timer
}

var garbageCollector = kube.Source{Component: "garbage-collector-controller"}

func newGarbage(s *Objects) *garbage {
	return &garbage{
		Objects: s, stream: s.Env.Stream("garbage-collector"),
		dependents: map[types.UID]map[*Object]struct{}{}, queued: map[*Object]bool{}, unresolved: map[*Object]struct{}{},
	}
}

// soon has an object looked at after the controller's reaction time.
func (g *garbage) soon(x *Object) {
	if g.queued[x] {
		return
	}
	g.queued[x] = true
	g.queue = append(g.queue, x)
	if !g.wait.Pending() {
		g.wait = g.Env.Timer(g.Env.Draw(&g.stream, g.Env.Timings.ControllerReact), g.work)
	}
}

// again has those looked at whose owner was of a kind that wasn't known.
func (g *garbage) again() {
	for _, x := range inOrder(g.unresolved) {
		g.soon(x)
	}
	clear(g.unresolved)
}

// work looks at what was queued. What that leads to comes a reaction time later.
func (g *garbage) work() {
	queue := g.queue
	g.queue = nil
	for _, x := range queue {
		delete(g.queued, x)
		switch {
		case x.gone:
		case x.Deleting && slices.Contains(x.Finalizers, metav1.FinalizerOrphanDependents):
			g.orphan(x)
		case x.foreground():
			g.finish(x)
		case !x.Deleting:
			g.attempt(x)
		}
	}
}

// foreground reports whether an object waits for its dependents to go.
func (x *Object) foreground() bool {
	return x.Deleting && slices.Contains(x.Finalizers, metav1.FinalizerDeleteDependents)
}

// seen is processGraphChanges of graph_builder.go.
func (g *garbage) seen(c kube.Change, was, x *Object) {
	if c == kube.Deleted {
		delete(g.unresolved, x)
		for _, r := range x.Owners {
			g.unlink(x, r.UID)
			if owner := g.byUID[string(r.UID)]; owner != nil && owner.foreground() {
				g.soon(owner)
			}
		}
		for _, d := range inOrder(g.dependents[types.UID(x.UID)]) {
			g.soon(d)
		}
		return
	}
	if c == kube.Added {
		for i := range x.Owners {
			g.link(x, &x.Owners[i])
		}
	} else if !sameOwners(was.Owners, x.Owners) {
		g.relink(was, x)
	}
	begins := func(finalizer string) bool {
		return x.Deleting && slices.Contains(x.Finalizers, finalizer) && (was == nil || !was.Deleting || !slices.Contains(was.Finalizers, finalizer))
	}
	switch {
	case begins(metav1.FinalizerOrphanDependents):
		g.soon(x)
	case begins(metav1.FinalizerDeleteDependents):
		for _, d := range inOrder(g.dependents[types.UID(x.UID)]) {
			g.soon(d)
		}
		g.soon(x)
	}
}

func sameOwners(a, b []metav1.OwnerReference) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.OwnerReference) bool {
		return a.UID == b.UID && a.Name == b.Name && a.Kind == b.Kind && a.APIVersion == b.APIVersion && isTrue(a.BlockOwnerDeletion) == isTrue(b.BlockOwnerDeletion)
	})
}

func isTrue(b *bool) bool { return b != nil && *b }

// link notes a dependent of an owner. A reference that doesn't fit what is known of the owner is looked at.
func (g *garbage) link(x *Object, r *metav1.OwnerReference) {
	set := g.dependents[r.UID]
	if set == nil {
		set = map[*Object]struct{}{}
		g.dependents[r.UID] = set
	}
	set[x] = struct{}{}
	owner := g.byUID[string(r.UID)]
	if owner.meant(r, x.Namespace) {
		return
	}
	if owner != nil && owner.Namespace != "" && owner.Namespace != x.Namespace {
		about := kube.Reference{APIVersion: x.APIVersion(), Kind: x.Resource.Kind, Namespace: x.Namespace, Name: x.Name, UID: x.UID}
		message := "ownerRef " + coordinates(r, x.Namespace) + ` does not exist in namespace "` + x.Namespace + `"`
		g.Env.After(0, func() { g.Env.API.Record(garbageCollector, about, "Warning", "OwnerRefInvalidNamespace", message) })
	}
	g.soon(x)
}

// meant reports whether the object is the one that a reference of a dependent means.
func (x *Object) meant(r *metav1.OwnerReference, namespace string) bool {
	return x != nil && x.UID == string(r.UID) && x.Name == r.Name && x.Resource.Kind == r.Kind && x.APIVersion() == r.APIVersion &&
		(x.Namespace == "" || x.Namespace == namespace)
}

func (g *garbage) unlink(x *Object, owner types.UID) {
	set := g.dependents[owner]
	if delete(set, x); len(set) == 0 {
		delete(g.dependents, owner)
	}
}

// relink follows a change of an object's owners. An owner that waits for its dependents is looked at where this one
// blocks it no longer.
func (g *garbage) relink(was, x *Object) {
	for i := range was.Owners {
		r := &was.Owners[i]
		j := slices.IndexFunc(x.Owners, func(n metav1.OwnerReference) bool { return n.UID == r.UID })
		if isTrue(r.BlockOwnerDeletion) && (j < 0 || !isTrue(x.Owners[j].BlockOwnerDeletion)) {
			if owner := g.byUID[string(r.UID)]; owner != nil {
				g.soon(owner)
			}
		}
		if j < 0 {
			g.unlink(x, r.UID)
		}
	}
	for i := range x.Owners {
		g.link(x, &x.Owners[i])
	}
}

// An ownerState is what an owner reference comes to.
type ownerState int

const (
	present  ownerState = iota // the owner is there
	waiting                    // it is, and waits for its dependents to go
	dangling                   // it isn't
	unknown                    // its kind isn't known, or can't own this object
)

// stateOf is isDangling and classifyReferences. Where the kind of the owner is unknown, nothing is collected.
func (g *garbage) stateOf(x *Object, r *metav1.OwnerReference) ownerState {
	owner := g.byUID[string(r.UID)]
	if !owner.meant(r, x.Namespace) {
		kind := g.kindOf(r.APIVersion, r.Kind)
		switch {
		case kind == nil || kind.Namespaced && x.Namespace == "" || g.presumed[r.UID]:
			return unknown
		case kind.Namespaced:
			owner = g.byName[name{kind, x.Namespace, r.Name}]
		default:
			owner = g.byName[name{kind, "", r.Name}]
		}
		if owner == nil || owner.UID != string(r.UID) {
			return dangling
		}
	}
	if owner.foreground() {
		return waiting
	}
	return present
}

// Presume says that there is an owner, though nobody knows it: what it owns isn't collected.
func (s *Objects) Presume(owner types.UID) {
	if s.byUID[string(owner)] != nil {
		return
	}
	if s.presumed == nil {
		s.presumed = map[types.UID]bool{}
	}
	s.presumed[owner] = true
}

// attempt is attemptToDeleteItem.
func (g *garbage) attempt(x *Object) {
	if len(x.Owners) == 0 {
		return
	}
	var keep []metav1.OwnerReference
	waits := false
	for i := range x.Owners {
		switch g.stateOf(x, &x.Owners[i]) {
		case unknown:
			g.unresolved[x] = struct{}{}
			return
		case present:
			keep = append(keep, x.Owners[i])
		case waiting:
			waits = true
		case dangling:
		}
	}
	dependents := inOrder(g.dependents[types.UID(x.UID)])
	switch {
	case len(keep) == len(x.Owners):
	case len(keep) > 0:
		g.own(x, keep)
	case waits && len(dependents) > 0:
		if slices.ContainsFunc(dependents, (*Object).foreground) {
			g.unblock(x) // perhaps a circle
		}
		g.Delete(x, metav1.DeletePropagationForeground)
	case slices.Contains(x.Finalizers, metav1.FinalizerOrphanDependents):
		g.Delete(x, metav1.DeletePropagationOrphan)
	case slices.Contains(x.Finalizers, metav1.FinalizerDeleteDependents):
		g.Delete(x, metav1.DeletePropagationForeground)
	default:
		g.Delete(x, metav1.DeletePropagationBackground)
	}
}

// unblock has an object block the end of no owner.
func (g *garbage) unblock(x *Object) {
	refs := slices.Clone(x.Owners)
	for i := range refs {
		if isTrue(refs[i].BlockOwnerDeletion) {
			refs[i].BlockOwnerDeletion = new(bool)
		}
	}
	if !sameOwners(refs, x.Owners) {
		g.own(x, refs)
	}
}

// finish is processDeletingDependentsItem.
func (g *garbage) finish(x *Object) {
	blocked := false
	for _, d := range inOrder(g.dependents[types.UID(x.UID)]) {
		for i := range d.Owners {
			if d.Owners[i].UID == types.UID(x.UID) && isTrue(d.Owners[i].BlockOwnerDeletion) {
				blocked = true
				if !d.foreground() && !d.Deleting {
					g.soon(d)
				}
			}
		}
	}
	if !blocked {
		g.release(x, metav1.FinalizerDeleteDependents)
	}
}

// orphan is attemptToOrphanWorker.
func (g *garbage) orphan(x *Object) {
	for _, d := range inOrder(g.dependents[types.UID(x.UID)]) {
		g.own(d, slices.DeleteFunc(slices.Clone(d.Owners), func(r metav1.OwnerReference) bool { return r.UID == types.UID(x.UID) }))
	}
	g.release(x, metav1.FinalizerOrphanDependents)
}
