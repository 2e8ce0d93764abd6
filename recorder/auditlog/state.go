package auditlog

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/recorder/internal/strategic"
)

// change is what becomes of an object: its type is that of a watch event, "" for nothing.
type change struct {
	typ    string
	object []byte
	first  []byte // a state between, which the server wrote first
	why    string // it can't be known what happened
}

// apply works out what an entry does to an object; was is its state, nil where it isn't known.
func apply(e *entry, was, body []byte) change {
	unknown := change{why: "changes of objects that the log has not shown yet"}
	switch e.op {
	case opRead, opState, opCreated:
		if was != nil && gone(was, body) {
			return change{typ: "DELETED", object: body}
		}
		return set(was, body)
	case opFinal:
		switch {
		case len(body) > 0:
			return change{typ: "DELETED", object: body, first: shortened(was, body)}
		case was != nil:
			return change{typ: "DELETED", object: was}
		}
		return change{} // it was gone, or the log has never shown it
	case opPut:
		if was == nil {
			return set(nil, body)
		}
		if status := rawjson.Get(was, "status"); status != nil { // a subresource of its own
			body = rawjson.Apply(nil, body, member("status", status))
		}
		return updated(was, keepIdentity(was, body))
	case opDeleted:
		if was == nil {
			return change{} // likewise
		}
		return removed(was, body)
	}
	if was == nil {
		return unknown
	}
	switch e.op {
	case opGraceful, opEvicted:
		return ending(was, body, e.op == opEvicted)
	case opBound:
		return set(was, bound(was, string(body)))
	case opStatus:
		status := rawjson.Get(body, "status")
		if status == nil {
			return change{}
		}
		return set(was, rawjson.Apply(nil, rawjson.Apply(nil, was, []byte(`{"status":null}`)), member("status", status)))
	case opPatched:
		now, err := strategic.Apply(was, body)
		if err != nil {
			return change{why: "patches that couldn't be applied"}
		}
		return updated(was, keepIdentity(was, now))
	}
	return change{}
}

func member(name string, value []byte) []byte {
	return append(append([]byte(`{"`+name+`":`), value...), '}')
}

func set(was, now []byte) change {
	if was == nil {
		return change{typ: "ADDED", object: now}
	}
	return change{typ: "MODIFIED", object: now}
}

// updated is what a write makes of an object whose deletion may have been asked for.
func updated(was, now []byte) change {
	if gone(was, now) {
		return change{typ: "DELETED", object: now}
	}
	return set(was, now)
}

// keepIdentity puts back what no request changes and some leave out (BeforeUpdate in k8s.io/apiserver,
// pkg/registry/rest/update.go).
func keepIdentity(was, now []byte) []byte {
	meta := map[string]json.RawMessage{}
	for _, name := range []string{"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		if v := rawjson.Get(was, "metadata", name); v != nil {
			meta[name] = v
		}
	}
	kept, err := json.Marshal(map[string]any{"kind": rawjson.Text(was, "kind"), "apiVersion": rawjson.Text(was, "apiVersion"), "metadata": meta})
	if err != nil {
		return now
	}
	return rawjson.Apply(nil, now, kept)
}

// gone reports whether an update ends an object whose deletion was asked for, since it has taken the
// last finalizer (ShouldDeleteDuringUpdate in k8s.io/apiserver, pkg/registry/generic/registry/store.go).
func gone(was, now []byte) bool {
	old := rawjson.Get(was, "metadata")
	seconds := string(rawjson.Get(old, "deletionGracePeriodSeconds"))
	return len(rawjson.Get(now, "metadata", "finalizers")) <= len("[]") && rawjson.Get(old, "deletionTimestamp") != nil &&
		(seconds == "" || seconds == "0")
}

// shortened is the state that a pod has between the deletion without grace by which its kubelet says that
// it has ended, and its end: the server first takes the grace from it (BeforeDelete in
// k8s.io/apiserver, pkg/registry/rest/delete.go).
func shortened(was, last []byte) []byte {
	old := string(rawjson.Get(was, "metadata", "deletionGracePeriodSeconds"))
	if old == "" || old == "0" || string(rawjson.Get(last, "metadata", "deletionGracePeriodSeconds")) != "0" {
		return nil
	}
	return last
}

// atOnce reports whether the deletion of a pod knows no grace: it is on no node, or has ended
// (CheckGracefulDelete in pkg/registry/core/pod/strategy.go of Kubernetes).
func atOnce(pod []byte) bool {
	phase := rawjson.Text(pod, "status", "phase")
	return rawjson.Text(pod, "spec", "nodeName") == "" || phase == "Succeeded" || phase == "Failed"
}

// ending begins the graceful deletion of a pod. An eviction sets the condition DisruptionTarget
// before it deletes, in a write of its own (addConditionAndDeletePod in
// pkg/registry/core/pod/storage/eviction.go).
func ending(pod, body []byte, evicted bool) change {
	var when timed
	if json.Unmarshal(body, &when) != nil {
		return change{}
	}
	if rawjson.Get(pod, "metadata", "deletionTimestamp") != nil {
		return change{} // it ends already; a shorter grace shows in the next answer
	}
	seconds := int64(30) // as kube-apiserver fills it in
	if s, err := strconv.ParseInt(string(rawjson.Get(pod, "spec", "terminationGracePeriodSeconds")), 10, 64); err == nil {
		seconds = s
	}
	if when.Grace != nil {
		seconds = *when.Grace
	}
	var first []byte
	if evicted {
		pod = condition(pod, "DisruptionTarget", `,"reason":"EvictionByEvictionAPI","message":"Eviction API: evicting"`, cmp.Or(when.Marked, when.At))
		first = pod
	}
	if atOnce(pod) || seconds == 0 {
		ch := removed(pod, body)
		ch.first = first
		return ch
	}
	at, err := time.Parse(time.RFC3339, when.At)
	if err != nil {
		return change{}
	}
	patch := `{"metadata":{"deletionTimestamp":"` + at.Add(time.Duration(seconds)*time.Second).Format(time.RFC3339) +
		`","deletionGracePeriodSeconds":` + strconv.FormatInt(seconds, 10) + `}}`
	return change{typ: "MODIFIED", object: rawjson.Apply(nil, pod, []byte(patch)), first: first}
}

// asShown corrects when the graceful deletion of a pod began, and when its eviction set the condition DisruptionTarget, where a
// later state of the same pod shows it: a server that has much to do carries a request out later than it came.
func asShown(body, pod, later []byte) []byte {
	var when timed
	grace := rawjson.Get(later, "metadata", "deletionGracePeriodSeconds")
	seconds, err := strconv.ParseInt(string(grace), 10, 64)
	end, errEnd := time.Parse(time.RFC3339, rawjson.Text(later, "metadata", "deletionTimestamp"))
	if err != nil || errEnd != nil || seconds == 0 || json.Unmarshal(body, &when) != nil ||
		rawjson.Text(pod, "metadata", "uid") != rawjson.Text(later, "metadata", "uid") {
		return body
	}
	asked := string(rawjson.Get(pod, "spec", "terminationGracePeriodSeconds"))
	if when.Grace != nil {
		asked = strconv.FormatInt(*when.Grace, 10)
	}
	if asked != string(grace) {
		return body // somebody else has asked for another one since
	}
	when.At = end.Add(-time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)
	for c := range rawjson.Elements(rawjson.Get(later, "status", "conditions")) {
		if rawjson.Text(c, "type") == "DisruptionTarget" && rawjson.Text(c, "reason") == "EvictionByEvictionAPI" {
			when.Marked = rawjson.Text(c, "lastTransitionTime")
		}
	}
	corrected, _ := json.Marshal(when) // it has nothing that can fail
	return corrected
}

// removed ends an object without grace: at once, or, where it has finalizers, when the last is taken. Until then it has the time
// of the request and no grace (markAsDeleting in k8s.io/apiserver, pkg/registry/generic/registry/store.go).
func removed(object, body []byte) change {
	meta := rawjson.Get(object, "metadata")
	if len(rawjson.Get(meta, "finalizers")) <= len("[]") {
		return change{typ: "DELETED", object: object}
	}
	var when timed
	if json.Unmarshal(body, &when) != nil {
		return change{}
	}
	seconds := string(rawjson.Get(meta, "deletionGracePeriodSeconds"))
	if rawjson.Get(meta, "deletionTimestamp") != nil && (seconds == "" || seconds == "0") {
		return change{} // it waits for its finalizers already
	}
	return change{typ: "MODIFIED", object: rawjson.Apply(nil, object,
		[]byte(`{"metadata":{"deletionTimestamp":"`+when.At+`","deletionGracePeriodSeconds":0}}`))}
}

// bound puts a pod on a node (assignPod in pkg/registry/core/pod/storage/storage.go).
func bound(pod []byte, node string) []byte {
	name := rawjson.AppendString(nil, node)
	return condition(rawjson.Apply(nil, pod, []byte(`{"spec":{"nodeName":`+string(name)+`}}`)), "PodScheduled", "", "")
}

// condition sets a condition of a pod to True.
func condition(pod []byte, typ, more, at string) []byte {
	var all []string
	for c := range rawjson.Elements(rawjson.Get(pod, "status", "conditions")) {
		if rawjson.Text(c, "type") != typ {
			all = append(all, string(c))
		}
	}
	if at != "" {
		more += `,"lastTransitionTime":"` + at + `"`
	}
	all = append(all, `{"type":"`+typ+`","status":"True"`+more+`}`)
	return rawjson.Apply(nil, pod, []byte(`{"status":{"conditions":[`+strings.Join(all, ",")+`]}}`))
}

// marks are the taints by which a node is seen to be drained.
var marks = map[string]bool{
	"node.kubernetes.io/unschedulable": true, "karpenter.sh/disrupted": true, "karpenter.sh/disruption": true,
	"ToBeDeletedByClusterAutoscaler": true,
}

// before puts an object as it was before the requests that changed it in ways that a roll is
// seen by: the log first shows it in the answer to one of them.
func before(object []byte, u undo) []byte {
	if u&undoDelete != 0 {
		object = rawjson.Apply(nil, object, []byte(`{"metadata":{"deletionTimestamp":null,"deletionGracePeriodSeconds":null}}`))
		object = without(object, []string{"status", "conditions"}, "type", func(typ string) bool { return typ == "DisruptionTarget" })
	}
	if u&undoCordon != 0 {
		object = rawjson.Apply(nil, object, []byte(`{"spec":{"unschedulable":null}}`))
	}
	if u&(undoCordon|undoTaints) != 0 {
		object = without(object, []string{"spec", "taints"}, "key", func(key string) bool {
			return marks[key] && (u&undoTaints != 0 || key == "node.kubernetes.io/unschedulable")
		})
	}
	return object
}

// without takes elements out of a list of an object.
func without(object []byte, path []string, name string, drop func(string) bool) []byte {
	var kept []string
	dropped := false
	for e := range rawjson.Elements(rawjson.Get(object, path...)) {
		if drop(rawjson.Text(e, name)) {
			dropped = true
			continue
		}
		kept = append(kept, string(e))
	}
	if !dropped {
		return object
	}
	list := "null"
	if len(kept) > 0 {
		list = "[" + strings.Join(kept, ",") + "]"
	}
	return rawjson.Apply(nil, object, []byte(`{"`+path[0]+`":{"`+path[1]+`":`+list+`}}`))
}
