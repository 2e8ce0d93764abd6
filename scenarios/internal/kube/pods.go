package kube

import (
	"errors"
	"fmt"
	"iter"
	"maps"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// Pods returns all pods, in an order that the writes alone decide. The slice
// must not be changed, and is valid up to the next write of a pod.
func (s *Store) Pods() []*Pod { return s.all.pods }

// Pod returns the pod of a name, or nil.
func (s *Store) Pod(namespace, name string) *Pod { return s.pods[key{namespace, name}] }

// PodsOn returns the pods that are bound to a node; see [Store.Pods].
func (s *Store) PodsOn(node string) []*Pod { return s.onNode[node].list() }

// PodsOf returns the pods of a controller by its UID, or those that have none for ""; see [Store.Pods].
func (s *Store) PodsOf(owner string) []*Pod { return s.ofOwner[owner].list() }

// Owners returns the UIDs of all controllers that have pods, and "" where there are pods without one.
func (s *Store) Owners() iter.Seq[string] { return maps.Keys(s.ofOwner) }

func (l *podList) list() []*Pod {
	if l == nil {
		return nil
	}
	return l.pods
}

// CreatePod adds a pod. The caller fills in what the API server and its
// admission would: phase Pending and the tolerations of the template. Merge patches
// say what no field of the Pod does; they need a Document.
func (s *Store) CreatePod(p *Pod, patches ...[]byte) error {
	if p.Template == nil {
		return errors.New("a pod without a template")
	}
	k := key{p.Namespace, p.Name}
	if s.pods[k] != nil {
		return fmt.Errorf("pods %q already exists", p.Name)
	}
	if s.full() {
		return errFull
	}
	s.stamp(&p.Meta)
	if p.Gated && p.Conditions.Get("PodScheduled") == nil {
		// applySchedulingGatedCondition of pkg/registry/core/pod/strategy.go
		p.Conditions = p.Conditions.Set(Condition{
			Type: "PodScheduled", Status: "False", Reason: "SchedulingGated", Message: "Scheduling is blocked due to non-empty scheduling gates", Transition: p.Created.Second(),
		})
	}
	s.enter(p)
	var text func() []byte
	if base := p.Template.Document; base != nil {
		text = func() []byte {
			text := rawjson.Apply(nil, base, whole(s, (*writer).podOver, p)())
			for _, patch := range patches {
				text = rawjson.Apply(nil, text, patch)
			}
			return text
		}
	}
	add(s, &ofPods, &p.Meta, p, text)
	s.tellPods(Added, nil, p)
	return nil
}

// enter adds a pod to the lists.
func (s *Store) enter(p *Pod) {
	s.pods[key{p.Namespace, p.Name}] = p
	s.all.add(p)
	put(s.ofOwner, amongOwned, ownerOf(p), p)
	s.putOn(p)
}

// move puts a pod that has changed into the lists of its node and its owner.
func (s *Store) move(old, p *Pod) {
	if old.NodeName != p.NodeName {
		take(s.onNode, old.NodeName, p)
		s.putOn(p)
	}
	if old.Owner != p.Owner {
		take(s.ofOwner, ownerOf(old), p)
		put(s.ofOwner, amongOwned, ownerOf(p), p)
	}
}

// UpdatePod lets change work on a pod and writes what it did; see
// [Store.UpdateNode]. Binding is an update of NodeName.
func (s *Store) UpdatePod(p *Pod, change func(*Pod)) bool {
	if p.gone {
		return false
	}
	old := keep(s, &s.scratch.pod, p)
	change(p)
	patch, is := changed(s, &ofPods, old, p)
	if !is {
		return false
	}
	p.rv = s.version()
	s.move(old, p)
	modify(s, &ofPods, &p.Meta, old, p, patch)
	s.tellPods(Modified, old, p)
	if p.Terminating() && p.Grace == 0 && len(p.Finalizers) == 0 && s.cfg.Remote == nil {
		s.dropPod(p)
	}
	return true
}

// OwnGrace asks for a pod's own grace period.
const OwnGrace = int64(-1)

// DeletePod deletes a pod as the API server does (rest.BeforeDelete of
// apiserver/pkg/registry/rest/delete.go, CheckGracefulDelete of
// pkg/registry/core/pod/strategy.go). With grace, the pod gets a
// deletionTimestamp that lies so many seconds ahead, and its kubelet does the
// rest; one that is bound to no node, or has ended, needs none. A pod that is
// being deleted can only be hurried. Without grace, or where that is 0, it goes
// at once, unless finalizers hold it; watchers see the deletionTimestamp even so,
// in a write of its own (updateForGracefulDeletionAndFinalizers of
// apiserver/pkg/registry/generic/registry/store.go). DeletePod reports whether it did anything.
func (s *Store) DeletePod(p *Pod, grace int64) bool {
	if p.gone {
		return false
	}
	if r := s.outbound(); r != nil {
		if !p.Terminating() || grace != 0 { // what its kubelet says has ended, the status says already
			r.DeletePod(p, grace)
		}
		return true
	}
	hurried := grace != OwnGrace
	if !hurried {
		grace = p.Template.GraceSeconds
	}
	if p.NodeName == "" || p.Terminal() {
		grace = 0
	}
	if p.Terminating() {
		if !hurried || grace >= p.Grace {
			return false
		}
		// UpdatePod drops it where nothing holds it any more.
		return s.UpdatePod(p, func(p *Pod) { p.Deleting, p.Grace = min(p.Deleting, s.Now().Add(seconds(grace))), grace })
	}
	return s.UpdatePod(p, func(p *Pod) {
		p.Deleting, p.Grace = s.Now().Add(seconds(grace)), grace
		if p.Generation > 0 {
			p.Generation++
		}
	})
}

func (s *Store) dropPod(p *Pod) {
	old := keep(s, &s.scratch.pod, p)
	p.rv = s.version()
	p.gone = true
	delete(s.pods, key{p.Namespace, p.Name})
	s.all.remove(p)
	take(s.ofOwner, ownerOf(p), p)
	take(s.onNode, p.NodeName, p)
	remove(s, &ofPods, &p.Meta, p)
	s.tellPods(Deleted, old, p)
	s.forget("Pod", &p.Meta)
}

func (s *Store) tellPods(c Change, old, p *Pod) {
	s.watching++
	if r := s.outbound(); r != nil {
		r.PodWritten(c, old, p)
	}
	s.watchers.pods.tell(p.NodeName, c, old, p)
	s.watching--
}

func ownerOf(p *Pod) string {
	if p.Owner == nil {
		return ""
	}
	return p.Owner.UID
}

// putOn adds a pod to those of its node, where it has one.
func (s *Store) putOn(p *Pod) {
	if p.NodeName != "" {
		put(s.onNode, amongBound, p.NodeName, p)
	}
}

func put(index map[string]*podList, of listKind, k string, p *Pod) {
	l := index[k]
	if l == nil {
		l = &podList{of: of}
		index[k] = l
	}
	l.add(p)
}

func take(index map[string]*podList, k string, p *Pod) {
	if l := index[k]; l != nil {
		if l.remove(p); len(l.pods) == 0 {
			delete(index, k)
		}
	}
}
