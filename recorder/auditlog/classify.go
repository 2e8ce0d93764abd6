package auditlog

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// found is what one request says of one object.
type found struct {
	op   op
	name string // namespace/name
	body []byte
	undo undo
}

// classify reads off a request what happened. Why is set where something happened that can't be
// known.
func classify(ev *event, r *resource) (all []found, why string) {
	if ev.Stage != "ResponseComplete" || ev.dryRun() {
		return nil, ""
	}
	sub := ev.ObjectRef.Subresource
	if sub == "eviction" && ev.Verb == "create" && r.kind == "Pod" {
		return eviction(ev)
	}
	name := ev.ObjectRef.Namespace + "/" + ev.ObjectRef.Name
	if code := ev.ResponseStatus.Code; code < http.StatusOK || code >= http.StatusMultipleChoices {
		return failed(ev, name)
	}
	switch ev.Verb {
	case "get":
		if sub == "" {
			return state(opRead, ev.body(r.kind), 0), ""
		}
		return nil, ""
	case "list":
		return items(opRead, ev.body(r.kind+"List"), r), ""
	case "create":
		switch {
		case sub == "binding" && r.kind == "Pod":
			if node := rawjson.Text(compact(ev.RequestObject), "target", "name"); node != "" {
				return []found{{op: opBound, name: name, body: []byte(node)}}, ""
			}
			return nil, "bindings without the name of the node (level Metadata)"
		case sub != "":
			return nil, ""
		}
		if all := state(opCreated, ev.body(r.kind), 0); all != nil {
			return all, ""
		}
		if req := compact(ev.RequestObject); req != nil && ev.ObjectRef.Name != "" {
			return []found{{op: opPut, name: name, body: req}}, ""
		}
	case "update", "patch":
		if all := state(opState, ev.body(r.kind), changes(ev)); all != nil {
			return all, ""
		}
		return asked(ev, name, sub)
	case "delete":
		if sub != "" { // what a pod or a node answers through its proxy
			return nil, ""
		}
		return deletion(ev, r, name), ""
	case "deletecollection":
		return collection(ev, r)
	default:
		return nil, ""
	}
	return nil, "changes without a body (level Metadata): what they changed"
}

// failed is what a request says that had no success: a write of an object that isn't there any more tells
// that, since writes read what is stored; and what became of one that the server gave up, nobody knows.
func failed(ev *event, name string) ([]found, string) {
	switch ev.Verb {
	case "update", "patch", "delete":
	default:
		return nil, ""
	}
	switch code := ev.ResponseStatus.Code; {
	case code == http.StatusNotFound && ev.ObjectRef.Name != "" && ev.missing():
		return []found{{op: opFinal, name: name}}, ""
	case code == 0 || code >= http.StatusInternalServerError:
		return nil, "writes that the server gave up (5xx, such as when their client hung up): whether they were done"
	}
	return nil, ""
}

// asked is what a request says whose answer isn't in the log.
func asked(ev *event, name, sub string) ([]found, string) {
	req := compact(ev.RequestObject)
	switch {
	case req == nil && len(ev.RequestObject) > 0 && ev.RequestObject[0] == '[':
		return nil, "JSON patches without an answer (level Request): what they changed"
	case req == nil:
		return nil, "changes without a body (level Metadata): what they changed"
	case ev.Verb == "patch" && rawjson.Text(req, "kind") != "":
		return nil, "server-side applies without an answer (level Request): what they changed"
	case ev.Verb == "patch":
		return []found{{op: opPatched, name: name, body: req}}, ""
	case sub == "status":
		return []found{{op: opStatus, name: name, body: req}}, ""
	case sub == "":
		return []found{{op: opPut, name: name, body: req}}, ""
	}
	return nil, ""
}

// compact is an object in the form in which it can be looked into; nil for anything else.
func compact(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	out, err := rawjson.Compact(nil, raw)
	if err != nil || !rawjson.IsObject(out) {
		return nil
	}
	return out
}

// state is an answer that is the object itself.
func state(o op, body []byte, u undo) []found {
	name := rawjson.Text(body, "metadata", "name")
	if name == "" {
		return nil
	}
	return []found{{op: o, name: rawjson.Text(body, "metadata", "namespace") + "/" + name, body: body, undo: u}}
}

// items are the objects of an answer that is a list; they have no kind there.
func items(o op, list []byte, r *resource) (all []found) {
	named := []byte(`{"kind":` + strconv.Quote(r.kind) + `,"apiVersion":` + strconv.Quote(rawjson.Text(list, "apiVersion")) + `}`)
	for item := range rawjson.Elements(rawjson.Get(list, "items")) {
		body := bytes.Clone(item)
		if rawjson.Get(item, "kind") == nil {
			body = rawjson.Apply(nil, named, item)
		}
		name := rawjson.Text(body, "metadata", "name")
		if name == "" {
			continue
		}
		all = append(all, found{op: o, name: rawjson.Text(body, "metadata", "namespace") + "/" + name, body: body})
	}
	return all
}

// changes says what a patch has set of that by which a roll is seen to begin.
func changes(ev *event) (u undo) {
	spec := rawjson.Get(compact(ev.RequestObject), "spec")
	if ev.Verb != "patch" || spec == nil {
		return 0
	}
	if string(rawjson.Get(spec, "unschedulable")) == "true" {
		u |= undoCordon
	}
	if rawjson.Get(spec, "taints") != nil {
		u |= undoTaints
	}
	return u
}

// timed is when a graceful deletion began, and with which grace, if the request said it.
type timed struct {
	At    string `json:"at"`
	Grace *int64 `json:"grace,omitempty"`
	// Marked is when an eviction set the pod's condition, where that is known to be another moment.
	Marked string `json:"marked,omitempty"`
}

func (ev *event) timed(grace *int64) []byte {
	at := ev.Received
	if at.IsZero() {
		at = ev.Staged
	}
	b, _ := json.Marshal(timed{At: at.UTC().Format("2006-01-02T15:04:05Z"), Grace: grace}) // it has nothing that can fail
	return b
}

// grace is that of DeleteOptions, or of the request's URI.
func (ev *event) grace(options []byte) *int64 {
	text := string(rawjson.Get(options, "gracePeriodSeconds"))
	if _, query, ok := strings.Cut(ev.RequestURI, "gracePeriodSeconds="); ok && text == "" {
		text, _, _ = strings.Cut(query, "&")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// deletion reads an answer to a delete. It is a Status where the object is gone, or the object: gone
// for kinds that are returned, or still there for its grace or its finalizers (Delete in
// k8s.io/apiserver, pkg/registry/generic/registry/store.go).
func deletion(ev *event, r *resource, name string) []found {
	grace := ev.grace(compact(ev.RequestObject))
	now := grace != nil && *grace == 0
	if all := state(opState, ev.body(r.kind), undoDelete); all != nil {
		f := deleted(all[0].body, undoDelete)
		if now && rawjson.Get(f.body, "metadata", "finalizers") == nil {
			f.op = opFinal
		}
		return []found{f}
	}
	// Only kubelets say that a pod is gone; all others ask for it, and it takes its grace.
	if r.kind == "Pod" && !now && !strings.HasPrefix(ev.User.Username, "system:node:") {
		return []found{{op: opGraceful, name: name, body: ev.timed(grace)}}
	}
	if rawjson.Text(compact(ev.ResponseObject), "kind") == "Status" {
		return []found{{op: opFinal, name: name}}
	}
	return []found{{op: opDeleted, name: name, body: ev.timed(nil)}}
}

// collection reads an answer to the deletion of a collection: the objects as they were listed before (DeleteCollection in
// k8s.io/apiserver, pkg/registry/generic/registry/store.go), or their metadata alone, as the namespace controller asks for them.
func collection(ev *event, r *resource) (all []found, why string) {
	const metadataAlone = "PartialObjectMetadataList"
	list := compact(ev.ResponseObject)
	switch rawjson.Text(list, "kind") {
	case r.kind + "List", metadataAlone:
	default:
		return nil, "deletions of whole collections without their names (level Metadata or Request)"
	}
	grace := ev.grace(compact(ev.RequestObject))
	ends := found{op: opDeleted, body: ev.timed(nil)}
	if r.kind == "Pod" && (grace == nil || *grace != 0) {
		ends = found{op: opGraceful, body: ev.timed(grace)}
	}
	for _, f := range items(opRead, list, r) {
		if rawjson.Text(list, "kind") != metadataAlone {
			all = append(all, f)
		}
		ends.name = f.name
		all = append(all, ends)
	}
	return all, ""
}

// deleted tells whether an object that a deletion was answered with is gone.
func deleted(body []byte, u undo) found {
	meta := rawjson.Get(body, "metadata")
	f := found{op: opFinal, name: rawjson.Text(meta, "namespace") + "/" + rawjson.Text(meta, "name"), body: body}
	seconds := string(rawjson.Get(meta, "deletionGracePeriodSeconds"))
	if rawjson.Get(meta, "deletionTimestamp") != nil && (rawjson.Get(meta, "finalizers") != nil || seconds != "" && seconds != "0") {
		f.op, f.undo = opState, u
	}
	return f
}

// eviction reads the answer to an eviction (pkg/registry/core/pod/storage/eviction.go of
// Kubernetes): a Status, whatever it is. 429 has the budget among its causes; a pod with two
// budgets is refused with 500. A 429 without such a cause is of the server's flow control.
func eviction(ev *event) ([]found, string) {
	name := ev.ObjectRef.Namespace + "/" + ev.ObjectRef.Name
	st := ev.ResponseStatus
	if inner := (status{}); len(ev.ResponseObject) > 0 && json.Unmarshal(ev.ResponseObject, &inner) == nil && inner.Code != 0 {
		st = inner
	}
	options := rawjson.Get(compact(ev.RequestObject), "deleteOptions")
	switch {
	case isDryRun(options):
		return nil, ""
	case st.Code >= http.StatusOK && st.Code < http.StatusMultipleChoices:
		return []found{{op: opEvicted, name: name, body: ev.timed(ev.grace(options))}}, ""
	case st.Code == http.StatusTooManyRequests:
		for _, c := range st.Details.Causes {
			if c.Reason == "DisruptionBudget" {
				return refused(ev, c.Message), ""
			}
		}
		if strings.Contains(st.Message, "disruption budget") {
			return refused(ev, st.Message), ""
		}
		return nil, "evictions that the server was too busy for (429 without a budget)"
	case st.Code == http.StatusInternalServerError && strings.Contains(st.Message, "more than one PodDisruptionBudget"):
		return refused(ev, "pods have more than one budget, which the eviction API does not support"), ""
	}
	return nil, ""
}

var budgetSays = regexp.MustCompile(`^The disruption budget (\S+) (.*?)( currently)?\.?$`)

// refused is a refused eviction in the form of a dump. The server's sentence begins with the budget's
// name.
func refused(ev *event, says string) []found {
	said := struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		Budget    string `json:"budget,omitempty"`
		By        string `json:"by,omitempty"`
		Reason    string `json:"reason"`
	}{Namespace: ev.ObjectRef.Namespace, Name: ev.ObjectRef.Name, By: ev.client(), Reason: says}
	if m := budgetSays.FindStringSubmatch(says); m != nil {
		said.Budget, said.Reason = m[1], m[2]
		if strings.HasPrefix(said.Reason, "is ") {
			said.Reason = "the budget " + said.Reason
		}
	}
	body, err := json.Marshal(said)
	if err != nil {
		return nil
	}
	return []found{{op: opRefused, name: said.Namespace + "/" + said.Name, body: body}}
}
