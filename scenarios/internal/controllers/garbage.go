package controllers

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// What the garbage collector does with the pods of a workload that a client deletes
// (pkg/controller/garbagecollector/garbagecollector.go).

// Deleted tells that a client has deleted a workload's object: its ReplicaSets and pods go after it.
func (ws *Workloads) Deleted(uid string) {
	o := ws.byUID[uid]
	if o == nil || o.self.UID != uid {
		return
	}
	ws.env.API.PutDocumentAway(o.self)
	if o.ending {
		return
	}
	ws.stop(o)
	for _, one := range o.revisions() {
		delete(ws.objects, one.w.owner)
	}
	ws.env.After(ws.env.Draw(&o.stream, ws.env.Timings.ControllerReact), func() {
		for _, one := range o.revisions() {
			if one.set != nil {
				ws.env.API.DropDocument(one.set)
			}
		}
		o.collect()
	})
}

// Ending tells that a client has asked for a workload's end: with dependents first, its pods go, and it goes with the
// last of them.
func (ws *Workloads) Ending(uid string) {
	if o := ws.byUID[uid]; o != nil && o.self.UID == uid && !o.ending {
		o.ending = true
		ws.stop(o)
		ws.env.After(ws.env.Draw(&o.stream, ws.env.Timings.ControllerReact), func() {
			o.collect()
			o.react()
		})
	}
}

// Orphan tells that a client has asked for a workload's end without that of its dependents: a Deployment's ReplicaSet
// goes on by itself, and pods without a controller run on.
func (ws *Workloads) Orphan(uid string) {
	o := ws.byUID[uid]
	if o == nil || o.self.UID != uid || o.ending {
		return
	}
	o.ending = true
	ws.env.After(ws.env.Draw(&o.stream, ws.env.Timings.ControllerReact), func() {
		api := ws.env.API
		if o.w.Kind != Deployment {
			ws.stop(o)
			for _, p := range slices.Clone(api.PodsOf(o.w.owner.UID)) {
				api.UpdatePod(p, func(p *kube.Pod) { p.Owner = nil })
			}
			api.DropDocument(o.self)
			return
		}
		ws.forget(o)
		api.DropDocument(o.self)
		for _, one := range o.revisions() {
			if one.set == nil {
				continue
			}
			api.PatchDocument(one.set, []byte(`{"metadata":{"ownerReferences":null}}`))
			w := one.w
			w.Kind, w.Name, w.uid = ReplicaSet, w.owner.Name, w.owner.UID
			alone := &object{w: w, self: one.set, stream: o.stream, replicas: one.inSet, status: one.setStatus, limits: quarters, born: o.born}
			ws.objects[w.owner], ws.byUID[w.uid] = alone, alone
			alone.react()
		}
	})
}

// revisions are the object with those of a Deployment's earlier templates.
func (o *object) revisions() []*object { return append([]*object{o}, o.olds...) }

// stop ends a workload's controller.
func (ws *Workloads) stop(o *object) {
	for _, one := range o.revisions() {
		w := one.w
		w.begun, w.Replicas = false, 0
		w.waiting.Stop()
		delete(ws.byOwner, w.owner)
		if one.set != nil {
			delete(ws.byUID, one.set.UID)
		}
		ws.daemons = slices.DeleteFunc(ws.daemons, func(ds *daemonSet) bool { return ds.workload == w })
	}
	o.wait.Stop()
	ws.forget(o)
}

// forget has a workload found by its UID and its name no longer.
func (ws *Workloads) forget(o *object) {
	delete(ws.byUID, o.w.uid)
	if name := (workloadName{o.w.Namespace, o.w.Name}); ws.byName[name] == o.w {
		delete(ws.byName, name)
	}
}

// collect deletes the pods of a workload.
func (o *object) collect() {
	api := o.w.env.API
	for _, one := range o.revisions() {
		for _, p := range slices.Clone(api.PodsOf(one.w.owner.UID)) {
			api.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer(jobTracking, false) })
			api.DeletePod(p, kube.OwnGrace)
		}
	}
}

// end removes the objects of a workload without pods.
func (o *object) end() {
	api := o.w.env.API
	for _, one := range o.revisions() {
		if len(api.PodsOf(one.w.owner.UID)) > 0 {
			return
		}
	}
	for _, one := range o.revisions() {
		if one.set != nil {
			api.DropDocument(one.set)
		}
	}
	api.DropDocument(o.self)
}
