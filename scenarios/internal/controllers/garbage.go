package controllers

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// What the controllers of workloads do about the end of objects. Those that a workload owns are the garbage collector's.

// Ending tells that a workload's object has a deletionTimestamp, with the generation that it has then: its controller
// keeps its pods no longer, and goes on to say how many there are.
func (ws *Workloads) Ending(uid string, generation int64) {
	o := ws.byUID[uid]
	if o == nil {
		return
	}
	if o.self.UID != uid {
		if one := o.revisionOf(uid); one != nil {
			one.set.Generation = generation
			ws.stop(one.w)
			o.react()
		}
		return
	}
	o.self.Generation = generation
	if !o.ending {
		o.ending = true
		if o.w.Kind != Deployment {
			ws.stop(o.w)
		}
		ws.letGo(o)
	}
	o.react()
}

// Deleted tells that a workload's object is gone. The ReplicaSets of a Deployment go on by themselves, until they are
// collected.
func (ws *Workloads) Deleted(uid string) {
	o := ws.byUID[uid]
	if o == nil {
		return
	}
	if o.self.UID != uid {
		if one := o.revisionOf(uid); one != nil {
			ws.env.API.PutDocumentAway(one.set)
			ws.stop(one.w)
			delete(ws.byUID, uid)
		}
		return
	}
	ws.env.API.PutDocumentAway(o.self)
	o.wait.Stop()
	ws.forget(o)
	for _, one := range o.revisions() {
		delete(ws.objects, one.w.owner)
		if o.w.Kind != Deployment {
			ws.stop(one.w)
			ws.letGo(o)
		} else if one.set != nil && !one.set.Gone() {
			ws.alone(o, one)
		}
	}
}

// alone has a ReplicaSet go on without its Deployment.
func (ws *Workloads) alone(o, one *object) {
	w := one.w
	w.Kind, w.Name, w.uid = ReplicaSet, w.owner.Name, w.owner.UID
	set := &object{w: w, self: one.set, stream: o.stream, replicas: one.inSet, status: one.setStatus, limits: quarters, born: o.born, ending: !w.begun}
	ws.objects[w.owner], ws.byUID[w.uid] = set, set
	set.react()
}

// Halt tells that a namespace is at its end: no pods can be created in it.
func (ws *Workloads) Halt(namespace string) {
	for _, o := range ws.objects {
		if o.w.Namespace == namespace {
			for _, one := range o.revisions() {
				ws.stop(one.w)
			}
		}
	}
}

// revisions are the object with those of a Deployment's earlier templates.
func (o *object) revisions() []*object { return append([]*object{o}, o.olds...) }

// revisionOf is that with a ReplicaSet, or nil.
func (o *object) revisionOf(set string) *object {
	for _, one := range o.revisions() {
		if one.set != nil && one.set.UID == set {
			return one
		}
	}
	return nil
}

// stop has a workload's pods kept no longer.
func (ws *Workloads) stop(w *workload) {
	w.begun = false
	w.waiting.Stop()
	delete(ws.byOwner, w.owner)
	ws.daemons = slices.DeleteFunc(ws.daemons, func(ds *daemonSet) bool { return ds.workload == w })
}

// forget has a workload found by its UID and its name no longer.
func (ws *Workloads) forget(o *object) {
	delete(ws.byUID, o.w.uid)
	for _, one := range o.revisions() {
		if one.set != nil {
			delete(ws.byUID, one.set.UID)
		}
	}
	if name := (workloadName{o.w.Namespace, o.w.Name}); ws.byName[name] == o.w {
		delete(ws.byName, name)
	}
}

// letGo takes the finalizer of a Job's controller from its pods, where the Job is at its end
// (canRemoveFinalizer and syncOrphanPod of pkg/controller/job/job_controller.go).
func (ws *Workloads) letGo(o *object) {
	if o.w.Kind != Job {
		return
	}
	ws.env.After(ws.env.Draw(&o.stream, ws.env.Timings.ControllerReact), func() {
		for _, p := range slices.Clone(ws.env.API.PodsOf(o.w.owner.UID)) {
			ws.env.API.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer(jobTracking, false) })
		}
	})
}
