package controllers

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// A Shown workload is one whose own object can be read, and what its text is made of.
type Shown struct {
	Workload
	UID string // of the workload's own object
	// Owner is that of the pods: the ReplicaSet of a Deployment, else the workload.
	Owner kube.Owner
	// Revision is a Deployment's, from 1 on.
	Revision int
	// Labels are those of the pods, the hash of their template included.
	Labels  kube.Pairs
	Created kube.Instant
}

// Show has the workloads' own objects exist: Deployments with their ReplicaSets, StatefulSets, DaemonSets and Jobs, with
// a status that follows their pods. text returns the text of a workload's own object, nil where a client has created
// it, and, of a Deployment, that of its ReplicaSet. Call it before there are workloads.
func (ws *Workloads) Show(text func(Shown) (self, set []byte, err error)) {
	ws.text, ws.objects, ws.byUID = text, map[*kube.Owner]*object{}, map[string]*object{}
}

// OwnerOf returns the Owner that the pods of a controller have, by its UID.
func (ws *Workloads) OwnerOf(uid string) *kube.Owner {
	if o := ws.byUID[uid]; o != nil {
		return o.w.owner
	}
	return nil
}

// object is the API's side of a workload.
type object struct {
	w      *workload
	self   *kube.Document
	set    *kube.Document // a Deployment's ReplicaSet, or nil
	olds   []*object      // a Deployment's earlier revisions: of these, w, set, inSet and setStatus count
	limits Limits
	ending bool // it has a deletionTimestamp
	stream model.Stream
	wait   *loop.Timer
	// What the objects say.
	replicas, inSet   int
	status, setStatus []kube.Field
	conditions        kube.Conditions // of a Deployment or Job
	born              kube.Instant
	revision          string // of a StatefulSet, that all pods had last
}

func (ws *Workloads) show(w *workload) error {
	if ws.text == nil {
		return nil
	}
	api := w.env.API
	shown := w.shown()
	o := &object{w: w, stream: w.env.Stream("object", w.Namespace, string(w.Kind), w.Name), replicas: w.Replicas, inSet: w.Replicas, born: shown.Created, limits: quarters}
	self, set, err := ws.text(shown)
	if err != nil {
		return err
	}
	o.self = &kube.Document{Meta: kube.Meta{Namespace: w.Namespace, Name: w.Name, UID: w.uid, Generation: 1}, Resource: resourceOf(string(w.Kind))}
	if w.Kind == Deployment {
		o.set = &kube.Document{Meta: kube.Meta{Namespace: w.Namespace, Name: w.owner.Name, UID: w.owner.UID, Generation: 1}, Resource: "replicasets"}
	}
	if self != nil {
		o.status = o.now()
		api.CreateDocument(o.self, self, patchOf("status", nil, o.status))
	}
	if o.set != nil {
		o.setStatus = o.ofSet()
		api.CreateDocument(o.set, set, patchOf("status", nil, o.setStatus))
		ws.byUID[o.set.UID] = o
	}
	ws.objects[w.owner], ws.byUID[w.uid] = o, o
	o.react()
	return nil
}

// shown is what the objects of a new workload are made of. One that has pods was there before.
func (w *workload) shown() Shown {
	born := w.env.API.Now()
	for _, p := range w.env.API.PodsOf(w.owner.UID) {
		born = min(born, p.Created)
	}
	return Shown{Workload: w.Workload, UID: w.uid, Owner: *w.owner, Revision: 1, Labels: w.labels, Created: born.Second()}
}

func resourceOf(kind string) string { return strings.ToLower(kind) + "s" }

// react has the status written after the controller's reaction time.
func (o *object) react() {
	if !o.wait.Pending() {
		o.wait = o.w.env.Timer(o.w.env.Draw(&o.stream, o.w.env.Timings.ControllerReact), o.sync)
	}
}

// sync writes what the objects don't say yet.
func (o *object) sync() {
	api := o.w.env.API
	if o.w.Kind == Deployment {
		if !o.ending {
			o.roll()
		}
		for _, old := range o.olds {
			old.syncSet()
		}
		o.syncSet()
	}
	if want := o.w.Replicas; !o.ending && o.w.Kind != Deployment && o.w.Kind != DaemonSet && o.replicas != want { // by the scenario, as by a client
		o.replicas = want
		o.self.Generation++
		field := "replicas"
		if o.w.Kind == Job {
			field = "parallelism"
		}
		api.PatchDocument(o.self, fmt.Appendf(nil, `{"metadata":{"generation":%d},"spec":{%q:%d}}`, o.self.Generation, field, o.replicas))
	}
	if now := o.now(); !slices.Equal(now, o.status) {
		api.PatchDocument(o.self, patchOf("status", o.status, now))
		o.status = now
	}
}

// syncSet writes the replicas and the status of a ReplicaSet.
func (o *object) syncSet() {
	if o.set.Gone() {
		return
	}
	if o.inSet != o.w.Replicas {
		o.inSet = o.w.Replicas
		o.set.Generation++
		o.w.env.API.PatchDocument(o.set, fmt.Appendf(nil, `{"metadata":{"generation":%d},"spec":{"replicas":%d}}`, o.set.Generation, o.inSet))
	}
	if now := o.ofSet(); !slices.Equal(now, o.setStatus) {
		o.w.env.API.PatchDocument(o.set, patchOf("status", o.setStatus, now))
		o.setStatus = now
	}
}

// patchOf is a merge patch of an object's fields.
func patchOf(within string, old, now []kube.Field) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{%q:{`, within)
	first := true
	for i, f := range now {
		if old != nil && old[i] == f {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		fmt.Fprintf(&b, `%q:%s`, f.Name, f.JSON)
	}
	b.WriteString("}}")
	return b.Bytes()
}

// tally counts the pods of a workload.
type tally struct{ all, ready, succeeded, failed int }

func (o *object) count() (t tally) {
	for _, p := range o.w.env.API.PodsOf(o.w.owner.UID) {
		switch {
		case p.Phase == "Succeeded":
			t.succeeded++
		case p.Phase == "Failed":
			t.failed++
		case p.Terminating():
		default:
			t.all++
			if p.Ready() {
				t.ready++
			}
		}
	}
	return t
}

// number is a field that is left out where it is 0, as those with omitempty are.
func number(name string, n int) kube.Field {
	if n == 0 {
		return kube.Field{Name: name, JSON: "null"}
	}
	return always(name, n)
}

func always(name string, n int) kube.Field { return kube.Field{Name: name, JSON: strconv.Itoa(n)} }

// ofSet is the status of a ReplicaSet, in the order of its Go type.
func (o *object) ofSet() []kube.Field {
	t := o.count()
	d := o.set
	if d == nil {
		d = o.self
	}
	return []kube.Field{
		always("replicas", t.all), number("fullyLabeledReplicas", t.all), number("readyReplicas", t.ready), number("availableReplicas", t.ready),
		number("observedGeneration", int(d.Generation)),
	}
}

// now is the status of the workload's own object. Every kind has the same fields at all times.
func (o *object) now() []kube.Field {
	t := o.count()
	generation := number("observedGeneration", int(o.self.Generation))
	switch o.w.Kind {
	case ReplicaSet:
		return o.ofSet()
	case Deployment:
		updated, wanted := t.all, o.w.Replicas
		for _, old := range o.olds {
			one := old.count()
			t.all, t.ready = t.all+one.all, t.ready+one.ready
			wanted += old.w.Replicas
		}
		o.deploymentConditions(t, updated)
		return []kube.Field{
			generation, number("replicas", t.all), number("updatedReplicas", updated), number("readyReplicas", t.ready), number("availableReplicas", t.ready),
			number("unavailableReplicas", max(wanted-t.ready, 0)), o.conditionsField(true),
		}
	case StatefulSet:
		updated := o.updated()
		revision := kube.Quote(o.w.labels.Get(revisionHash))
		if o.revision == "" || updated >= o.w.Replicas && updated == t.all {
			o.revision = revision
		}
		current := updated
		if o.revision != revision {
			current = t.all - updated
		}
		return []kube.Field{
			generation, always("replicas", t.all), number("readyReplicas", t.ready), number("currentReplicas", current), number("updatedReplicas", updated),
			{Name: "currentRevision", JSON: o.revision}, {Name: "updateRevision", JSON: revision}, always("collisionCount", 0), always("availableReplicas", t.ready),
		}
	case DaemonSet:
		want := 0
		if ds, is := o.w.keeper.(*daemonSet); is {
			for _, n := range o.w.env.API.Nodes() {
				if run, _ := ds.fits(n); run {
					want++
				}
			}
		}
		return []kube.Field{
			always("currentNumberScheduled", min(t.all, want)), always("numberMisscheduled", max(t.all-want, 0)), always("desiredNumberScheduled", want), always("numberReady", t.ready),
			generation, number("updatedNumberScheduled", o.updated()), number("numberAvailable", t.ready), number("numberUnavailable", max(want-t.ready, 0)),
		}
	}
	return o.ofJob(t)
}

func (o *object) ofJob(t tally) []kube.Field {
	if j, is := o.w.keeper.(*job); is {
		t.succeeded = max(t.succeeded, len(j.succeeded))
	}
	completed := kube.Field{Name: "completionTime", JSON: "null"}
	if t.succeeded >= o.w.Replicas {
		o.say("Complete", "True", "CompletionsReached", "Reached expected number of succeeded pods")
		completed.JSON = stamp(o.conditions.Get("Complete").Transition)
	}
	return []kube.Field{
		o.conditionsField(false), {Name: "startTime", JSON: stamp(o.born)}, completed,
		number("active", t.all), number("succeeded", t.succeeded), number("failed", t.failed), always("terminating", 0),
		always("ready", t.ready),
	}
}

// deploymentConditions are those of pkg/controller/deployment/progress.go and sync.go.
func (o *object) deploymentConditions(t tally, updated int) {
	_, unavailable, _ := o.limits(o.replicas)
	if t.ready >= o.replicas-unavailable {
		o.say("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		o.say("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	}
	switch progress := o.conditions.Get("Progressing"); {
	case updated == o.replicas && t.all == o.replicas && t.ready >= o.replicas:
		o.say("Progressing", "True", "NewReplicaSetAvailable", fmt.Sprintf("ReplicaSet %q has successfully progressed.", o.w.owner.Name))
	case progress == nil || updated < o.replicas:
		o.say("Progressing", "True", "ReplicaSetUpdated", fmt.Sprintf("ReplicaSet %q is progressing.", o.w.owner.Name))
	}
}

func (o *object) say(kind, status, reason, message string) {
	now := o.w.env.API.Now().Second()
	if len(o.conditions) < 2 && o.w.env.Now() == 0 {
		now = o.born.Second()
	}
	c := kube.Condition{Type: kind, Status: status, Reason: reason, Message: message, Transition: now, Heartbeat: now}
	if was := o.conditions.Get(kind); was != nil && was.Status == status && was.Reason == reason && was.Message == message {
		return
	}
	o.conditions = o.conditions.Set(c)
}

func (o *object) conditionsField(updates bool) kube.Field {
	var b strings.Builder
	for i := range o.conditions {
		c := &o.conditions[i]
		if i > 0 {
			b.WriteByte(',')
		}
		between := "lastProbeTime"
		if updates {
			between = "lastUpdateTime"
		}
		fmt.Fprintf(&b, `{"type":%q,"status":%q,%q:%s,"lastTransitionTime":%s,"reason":%q,"message":%s}`,
			c.Type, c.Status, between, stamp(c.Heartbeat), stamp(c.Transition), c.Reason, kube.Quote(c.Message))
	}
	if b.Len() == 0 {
		return kube.Field{Name: "conditions", JSON: "null"}
	}
	return kube.Field{Name: "conditions", JSON: "[" + b.String() + "]"}
}

func stamp(i kube.Instant) string { return i.Time().UTC().Format(`"` + time.RFC3339 + `"`) }

// Written tells that a client has written a workload's object with a generation and replicas, -1 where it has none of
// its own. It reports whether there is such a workload.
func (ws *Workloads) Written(uid string, generation int64, replicas int) bool {
	o := ws.byUID[uid]
	if o == nil {
		return false
	}
	for _, one := range o.revisions() {
		if one.set != nil && one.set.UID == uid {
			one.set.Generation, one.inSet = generation, replicas // which the Deployment's controller sets right
			o.react()
			return true
		}
	}
	o.self.Generation = generation
	if replicas >= 0 && o.w.Kind != DaemonSet {
		o.replicas = replicas
		if len(o.olds) == 0 {
			o.w.scale(replicas)
		}
	}
	o.react()
	return true
}

// Create begins to keep the pods of a workload that a client has created. Another
// kind's workload may have its name.
func (ws *Workloads) Create(w Workload) error {
	one, err := ws.make(w)
	if err != nil {
		return err
	}
	if w.Kind != DaemonSet {
		ws.env.API.SetScale(one.owner.UID, w.Replicas)
	}
	ws.env.After(ws.env.Draw(&one.stream, ws.env.Timings.ControllerReact), func() {
		ws.begin(one)
		one.keeper.scaled(0)
	})
	return nil
}
