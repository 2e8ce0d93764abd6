package controllers

import (
	"slices"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// claim has a pod adopted that no controller has and that a workload selects, and released where its workload selects
// it no longer (ClaimPods of pkg/controller/controller_ref_manager.go). Only a client's writes ask for either.
func (ws *Workloads) claim(c kube.Change, old, p *kube.Pod) {
	if c == kube.Deleted || !active(p) || c == kube.Modified && old.Owner == p.Owner && slices.Equal(old.Labels, p.Labels) {
		return
	}
	if p.Owner != nil {
		if o := ws.objects[p.Owner]; o != nil && !o.ending {
			for _, one := range o.revisions() {
				if one.w.owner == p.Owner && one.w.claims() && !one.w.selects(p) {
					ws.own(one.w, p, nil)
				}
			}
		}
		return
	}
	var by *workload
	for _, o := range ws.objects {
		for _, one := range o.revisions() {
			if w := one.w; w.begun && w.claims() && w.selects(p) && (by == nil || w.owner.UID < by.owner.UID) {
				by = w
			}
		}
	}
	if by != nil {
		ws.own(by, p, by.owner)
	}
}

// own gives a pod another owner, after the controller's reaction time.
func (ws *Workloads) own(w *workload, p *kube.Pod, owner *kube.Owner) {
	was := p.Owner
	ws.env.After(ws.env.Draw(&w.stream, ws.env.Timings.ControllerReact), func() {
		if !p.Gone() && p.Owner == was && w.begun && w.selects(p) == (owner != nil) {
			ws.env.API.UpdatePod(p, func(p *kube.Pod) { p.Owner = owner })
		}
	})
}

// claims reports whether the workload's controller adopts and releases pods here.
func (w *workload) claims() bool {
	return w.Kind == Deployment || w.Kind == ReplicaSet || w.Kind == StatefulSet
}

// selects reports whether a pod is one that the workload selects.
func (w *workload) selects(p *kube.Pod) bool {
	if p.Namespace != w.Namespace || !p.Labels.Holds(w.selector()) {
		return false
	}
	ss, is := w.keeper.(*statefulSet)
	return !is || strings.HasPrefix(p.Name, w.Name+"-") && ss.ordinal(p.Name) >= 0
}

// selector is that of the pods' owner.
func (w *workload) selector() kube.Pairs {
	s := w.Selector
	if s == nil {
		s = w.Template.Labels
	}
	const key = "pod-template-hash"
	if hash := w.labels.Get(key); hash != "" {
		s = s.With(key, hash)
	}
	return s
}
