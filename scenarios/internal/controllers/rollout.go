package controllers

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Limits are those of a Deployment's rollout at a number of replicas: how many pods there may be more than wanted, and
// how many may be unavailable. recreate has the old pods go before new ones are created.
type Limits func(replicas int) (surge, unavailable int, recreate bool)

// quarters are the limits that a Deployment has by default.
func quarters(replicas int) (surge, unavailable int, recreate bool) {
	return (replicas + 3) / 4, replicas / 4, false
}

// Limit sets the limits of a Deployment's rollouts.
func (ws *Workloads) Limit(uid string, limits Limits) {
	if o := ws.byUID[uid]; o != nil {
		o.limits = limits
	}
}

// Updates says how a StatefulSet or a DaemonSet is updated.
func (ws *Workloads) Updates(uid string, onDelete bool, partition int) {
	if o := ws.byUID[uid]; o != nil && o.self.UID == uid {
		o.w.OnDelete, o.w.Partition = onDelete, partition
	}
}

// Redeploy tells that a client has changed the template of a workload's pods. Of a Deployment, a new ReplicaSet replaces
// the one that is there, step by step; an earlier one with the same template isn't used again. The pods of a
// StatefulSet and a DaemonSet are replaced one after the other.
func (ws *Workloads) Redeploy(uid string, t PodTemplate) error {
	o := ws.byUID[uid]
	if o == nil || o.self.UID != uid {
		return nil
	}
	switch o.w.Kind {
	case StatefulSet, DaemonSet:
		return ws.update(o, t)
	case Deployment:
	case ReplicaSet, Job:
		return nil
	}
	w := o.w.Workload
	w.Template, w.Replicas, w.UID, w.Revision = t, 0, uid, len(o.olds)+2
	next, err := ws.make(w)
	if err != nil {
		return err
	}
	if name := (workloadName{w.Namespace, w.Name}); ws.byName[name] == o.w {
		ws.byName[name] = next
	}
	o.olds = append(o.olds, &object{w: o.w, set: o.set, inSet: o.inSet, setStatus: o.setStatus})
	o.w, o.set, o.inSet, o.setStatus = next, nil, 0, nil
	ws.objects[next.owner] = o
	ws.byOwner[next.owner] = next.keeper
	next.begun = true
	ws.env.API.SetScale(next.owner.UID, 0)
	o.set = &kube.Document{Meta: kube.Meta{Namespace: w.Namespace, Name: next.owner.Name, UID: next.owner.UID, Generation: 1}, Resource: "replicasets", Pending: true}
	ws.byUID[o.set.UID] = o
	ws.env.After(ws.env.Draw(&o.stream, ws.env.Timings.ControllerReact), func() {
		if o.self.Gone() || o.w != next {
			return
		}
		_, text, err := ws.text(Shown{
			Workload: next.Workload, UID: uid, Owner: *next.owner, Revision: w.Revision, Labels: next.labels, Created: ws.env.API.Now().Second(),
		})
		if err != nil {
			ws.env.Fail(err)
			return
		}
		o.setStatus = o.ofSet()
		ws.env.API.CreateDocument(o.set, text, patchOf("status", nil, o.setStatus))
		ws.env.API.PatchDocument(o.self, fmt.Appendf(nil, `{"metadata":{"annotations":{"deployment.kubernetes.io/revision":"%d"}}}`, w.Revision))
		o.react()
	})
	return nil
}

// revisionHash is the label by which the pods of a StatefulSet and a DaemonSet name their template.
const revisionHash = "controller-revision-hash"

// update gives a StatefulSet or a DaemonSet another template.
func (ws *Workloads) update(o *object, t PodTemplate) error {
	w := o.w.Workload
	w.Template, w.UID, w.Revision = t, o.w.uid, max(w.Revision, 1)+1
	next, err := ws.make(w)
	if err != nil {
		return err
	}
	o.w.Workload, o.w.template, o.w.labels = next.Workload, next.template, next.labels
	o.w.react(o.w.lookAgain)
	o.react()
	return nil
}

// lookAgain has the controller of a workload with another template look at its pods.
func (w *workload) lookAgain() {
	switch k := w.keeper.(type) {
	case *statefulSet:
		k.sync()
	case *daemonSet:
		k.scaled(0)
	}
}

// outdated reports whether a pod has an earlier template than its workload.
func (w *workload) outdated(p *kube.Pod) bool {
	return p.Labels.Get(revisionHash) != w.labels.Get(revisionHash)
}

// updated counts the pods with the newest template.
func (o *object) updated() (n int) {
	for _, p := range o.w.env.API.PodsOf(o.w.owner.UID) {
		if active(p) && !o.w.outdated(p) {
			n++
		}
	}
	return n
}

// roll is one step of a rollout: reconcileNewReplicaSet and reconcileOldReplicaSets of
// pkg/controller/deployment/rolling.go. A Deployment with one ReplicaSet only takes over what a scenario has scaled.
func (o *object) roll() {
	if len(o.olds) == 0 {
		if o.replicas != o.w.Replicas {
			o.respec(o.w.Replicas)
		}
		return
	}
	if o.setStatus == nil {
		return // there is no ReplicaSet yet
	}
	want := o.replicas
	surge, unavailable, recreate := o.limits(want)
	total, ready, oldPods := o.w.Replicas, 0, 0
	for _, old := range o.olds {
		total += old.w.Replicas
		ready += old.count().ready
		oldPods += len(o.w.env.API.PodsOf(old.w.owner.UID))
	}
	fresh := o.count()
	switch {
	case recreate:
		for _, old := range o.olds {
			old.w.scale(0)
		}
		if oldPods == 0 {
			o.w.scale(want)
		}
		return
	case o.w.Replicas > want:
		o.w.scale(want)
		return
	case o.w.Replicas < want && total < want+surge:
		o.w.scale(o.w.Replicas + min(want-o.w.Replicas, want+surge-total))
		return
	}
	spare := total - (want - unavailable) - (o.w.Replicas - fresh.ready)
	for _, old := range o.olds { // pods that aren't Ready go first
		if n := min(spare, old.w.Replicas-old.count().ready); n > 0 {
			old.w.scale(old.w.Replicas - n)
			spare -= n
		}
	}
	spare = min(spare, ready+fresh.ready-(want-unavailable))
	for _, old := range o.olds {
		if n := min(spare, old.w.Replicas); n > 0 {
			old.w.scale(old.w.Replicas - n)
			spare -= n
		}
	}
}

// respec writes the replicas that the scenario wants, as a client would.
func (o *object) respec(replicas int) {
	o.replicas = replicas
	o.self.Generation++
	o.w.env.API.PatchDocument(o.self, fmt.Appendf(nil, `{"metadata":{"generation":%d},"spec":{"replicas":%d}}`, o.self.Generation, o.replicas))
}

// scale sets the replicas of a workload.
func (w *workload) scale(replicas int) {
	from := w.Replicas
	if from == replicas {
		return
	}
	w.Replicas = replicas
	w.env.API.SetScale(w.owner.UID, replicas)
	if w.begun {
		w.keeper.scaled(from)
	}
}
