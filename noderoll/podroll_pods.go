package noderoll

import "slices"

// podRoll holds the instances of a roll of pods, by name and sorted, with their
// counters and target. Each change costs what it touches; only a new target
// asks every pod again.
type podRoll struct {
	scope  PodScope
	target podTarget
	pods   map[podKey]*instance
	sorted []*instance
	count  PodCounts
	// rolling is set while a roll is seen in progress.
	rolling bool
	// settled says that the first list is over: what changes from now on is news.
	settled bool
	// changeSet, if set, takes the entries that changes give rise to.
	changeSet *changeSet
}

func newPodRoll(scope PodScope, t Target) *podRoll {
	return &podRoll{scope: scope, target: newPodTarget(t), pods: make(map[podKey]*instance)}
}

// follows reports whether a pod is an instance, or the successor in name of one.
func (r *podRoll) follows(p *Pod) bool {
	if r == nil {
		return false
	}
	_, known := r.pods[podKey{p.Namespace, p.Name}]
	return known || r.scope.Has(p)
}

// set takes in a pod. One that has ended is none: its owner makes another.
func (r *podRoll) set(i *Instance) {
	key := podKey{i.Namespace, i.Name}
	p := r.pods[key]
	if p != nil && i.UID != "" && p.view.UID != "" && i.UID != p.view.UID {
		r.drop(key, p) // another pod of the same name
		p = nil
	}
	switch {
	case p == nil && (i.ended() || !r.scope.Has(&i.Pod)):
		return
	case i.ended():
		r.drop(key, p)
		r.progress()
		return
	}
	fresh := p == nil
	if fresh {
		p = &instance{key: key}
		p.view.Namespace, p.view.Name = i.Namespace, i.Name
		r.pods[key] = p
		at, _ := slices.BinarySearchFunc(r.sorted, &p.view, func(p *instance, v *PodView) int { return byPod(&p.view, v) })
		r.sorted = slices.Insert(r.sorted, at, p)
	} else {
		r.count.Add(&p.view, -1)
	}
	retarget := p.observe(r, i, fresh)
	p.aim(r)
	r.count.Add(&p.view, 1)
	if retarget {
		r.retarget()
	}
	r.touch(p)
	r.progress()
}

// remove takes out a pod that is gone; see State.DeletePod for uid.
func (r *podRoll) remove(key podKey, uid string) {
	if p := r.pods[key]; p != nil && (uid == "" || p.view.UID == "" || uid == p.view.UID) {
		r.drop(key, p)
		r.progress()
	}
}

// late makes an update that takes too long a stuck one.
func (r *podRoll) late(p *instance) {
	r.count.Add(&p.view, -1)
	p.stuckOn = "DeadlineExceeded"
	p.view.Phase, p.view.Reason = p.phase(&p.last)
	r.count.Add(&p.view, 1)
	r.tell(p, EvtFailed, p.stuckOn, "the update is not done in time")
}

func (r *podRoll) drop(key podKey, p *instance) {
	r.count.Add(&p.view, -1)
	at, _ := slices.BinarySearchFunc(r.sorted, &p.view, func(p *instance, v *PodView) int { return byPod(&p.view, v) })
	r.sorted = slices.Delete(r.sorted, at, at+1)
	delete(r.pods, key)
	p.gone = true
	r.touch(p)
	r.tell(p, EvtTerminated, "", "")
}

// capture ends the first list: the images that are there are the old ones, but
// for those of an update that is under way.
func (r *podRoll) capture() {
	if r.settled {
		return
	}
	r.target.settle(r.sorted)
	r.settled = true
	r.retarget()
	r.progress()
}

// retarget decides again for every pod.
func (r *podRoll) retarget() {
	for _, p := range r.sorted {
		r.count.Add(&p.view, -1)
		p.aim(r)
		r.count.Add(&p.view, 1)
	}
}

// progress looks whether a roll has begun, or is over.
func (r *podRoll) progress() {
	c := &r.count
	switch {
	case !r.settled:
	case c.OffTarget > 0:
		r.rolling = r.rolling || c.OffTarget < c.Total
	case r.inProgress() && !r.rolling:
		r.rolling = true // all at once: the first look after it finds none off target
	case r.rolling && c.Complete():
		r.rolling = false
		r.note(Entry{Kind: EvtComplete, Message: count(c.Total, "pod") + " on target"})
	}
}

// inProgress reports whether pods are on their way to the target.
func (r *podRoll) inProgress() bool { return r.count.Updating+r.count.Resizing+r.count.Failed > 0 }

// tell notes what has happened to a pod, if it is news.
func (r *podRoll) tell(p *instance, kind EventKind, reason, message string) {
	r.note(Entry{Kind: kind, Node: p.view.Node, Object: "Pod/" + p.key.namespace + "/" + p.key.name, Reason: reason, Message: message})
}

func (r *podRoll) note(e Entry) {
	if r.changeSet != nil && r.settled {
		r.changeSet.entries = append(r.changeSet.entries, e)
	}
}

// touch notes a pod whose update may have begun or ended, for its deadline.
func (r *podRoll) touch(p *instance) {
	if r.changeSet != nil && !p.noted {
		p.noted = true
		r.changeSet.instances = append(r.changeSet.instances, p)
	}
}

// snapshot fills in what a Snapshot shows of the pods.
func (r *podRoll) snapshot(out *Snapshot) {
	out.Pods = make([]PodView, len(r.sorted))
	for i, p := range r.sorted {
		out.Pods[i] = p.view
	}
	out.PodCounts, out.PodTarget = r.count, r.target.String()
}

// follow takes over what an earlier roll of the same pods remembers, and continues
// from there to what this one has listed.
func (r *podRoll) follow(from *podRoll) {
	listed := r.sorted
	scope, target, changeSet := r.scope, r.target, r.changeSet
	*r = *from.clone()
	r.scope, r.changeSet = scope, changeSet
	if !target.auto {
		r.target = target
	}
	kept := make(map[podKey]bool, len(listed))
	for _, p := range listed {
		kept[p.key] = true
	}
	for _, p := range slices.Clone(r.sorted) {
		if !kept[p.key] {
			r.remove(p.key, "")
		}
	}
	for _, p := range listed {
		r.set(&p.last)
	}
	r.retarget()
}

func (r *podRoll) clone() *podRoll {
	c := *r
	c.target = r.target.clone()
	c.pods = make(map[podKey]*instance, len(r.pods))
	c.sorted = make([]*instance, len(r.sorted))
	for i, p := range r.sorted {
		own := *p
		own.containers = slices.Clone(p.containers)
		own.place, own.noted = 0, false
		c.sorted[i], c.pods[p.key] = &own, &own
	}
	return &c
}
