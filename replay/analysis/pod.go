package analysis

import (
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
)

// pod is the life of a pod, by its UID.
type pod struct {
	objectName
	uid      string
	workload *workload
	class    *class
	labels   map[string]string
	place    *place // nil while it has no node
	slot     int    // among the place's pods

	initial, mirror, daemon               bool
	ready, pending, ended, deleting, gone bool
	available, evicted, lost              bool
	wasReady, counts                      bool // ready before the tape; a drain has to move it
	done, rests                           bool // phase Succeeded, and not by its deletion; its workload counts it so
	disruption                            string
	restarts, initRestarts                int
	containers                            []container
	named                                 map[string]int // the containers, where there are many

	// Moments that the tape hasn't shown are zero: lines count from one.
	created, scheduled, readyAt, deleted, left, goneAt Moment
	grace                                              time.Duration // that its deletion gave it
	finalizers                                         bool
	over                                               Moment // phase Succeeded or Failed
	pendingFrom                                        Moment
	whyPending, pendingReason                          string
	pullFrom, pullTo                                   Moment
	pullReason, pullMessage                            string
	volumeFrom, volumeTo                               Moment
	volumeReason, volumeMessage                        string

	held held // by a budget, while its node is drained
}

// is reports whether a moment is on the tape.
func (m Moment) is() bool { return m.Line > 0 }

// before reports whether the tape shows m before other.
func (m Moment) before(other Moment) bool {
	return m.At < other.At || m.At == other.At && m.Line < other.Line
}

// String is a pod as namespace/name.
func (n objectName) String() string { return n.namespace + "/" + n.name }

func (p *pod) evictable() bool { return !p.ended && !p.mirror && !p.daemon && !p.gone }

// pod takes a pod's event.
func (s *reading) pod(ev *timeline.Event, initial bool) error {
	id := objectName{ev.Namespace, ev.Name}
	p := s.pods[id]
	if p != nil && p.uid != "" && ev.UID != "" && p.uid != ev.UID {
		s.podGone(p)
		p = nil
	}
	if ev.Type == timeline.Deleted {
		if p != nil {
			if raw := ev.Patch; raw != nil {
				s.tellPod(p, raw, false)
			}
			s.podGone(p)
		}
		return nil
	}
	raw, whole := []byte(ev.Object), true
	if p != nil && ev.Patch != nil {
		raw, whole = ev.Patch, false
	}
	if raw == nil {
		return nil
	}
	if p == nil {
		p = &pod{objectName: id, uid: ev.UID, initial: initial}
		s.pods[id] = p
		s.allPods = append(s.allPods, p)
		if !initial {
			p.created = s.now
		}
		p.pendingFrom = s.now
		s.tellPod(p, raw, true)
		return nil
	}
	s.tellPod(p, raw, whole)
	return nil
}

// tellPod takes over what a text says of a pod.
func (s *reading) tellPod(p *pod, raw []byte, whole bool) {
	t, told := s.decoders.readPod(raw)
	if whole {
		told = ^podTold(0)
	}
	has := func(part podTold) bool { return told&part != 0 }
	first := p.workload == nil
	if has(toldMirror) {
		p.mirror = t.mirror
	}
	if has(toldLabels) {
		switch {
		case whole:
			p.labels = s.decoders.Set(t.labels)
		default:
			p.labels = s.decoders.Merge(p.labels, t.labels)
		}
	}
	if has(toldOwner) {
		p.daemon = t.ownerKind == "DaemonSet"
	}
	if first {
		p.workload = s.workloadOf(p, t.ownerKind, t.owner)
		p.restarts, p.initRestarts = 0, 0
		if p.initial {
			p.restarts, p.initRestarts = t.restarts, t.initRestarts
		}
	}
	if has(toldLabels) {
		s.setClass(p)
	}
	if has(toldConditions) {
		p.ready = t.ready
		p.wasReady = p.wasReady || first && p.initial && t.ready
		if t.disruption != "" {
			p.disruption = t.disruption
		}
		if t.reason != "" {
			p.pendingReason, p.whyPending = t.reason, t.unscheduled
		}
	}
	if has(toldGrace) {
		p.grace = time.Duration(min(t.grace, 1<<31)) * time.Second
	}
	if has(toldFinalizers) {
		p.finalizers = t.finalizers
	}
	if has(toldSpec) {
		p.asks(t.asked)
	}
	if has(toldContainers) {
		updates := p.replaced(t.statuses)
		p.workload.Updates += updates
		p.workload.restart(t.restarts-p.restarts-updates, s.now)
		p.restarts = t.restarts
	}
	if has(toldInit) {
		p.workload.restart(t.initRestarts-p.initRestarts, s.now)
		p.initRestarts = t.initRestarts
	}
	if has(toldContainers | toldInit) {
		p.waits(s.now, t.waiting, t.message)
	}
	if has(toldPhase) {
		p.pending = t.phase == string(corev1.PodPending) || t.phase == ""
		if p.ended = t.phase == string(corev1.PodSucceeded) || t.phase == string(corev1.PodFailed); p.ended && !p.over.is() {
			p.over = s.now
		}
		p.done = t.phase == string(corev1.PodSucceeded) && (p.done || !p.deleting && !t.deleting)
	}
	if has(toldNode) && t.node != "" && p.place == nil {
		s.schedule(p, t.node, first)
	}
	if has(toldDeleting) && t.deleting && !p.deleting {
		p.deleting = true
		if !(first && p.initial) {
			p.deleted = s.now
			s.countDeletion(p)
		}
	}
	s.podChanged(p)
}

// schedule puts a pod on its node.
func (s *reading) schedule(p *pod, node string, first bool) {
	if !(first && p.initial) {
		p.scheduled = s.now
	}
	p.workload.pended(p, s.now)
	pl := s.place(node)
	p.place, p.slot = pl, len(pl.pods)
	pl.pods = append(pl.pods, p)
}

// podChanged brings up to date what follows from a pod's state.
func (s *reading) podChanged(p *pod) {
	if p.ready && !p.readyAt.is() && !p.wasReady {
		p.readyAt = s.now
		if p.class != nil {
			for _, b := range p.class.budgets {
				b.ready = append(b.ready, p)
			}
		}
	}
	if p.ended || p.deleting {
		p.workload.pended(p, s.now)
	}
	w := p.workload
	if rests := p.done && !p.gone; rests != p.rests {
		w.pass(s.now.At)
		if p.rests = rests; rests {
			w.resting++
		} else {
			w.resting--
		}
	}
	if available := p.ready && !p.deleting && !p.ended && !p.gone; available != p.available {
		p.available = available
		by := 1
		if !available {
			by = -1
		}
		w.shift(s, by)
	}
	w.least(s.now)
	if p.place != nil {
		s.settlePod(p)
	}
}

// waits notes why a container of a pod waits.
func (p *pod) waits(now Moment, reason, message string) {
	switch reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable":
		if !p.pullFrom.is() {
			p.pullFrom = now
		}
		p.pullTo, p.pullReason, p.pullMessage = Moment{}, reason, message
	case "":
		if p.pullFrom.is() && !p.pullTo.is() {
			p.pullTo = now
		}
	}
}

// podGone ends a pod.
func (s *reading) podGone(p *pod) {
	p.goneAt = s.now
	if !p.deleted.is() && !(p.initial && p.deleting) {
		s.countDeletion(p)
	}
	p.workload.pended(p, s.now)
	p.gone = true
	p.workload.pass(s.now.At)
	p.workload.gone = append(p.workload.gone, p)
	s.podChanged(p)
	if pl := p.place; pl != nil {
		last := len(pl.pods) - 1
		pl.pods[p.slot] = pl.pods[last]
		pl.pods[p.slot].slot = p.slot
		pl.pods[last] = nil
		pl.pods = pl.pods[:last]
		s.forget(pl)
	}
	if p.class != nil {
		s.leaveClass(p)
	}
	delete(s.pods, p.objectName)
}

// countDeletion says how a pod's deletion came about.
func (s *reading) countDeletion(p *pod) {
	w := p.workload
	w.deletions = append(w.deletions, p)
	switch {
	case p.disruption == "EvictionByEvictionAPI": // pkg/registry/core/pod/storage/eviction.go of Kubernetes
		p.evicted = true
		w.Evicted++
	case !p.done && (p.disruption == "DeletionByPodGC" || !s.inGap() && p.place != nil && p.place.node == nil && s.nodesListed && (p.place.left || !s.header.Scope.Partial())):
		p.lost = true
		w.Lost++
	default:
		w.Deleted++
	}
}

// eventOf takes an Event: those of pods say when images were pulled and volumes attached.
func (s *reading) eventOf(ev *timeline.Event, _ bool) error {
	if ev.Type == timeline.Deleted || ev.Object == nil {
		return nil
	}
	raw := rawjson.Get(ev.Object, "reason")
	switch strings.Trim(string(raw), `"`) {
	case "Pulling", "Pulled", "FailedAttachVolume", "FailedMount", "FailedMapVolume", "SuccessfulAttachVolume":
	default:
		return nil
	}
	of := rawjson.Get(ev.Object, "involvedObject")
	if of == nil {
		of = rawjson.Get(ev.Object, "regarding")
	}
	if rawjson.Text(of, "kind") != "Pod" {
		return nil
	}
	p := s.pods[objectName{rawjson.Text(of, "namespace"), rawjson.Text(of, "name")}]
	if uid := rawjson.Text(of, "uid"); p == nil || uid != "" && p.uid != "" && uid != p.uid {
		return nil
	}
	reason, _ := s.decoders.Words.Text(raw)
	switch reason {
	case "Pulling":
		if !p.pullFrom.is() {
			p.pullFrom = s.now
		}
	case "Pulled":
		if p.pullFrom.is() {
			p.pullTo = s.now
		}
	case "SuccessfulAttachVolume":
		if p.volumeFrom.is() {
			p.volumeTo = s.now
		}
	default:
		if !p.volumeFrom.is() {
			p.volumeFrom = s.now
		}
		if !p.volumeTo.is() {
			message := rawjson.Text(ev.Object, "message")
			if message == "" {
				message = rawjson.Text(ev.Object, "note")
			}
			p.volumeReason, p.volumeMessage = reason, message
		}
	}
	return nil
}
