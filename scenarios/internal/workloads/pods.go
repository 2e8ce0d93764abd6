package workloads

import (
	"encoding/json"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// podChanged has those controllers look that a pod's change concerns: its own, that which it had, or, of a pod without
// one, those that select it.
func (a *Actor) podChanged(c kube.Change, old, p *kube.Pod) {
	if was := c != kube.Added && old.Owner == nil; was {
		a.orphans[p.Namespace] = slices.DeleteFunc(a.orphans[p.Namespace], func(q *kube.Pod) bool { return q == p })
	}
	if c != kube.Deleted && p.Owner == nil {
		a.orphans[p.Namespace] = append(a.orphans[p.Namespace], p)
	}
	if c == kube.Modified && old.Owner != p.Owner {
		a.podOf(old.Owner)
	}
	if c != kube.Deleted && (p.Owner == nil || p.Owner.Kind == "Job" && !a.counts(p.Owner)) {
		a.untrack(p)
	}
	if p.Owner != nil {
		a.podOf(p.Owner)
		return
	}
	if c == kube.Modified && old.Owner == p.Owner && slices.Equal(old.Labels, p.Labels) {
		return
	}
	for _, k := range a.order {
		for _, o := range a.within[place{k.resource, p.Namespace}] {
			if o.selects.Matches(labelled{p.Labels}) {
				a.enqueue(o)
			}
		}
	}
}

func (a *Actor) podOf(owner *kube.Owner) {
	if owner != nil {
		a.enqueuePod(a.byUID[uidOf(owner)])
	}
}

// claim returns those of a controller's pods that it selects. It adopts pods that have no controller, and releases those
// of its own that it selects no longer (PodControllerRefManager of pkg/controller/controller_ref_manager.go). Only pods
// that concern says count; nil is all.
func (a *Actor) claim(o *object, concern func(*kube.Pod) bool) (mine []*kube.Pod) {
	ending, selects := o.api.GetDeletionTimestamp() != nil, &matching{selector: o.selects}
	for _, p := range slices.Clone(a.env.API.PodsOf(o.doc.UID)) {
		switch {
		case concern != nil && !concern(p):
		case selects.matches(p):
			mine = append(mine, p)
		case !ending:
			a.own(p, nil, func(p *kube.Pod) { p.SetFinalizer(jobTracking, false) })
		}
	}
	if ending || len(a.orphans[o.doc.Namespace]) == 0 {
		return mine
	}
	for _, p := range slices.Clone(a.orphans[o.doc.Namespace]) {
		if p.Terminating() || concern != nil && !concern(p) || !o.selects.Matches(labelled{p.Labels}) {
			continue
		}
		a.own(p, o.owner, func(p *kube.Pod) {
			if o.resource == "jobs" {
				p.SetFinalizer(jobTracking, true)
			}
		})
		mine = append(mine, p)
	}
	return mine
}

// own gives a pod another controller or none, and the changes that go with it. Its other owners stay.
func (a *Actor) own(p *kube.Pod, owner *kube.Owner, change func(*kube.Pod)) {
	was, finalizers := p.Owner, p.Finalizers
	set := func(p *kube.Pod) {
		p.Owner = owner
		change(p)
	}
	var refs []metav1.OwnerReference
	if a.Owners != nil {
		refs = slices.DeleteFunc(slices.Clone(a.Owners(p)), func(r metav1.OwnerReference) bool {
			return was != nil && r.UID == uidOf(was) || owner != nil && r.UID == uidOf(owner)
		})
	}
	if len(refs) == 0 {
		a.env.API.UpdatePod(p, set)
		return
	}
	if yes := true; owner != nil {
		refs = append(refs, metav1.OwnerReference{
			APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: uidOf(owner), Controller: &yes, BlockOwnerDeletion: &yes,
		})
	}
	next := *p
	set(&next)
	meta := map[string]any{"ownerReferences": refs}
	if !slices.Equal(next.Finalizers, finalizers) {
		meta["finalizers"] = next.Finalizers
	}
	patch, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		a.env.Fail(err)
		return
	}
	a.env.API.AmendPod(p, patch, set)
}

// A matching is a selector that remembers what it said last: the pods of a
// template share their labels, and there may be ten thousand of them.
type matching struct {
	selector labels.Selector
	of       kube.Pairs
	is       bool
}

func (m *matching) matches(p *kube.Pod) bool {
	if len(p.Labels) == 0 || len(p.Labels) != len(m.of) || &p.Labels[0] != &m.of[0] {
		m.of, m.is = p.Labels, m.selector.Matches(labelled{p.Labels})
	}
	return m.is
}

// jobTracking holds a Job's pod until the controller has counted it.
const jobTracking = batchv1.JobTrackingFinalizer

func uidOf(owner *kube.Owner) types.UID { return types.UID(owner.UID) }

// available reports whether a pod has been Ready for long enough (IsPodAvailable of pkg/api/v1/pod/util.go), and if it
// hasn't, when it will have.
func (a *Actor) available(p *kube.Pod, minReady int32) (is bool, in time.Duration) {
	c := p.Conditions.Get(string(corev1.PodReady))
	if c == nil || c.Status != "True" {
		return false, 0
	}
	wait := time.Duration(minReady) * time.Second
	if minReady == 0 {
		return true, 0
	}
	left := c.Transition.Second().Add(wait).Time().Sub(a.now())
	return left < 0, max(left, 0) + 1
}

// generated is a name for a new pod that is free.
func (a *Actor) generated(o *object, prefix string) string {
	const longest = 58 // MaxGeneratedNameLength of apiserver/pkg/storage/names
	if len(prefix) > longest {
		prefix = prefix[:longest]
	}
	for {
		name := string(o.stream.AppendSuffix([]byte(prefix), 5))
		if a.env.API.Pod(o.doc.Namespace, name) == nil {
			return name
		}
	}
}

// createPod creates a pod of a template. change completes it, and extra are merge patches of its text.
func (a *Actor) createPod(o *object, t *corev1.PodTemplateSpec, name string, change func(*kube.Pod), extra ...[]byte) error {
	m, err := a.prototype(o, t)
	if err != nil {
		return err
	}
	p := &kube.Pod{
		Meta: kube.Meta{
			Namespace: o.doc.Namespace, Name: name, Labels: m.labels, Annotations: m.annotations, Finalizers: m.finalizers, Owner: o.owner,
		},
		Template: m.template, Phase: string(corev1.PodPending),
	}
	if a.env.Version.PodGeneration() {
		p.Generation = 1
	}
	p.Gated = m.gated
	if m.volumes != nil {
		if p.Claim = m.claim; m.ephemeral {
			p.Claim = name + m.claim
		}
		extra = append([][]byte{m.volumes}, extra...)
	}
	if change != nil {
		change(p)
	}
	if a.Bounded != nil && a.Bounded(o.doc.Namespace) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}, Spec: *m.spec}
		if err := a.Charge(pod); err != nil {
			return err
		}
	}
	return a.env.API.CreatePod(p, extra...)
}

// created reports what came of a new pod (createPods of pkg/controller/controller_utils.go).
func (a *Actor) created(o *object, name string, err error) error {
	if err != nil {
		a.record(o, corev1.EventTypeWarning, "FailedCreate", "Error creating: "+err.Error())
		return err
	}
	a.record(o, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: "+name)
	return nil
}

// deletePod deletes a pod as a controller does, and says so.
func (a *Actor) deletePod(o *object, p *kube.Pod) {
	if a.env.API.DeletePod(p, kube.OwnGrace) {
		a.record(o, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: "+p.Name)
	}
}

// batches creates pods in batches, each twice the one before, a round trip apart (slowStartBatch of
// pkg/controller/replicaset/replica_set.go). It returns when to look again, 0 where all are created, and why one could
// not be. In a namespace that is at its end, none is.
func (a *Actor) batches(o *object, missing int, create func() error) (time.Duration, error) {
	if a.Ending(o.doc.Namespace) {
		return 0, nil
	}
	o.creating = max(2*o.creating, 1)
	for range min(missing, o.creating) {
		if err := create(); err != nil {
			return o.refuse(), err
		}
	}
	if missing > o.creating {
		return component.RoundTrip, nil
	}
	o.creating = 0
	return 0, nil
}

// refuse returns when to try again to create a pod: after 5 ms first, and twice as long each time, up to 1,000 s
// (DefaultTypedControllerRateLimiter of client-go/util/workqueue). A sync that has nothing to try again begins anew.
func (o *object) refuse() time.Duration {
	o.creating = 0
	o.failed = true
	o.refused = min(o.refused+1, 19)
	return min(5*time.Millisecond<<(o.refused-1), 1000*time.Second)
}
