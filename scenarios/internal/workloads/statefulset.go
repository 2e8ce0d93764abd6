package workloads

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// takenName is how long a StatefulSet waits until it looks again whether a name is free. The real one backs off.
const takenName = 10 * time.Second

// setSync is what a sync of a StatefulSet works with.
type setSync struct {
	*Actor
	o               *object
	set             *appsv1.StatefulSet
	first           int         // the lowest ordinal
	slots           []*kube.Pod // by ordinal from first on; nil where there is no pod
	beyond          []*kube.Pod // those of higher ordinals that are wanted, too; at least burst pods are missing before them
	condemned       []*kube.Pod // those of other ordinals, the highest first
	current, newest *object     // ControllerRevisions
	collisions      int32
	refused         bool // a pod
	again           time.Duration
}

// syncStatefulSet is a StatefulSet's controller (pkg/controller/statefulset/stateful_set_control.go).
func (a *Actor) syncStatefulSet(o *object) time.Duration {
	s := &setSync{Actor: a, o: o, set: o.api.(*appsv1.StatefulSet)}
	pods := a.claim(o, func(p *kube.Pod) bool { return ordinalOf(o, p) >= 0 })
	revisions := a.revisions(o)
	s.revise(revisions)
	if s.newest == nil {
		return takenName
	}
	s.place(pods)
	status := s.status()
	if s.set.DeletionTimestamp == nil && s.run() {
		status = s.status()
		if s.update() {
			status.CurrentReplicas--
		}
	} else {
		status = s.status()
	}
	s.complete(&status)
	if !equality.Semantic.DeepEqual(status, o.api.(*appsv1.StatefulSet).Status) {
		updateStatus(a, o, func(set *appsv1.StatefulSet) { set.Status = status })
	}
	s.truncate(revisions, pods)
	return s.again
}

// ordinalOf is the number of a StatefulSet's pod, -1 where its name has none of this StatefulSet.
func ordinalOf(o *object, p *kube.Pod) int {
	number, is := strings.CutPrefix(p.Name, o.doc.Name+"-")
	n, err := strconv.ParseUint(number, 10, 31)
	if !is || err != nil {
		return -1
	}
	return int(n)
}

// place sorts the pods by their ordinals.
func (s *setSync) place(pods []*kube.Pod) {
	if o := s.set.Spec.Ordinals; o != nil {
		s.first = int(o.Start)
	}
	s.slots = make([]*kube.Pod, min(int(*s.set.Spec.Replicas), len(pods)+burst))
	for _, p := range pods {
		switch i := ordinalOf(s.o, p); {
		case !s.wants(i):
			s.condemned = append(s.condemned, p)
		case i-s.first < len(s.slots):
			s.slots[i-s.first] = p
		default:
			s.beyond = append(s.beyond, p)
		}
	}
	slices.SortFunc(s.condemned, func(a, b *kube.Pod) int { return -cmp.Compare(ordinalOf(s.o, a), ordinalOf(s.o, b)) })
}

// wants reports whether a StatefulSet has a pod of an ordinal.
func (s *setSync) wants(ordinal int) bool {
	return ordinal >= s.first && ordinal-s.first < int(*s.set.Spec.Replicas)
}

// revise finds the revision of the template, and creates it where there is none (getStatefulSetRevisions).
func (s *setSync) revise(revisions []*object) {
	if c := s.set.Status.CollisionCount; c != nil {
		s.collisions = *c
	}
	next := int64(1)
	if n := len(revisions); n > 0 {
		next = revised(revisions[n-1]).Revision + 1
	}
	data := s.dataOf(&s.set.Spec.Template)
	for i, r := range slices.Backward(revisions) {
		if s.sameData(revised(r), data) {
			if s.newest = r; i < len(revisions)-1 && !s.sameData(revised(revisions[len(revisions)-1]), data) {
				s.renumber(r, next)
			}
			break
		}
	}
	for s.newest == nil {
		hash := dataHash(data, s.collisions)
		rev := s.o.newRevision(data, next, with(s.set.Spec.Template.Labels, "controller.kubernetes.io/hash", hash))
		prefix := s.o.doc.Name
		rev.Name = prefix[:min(len(prefix), 223)] + "-" + hash
		o, is := s.create(kinds["controllerrevisions"], rev)
		switch {
		case o == nil:
			return
		case is || s.sameData(revised(o), data):
			s.newest = o
		default:
			s.collisions++
		}
	}
	s.current = s.newest
	for _, r := range revisions {
		if r.doc.Name == s.set.Status.CurrentRevision {
			s.current = r
		}
	}
}

// status counts the pods (updateStatus).
func (s *setSync) status() appsv1.StatefulSetStatus {
	is := appsv1.StatefulSetStatus{
		ObservedGeneration: s.set.Generation, CurrentRevision: s.current.doc.Name, UpdateRevision: s.newest.doc.Name, CollisionCount: &s.collisions,
		Conditions: s.set.Status.Conditions,
	}
	for _, list := range [][]*kube.Pod{s.slots, s.beyond, s.condemned} {
		for _, p := range list {
			if p == nil {
				continue
			}
			is.Replicas++
			if p.Phase == string(corev1.PodRunning) && p.Ready() {
				is.ReadyReplicas++
				if s.isAvailable(p) {
					is.AvailableReplicas++
				}
			}
			if p.Terminating() || p.Gone() {
				continue
			}
			if revision := p.Labels.Get(appsv1.StatefulSetRevisionLabel); revision == s.current.doc.Name {
				is.CurrentReplicas++
			}
			if p.Labels.Get(appsv1.StatefulSetRevisionLabel) == s.newest.doc.Name {
				is.UpdatedReplicas++
			}
		}
	}
	return is
}

// complete makes the newest revision the current one when all pods have it (completeRollingUpdate).
func (s *setSync) complete(is *appsv1.StatefulSetStatus) {
	want := *s.set.Spec.Replicas
	if s.set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && is.UpdatedReplicas == want && is.ReadyReplicas == want && is.Replicas == want {
		is.CurrentReplicas, is.CurrentRevision = is.UpdatedReplicas, is.UpdateRevision
	}
}

// isAvailable reports whether a pod has been Ready for long enough; else the StatefulSet is looked at when it will have.
func (s *setSync) isAvailable(p *kube.Pod) bool {
	is, in := s.available(p, s.set.Spec.MinReadySeconds)
	s.again = sooner(s.again, in)
	return is
}

// out reports whether a pod isn't there for its clients (isUnavailable).
func (s *setSync) out(p *kube.Pod) bool { return p == nil || p.Terminating() || !s.isAvailable(p) }

// run creates the pods that are missing and deletes those that are too many, one after the other unless they may come
// and go at once: then it creates up to burst (MaxBatchSize), and more a round trip later. It reports whether there is
// nothing to wait for.
func (s *setSync) run() bool {
	parallel := s.set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
	ill, found := (*kube.Pod)(nil), false // the first that is unavailable
	note := func(p *kube.Pod) {
		if !found && s.out(p) {
			ill, found = p, true
		}
	}
	for _, p := range s.slots {
		note(p)
	}
	for _, p := range slices.Backward(s.condemned) {
		note(p)
	}
	created := 0
	for i := range s.slots {
		missing := s.slots[i] == nil
		if missing && created == burst {
			s.again = sooner(s.again, component.RoundTrip)
			return false
		}
		if s.keep(i, parallel) && (!parallel || s.refused) {
			return false
		}
		if missing && s.slots[i] != nil {
			created++
		}
	}
	for _, p := range s.condemned {
		s.retain(p)
	}
	for _, p := range s.condemned {
		switch {
		case p.Terminating():
		case !parallel && p != ill && (p.Phase != string(corev1.PodRunning) || !p.Ready() || !s.isAvailable(p)):
		default:
			s.delete(p)
		}
		if !parallel {
			return false
		}
	}
	return true
}

// keep has the pod of an ordinal there and well (processReplica). It reports whether the next one has to wait.
func (s *setSync) keep(i int, parallel bool) (wait bool) {
	p := s.slots[i]
	if p != nil && p.Terminal() {
		if !p.Terminating() {
			s.delete(p)
		}
		return true
	}
	if p == nil {
		if !s.createPodOf(i) {
			return true
		}
		p = s.slots[i]
		if !parallel {
			return true
		}
	}
	if p.Phase == string(corev1.PodPending) {
		_, _ = s.claims(p.Name, ordinalOf(s.o, p)) // the pod is there: it is tried again
	}
	if !parallel && (p.Terminating() || p.Phase != string(corev1.PodRunning) || !p.Ready() || !s.isAvailable(p)) {
		return true
	}
	s.retain(p)
	if p.Labels.Get(appsv1.StatefulSetPodNameLabel) != p.Name && !p.Terminating() {
		s.env.API.UpdatePod(p, func(p *kube.Pod) { p.Labels = identified(p.Labels, p.Name, i+s.first) })
		s.say("Update", p.Name)
	}
	return false
}

// identified are labels with those that name a StatefulSet's pod.
func identified(labels kube.Pairs, name string, ordinal int) kube.Pairs {
	return labels.With(appsv1.StatefulSetPodNameLabel, name).With(appsv1.PodIndexLabel, strconv.Itoa(ordinal))
}

// update replaces a pod that has an earlier template, the highest ordinal first, where all above it are well. It reports
// whether it did.
func (s *setSync) update() bool {
	u := &s.set.Spec.UpdateStrategy
	if u.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return false
	}
	partition := 0
	if u.RollingUpdate != nil && u.RollingUpdate.Partition != nil {
		partition = int(*u.RollingUpdate.Partition)
	}
	for i := len(s.slots) - 1; i >= partition; i-- {
		p := s.slots[i]
		if p != nil && p.Labels.Get(appsv1.StatefulSetRevisionLabel) != s.newest.doc.Name && !p.Terminating() {
			s.delete(p)
			return true
		}
		if s.out(p) {
			return false
		}
	}
	return false
}

func (s *setSync) delete(p *kube.Pod) {
	if s.env.API.DeletePod(p, kube.OwnGrace) {
		s.say("Delete", p.Name)
	}
}

// say reports what was done to a pod (recordPodEvent of pkg/controller/statefulset/stateful_pod_control.go).
func (s *setSync) say(verb, pod string) {
	s.record(s.o, corev1.EventTypeNormal, "Successful"+verb, fmt.Sprintf("%s Pod %s in StatefulSet %s successful", verb, pod, s.o.doc.Name))
}

// createPodOf creates the pod of an ordinal, with the template of its revision (newVersionedStatefulSetPod).
func (s *setSync) createPodOf(i int) bool {
	ordinal := i + s.first
	name := s.o.doc.Name + "-" + strconv.Itoa(ordinal)
	if s.Ending(s.o.doc.Namespace) {
		return false
	}
	if s.env.API.Pod(s.o.doc.Namespace, name) != nil {
		s.again = sooner(s.again, takenName) // somebody else's
		return false
	}
	revision := s.newest
	if u := &s.set.Spec.UpdateStrategy; u.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		if u.RollingUpdate == nil && i < int(s.set.Status.CurrentReplicas) || u.RollingUpdate != nil && u.RollingUpdate.Partition != nil && i < int(*u.RollingUpdate.Partition) {
			revision = s.current
		}
	}
	t := &s.set.Spec.Template
	if revision != s.newest {
		if old := s.templateOf(revised(revision)); old != nil {
			s.completeTemplate(old)
			t = old
		}
	}
	if all, err := s.claims(name, ordinal); !all {
		if err != nil {
			s.record(s.o, corev1.EventTypeWarning, "FailedCreate", fmt.Sprintf("Create Pod %s in StatefulSet %s failed error: %v", name, s.o.doc.Name, err))
		}
		return false
	}
	spec := map[string]any{"hostname": name}
	if s.set.Spec.ServiceName != "" {
		spec["subdomain"] = s.set.Spec.ServiceName
	}
	claim := ""
	if templates := s.set.Spec.VolumeClaimTemplates; len(templates) > 0 {
		claim = claimName(&templates[0], name)
		spec["volumes"] = s.volumes(t, name)
	}
	patch, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		s.env.Fail(err)
		return false
	}
	err = s.createPod(s.o, t, name, func(p *kube.Pod) {
		p.Labels = identified(p.Labels, name, ordinal).With(appsv1.StatefulSetRevisionLabel, revision.doc.Name)
		if claim != "" {
			own, templates := *p.Template, s.set.Spec.VolumeClaimTemplates
			own.Volume = templates[0].Name
			p.Claim, p.Template = claim, &own
			for i := 1; i < len(templates); i++ {
				p.OtherClaims = append(p.OtherClaims, claimName(&templates[i], name))
			}
		}
	}, patch)
	if err != nil {
		s.record(s.o, corev1.EventTypeWarning, "FailedCreate", fmt.Sprintf("Create Pod %s in StatefulSet %s failed error: %v", name, s.o.doc.Name, err))
		s.again, s.refused = sooner(s.again, s.o.refuse()), true
		return false
	}
	s.slots[i] = s.env.API.Pod(s.o.doc.Namespace, name)
	s.say("Create", name)
	return true
}

// truncate deletes the oldest revisions that no pod has, of which there are more than the StatefulSet keeps.
func (s *setSync) truncate(revisions []*object, pods []*kube.Pod) {
	limit := s.set.Spec.RevisionHistoryLimit
	if limit == nil || *limit < 0 {
		return
	}
	old := slices.DeleteFunc(slices.Clone(revisions), func(r *object) bool {
		return r == s.current || r == s.newest || slices.ContainsFunc(pods, func(p *kube.Pod) bool { return p.Labels.Get(appsv1.StatefulSetRevisionLabel) == r.doc.Name })
	})
	for _, r := range old[:max(len(old)-int(*limit), 0)] {
		s.remove(r, false)
	}
}
