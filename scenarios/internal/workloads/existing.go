package workloads

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// What a scenario does with workloads, in a client's place.

// AddExisting begins to keep a workload that was there before the cluster takes writes: its pods are there, and its status
// says so since it was born.
func (a *Actor) AddExisting(resource string, text []byte, born kube.Instant) error {
	k, api, err := read(resource, text)
	if err != nil {
		return err
	}
	a.born = born
	defer func() { a.born = 0 }()
	api.SetCreationTimestamp(a.stamp())
	api.SetGeneration(1)
	api.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
	o := a.know(k, api)
	next := o.api.DeepCopyObject().(apiObject)
	switch next := next.(type) {
	case *appsv1.ReplicaSet:
		status, _ := a.statusOfSet(o)
		next.Status = status
	case *appsv1.StatefulSet:
		s := &setSync{Actor: a, o: o, set: o.api.(*appsv1.StatefulSet)}
		pods := a.env.API.PodsOf(o.doc.UID)
		a.addRevision(o)
		s.revise(a.revisions(o))
		s.place(pods)
		next.Status = s.status()
		s.complete(&next.Status)
	case *appsv1.DaemonSet:
		a.addRevision(o)
		d := &daemonSync{Actor: a, o: o, set: o.api.(*appsv1.DaemonSet)}
		if current, _ := d.history(); current != nil {
			d.begin(current.api.GetLabels()[appsv1.DefaultDaemonSetUniqueLabelKey])
			d.place()
			next.Status = d.status()
		}
	case *batchv1.Job:
		now, s := a.stamp(), &next.Status
		s.StartTime, s.Ready, s.Terminating, s.UncountedTerminatedPods = &now, new(int32), new(int32), &batchv1.UncountedTerminatedPods{}
		for _, p := range a.env.API.PodsOf(o.doc.UID) {
			if s.Active++; p.Ready() {
				*s.Ready++
			}
		}
	case *appsv1.Deployment:
		r := &rollout{Actor: a, o: o}
		r.find()
		next.Status = r.status()
		if r.next != nil {
			reason, name, message := "ReplicaSetUpdated", r.next.doc.Name, "ReplicaSet %q is progressing."
			if rolledOut(next, &next.Status) {
				reason, message = rolloutDone, "ReplicaSet %q has successfully progressed."
			}
			r.say(&next.Status, appsv1.DeploymentProgressing, corev1.ConditionTrue, reason, fmt.Sprintf(message, name))
		}
	}
	a.take(o, next)
	a.writes(func() { a.env.API.CreateDocument(o.doc, o.text) })
	return nil
}

// AddRevisions has the templates of StatefulSets and DaemonSets that have no revision be those that their pods name. Where
// a tape has revisions without their data, the newest is the template's: both controllers number it highest
// (getStatefulSetRevisions, constructHistory).
func (a *Actor) AddRevisions() {
	var all []*object
	for _, o := range a.byUID {
		if o.resource == "statefulsets" || o.resource == "daemonsets" {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *object) int { return strings.Compare(a.doc.UID, b.doc.UID) })
	for _, o := range all {
		if revisions := a.revisions(o); len(revisions) > 0 {
			if newest := revisions[len(revisions)-1]; len(revised(newest).Data.Raw) == 0 {
				update(a, newest, func(rev *appsv1.ControllerRevision) { rev.Data.Raw = a.dataOf(o.template(o.api)) })
			}
			continue
		}
		a.addRevision(o)
	}
}

// addRevision has the template of a workload be the revision that its pods name. Where none of them names one, the
// controller makes it, and replaces them.
func (a *Actor) addRevision(o *object) {
	for _, p := range a.env.API.PodsOf(o.doc.UID) {
		name := p.Labels.Get(appsv1.ControllerRevisionHashLabelKey)
		if name == "" {
			continue
		}
		label, hash := "controller.kubernetes.io/hash", strings.TrimPrefix(name, o.doc.Name+"-")
		if o.resource == "daemonsets" {
			label, hash, name = appsv1.DefaultDaemonSetUniqueLabelKey, name, o.doc.Name+"-"+name
		}
		t := o.template(o.api)
		rev := o.newRevision(a.dataOf(t), 1, with(t.Labels, label, hash))
		rev.Name = name
		a.create(kinds["controllerrevisions"], rev)
		return
	}
}

// Create creates a workload. There must be none of its name.
func (a *Actor) Create(resource string, text []byte) error {
	k, api, err := read(resource, text)
	if err != nil {
		return err
	}
	api.SetCreationTimestamp(a.stamp())
	api.SetGeneration(1)
	a.add(k, api)
	return nil
}

func read(resource string, text []byte) (*kind, apiObject, error) {
	k := kinds[resource]
	if k == nil {
		return nil, nil, fmt.Errorf("%s: no workloads", resource)
	}
	api := k.empty()
	return k, api, json.Unmarshal(text, api)
}

var errNone = errors.New("there is no such workload")

// Scale sets the replicas of a workload, or a Job's parallelism.
func (a *Actor) Scale(resource, namespace, name string, replicas int32) error {
	o := a.byName[named{resource, namespace, name}]
	if o == nil {
		return errNone
	}
	update(a, o, func(api apiObject) {
		if n := replicasOf(api); n != nil {
			*n = replicas
		}
	})
	return nil
}

// Exists reports whether there is a workload of the name.
func (a *Actor) Exists(resource, namespace, name string) bool {
	return a.byName[named{resource, namespace, name}] != nil
}

// Replicas are those that a workload wants; 0 where there is none of the name.
func (a *Actor) Replicas(resource, namespace, name string) int {
	if o := a.byName[named{resource, namespace, name}]; o != nil {
		if n := replicasOf(o.api); n != nil {
			return int(*n)
		}
	}
	return 0
}

// Redefine changes the template of a workload's pods.
func (a *Actor) Redefine(resource, namespace, name string, change func(*corev1.PodTemplateSpec)) error {
	o := a.byName[named{resource, namespace, name}]
	if o == nil {
		return errNone
	}
	update(a, o, func(api apiObject) { change(o.template(api)) })
	return nil
}
