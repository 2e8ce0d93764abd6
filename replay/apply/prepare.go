package apply

import (
	"encoding/json"
	"fmt"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// want holds what an object on the tape is to be in the cluster.
type want struct {
	resource        timeline.Resource
	namespace, name string
	uid             string // on the tape
	main            object // without status where that is a write of its own
	status          object // nil where the tape has none or it is a part of main
	deleting        bool
	grace           int64
	notes           []string // what had to be changed for it
}

func (w *want) where() string {
	if w.namespace == "" {
		return w.name
	}
	return w.namespace + "/" + w.name
}

// note remembers what had to be changed.
func (w *want) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// prepare makes what is to be written of an object on the tape: its times moved
// to now, without what the server says alone, labelled, and with what would
// destroy it here replaced.
func (a *Applier) prepare(r timeline.Resource, o *replay.Object, status bool) (*want, error) {
	raw, err := a.shift.Object(r, o.Raw())
	if err != nil {
		return nil, err
	}
	body, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("object of %s: %w", r, err)
	}
	withoutNulls(body)
	w := &want{resource: r, namespace: o.Namespace(), name: o.Name(), uid: string(o.UID()), main: body}
	body["apiVersion"], body["kind"] = r.APIVersion(), r.Kind
	original := object{}
	w.metadata(part(body, "metadata"), original, a)
	switch {
	case isPod(r):
		w.pod(part(body, "spec"), original)
	case isNode(r):
		w.node(part(body, "spec"))
	case isEvent(r):
		w.event(a)
	}
	meta := part(body, "metadata")
	part(meta, "labels")[Label] = a.label
	notes := part(meta, "annotations")
	notes[AnnotationUID] = w.uid
	if len(original) > 0 {
		notes[AnnotationOriginal] = string(encode(original))
	}
	if status {
		w.status, _ = body["status"].(object)
		delete(body, "status")
	}
	return w, nil
}

// metadata drops what the server alone says, and replaces what would have the
// object deleted or kept forever.
func (w *want) metadata(meta, original object, a *Applier) {
	if meta["deletionTimestamp"] != nil {
		w.deleting = true
		w.grace = 1
		if n, ok := meta["deletionGracePeriodSeconds"].(interface{ Int64() (int64, error) }); ok {
			if seconds, err := n.Int64(); err == nil {
				w.grace = max(seconds, 1)
			}
		}
	}
	for _, name := range []string{
		"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds",
	} {
		delete(meta, name)
	}
	if list := meta["finalizers"]; !empty(list) {
		// Their controllers aren't here.
		original["finalizers"] = list
		w.note("metadata.finalizers are left out, as no controller is here to take them away")
	}
	delete(meta, "finalizers")
	w.owners(meta, original, a)
}

// elsewhere is the group of the owners that aren't in the cluster. A garbage
// collector deletes what has an owner that is gone, but it lets an object be
// whose owner is of a kind that it can't find (k8s.io/kubernetes,
// pkg/controller/garbagecollector, attemptToDeleteWorker: a restMappingError is
// tried again). Kind and name stay, since a drain and a feed go by them; and an
// object that has a controller isn't adopted by a controller here.
const elsewhere = "replay.nodesim.dev/v1"

func (w *want) owners(meta, original object, a *Applier) {
	owners := elements(meta["ownerReferences"])
	before := json.RawMessage(encode(owners))
	for _, ref := range owners {
		if uid, ok := a.uidOf(text(ref, "uid")); ok {
			ref["uid"] = uid
			continue
		}
		ref["apiVersion"] = elsewhere
		delete(ref, "blockOwnerDeletion")
		original["ownerReferences"] = before
	}
	if original["ownerReferences"] != nil {
		w.note("metadata.ownerReferences: an owner that isn't on the tape is shown as one of %s", elsewhere)
	}
}

// event has an Event speak of the object as it is here. Some name a node by its
// name instead of its UID; that stays.
func (w *want) event(a *Applier) {
	for _, name := range []string{"involvedObject", "regarding", "related"} {
		about, ok := w.main[name].(object)
		if !ok {
			continue
		}
		if uid, ok := a.uidOf(text(about, "uid")); ok {
			about["uid"] = uid
		}
		delete(about, "resourceVersion")
	}
}

// node says outright what an API server adds to a node by itself: it taints
// every new one (k8s.io/kubernetes, plugin/pkg/admission/nodetaint).
func (w *want) node(spec object) {
	if spec["taints"] == nil {
		spec["taints"] = []any{}
	}
	if spec["unschedulable"] == nil {
		spec["unschedulable"] = false
	}
}
