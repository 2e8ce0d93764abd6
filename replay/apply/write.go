package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/replay"
)

// tracked is an object of the tape that is alive: what is known of it in the
// cluster.
type tracked struct {
	tape         string // its UID on the tape
	uid, version string // in the cluster; the version is "" where it isn't known
	sent         []byte // main and status as they were wanted last
	ending       bool   // a deletion has been asked for
	skip         string // why it isn't written
}

// sentence is what tracked.sent holds.
type sentence struct{ Main, Status object }

func (t *tracked) says(w *want) { t.sent = encode(sentence{w.main, w.status}) }

func (t *tracked) said() (main, status object) {
	o, _ := decode(t.sent)
	main, _ = o["Main"].(object)
	status, _ = o["Status"].(object)
	return main, status
}

// put brings one object of the tape to its present state in the cluster. had is
// what the cluster was found to have of it, or nil. Errors are those that end
// the replay; whatever concerns this object alone is counted.
func (a *Applier) put(ctx context.Context, k key, o *replay.Object, had object) error {
	a.count(func(l *ledger) { l.Changes++ })
	way, err := a.wayOf(ctx, k.resource)
	if err != nil {
		return err
	}
	t := a.get(k)
	if way.reason != "" || t != nil && t.skip != "" && t.tape == string(o.UID()) {
		reason := way.reason
		if reason == "" {
			reason = t.skip
		}
		a.skip(k, o, reason)
		return nil
	}
	w, err := a.prepare(k.resource, o, way.status)
	if err != nil {
		a.skip(k, o, err.Error())
		return nil
	}
	if t != nil && t.tape != w.uid {
		if err := a.remove(ctx, k, t.uid); err != nil {
			return err
		}
		t = nil
	}
	w.holds(t)
	known, noted := t != nil, len(w.notes)
	switch {
	case t != nil:
		err = a.update(ctx, k, w, t)
	case had != nil:
		err = a.adopt(ctx, k, w, had)
	default:
		err = a.create(ctx, k, w)
	}
	if !known {
		noted = 0
	}
	for _, n := range w.notes[noted:] {
		a.count(func(l *ledger) { l.change(k.resource.String(), n, w.where()) })
	}
	if errors.Is(err, errSettled) {
		err = nil
	}
	if err == nil || ctx.Err() != nil || apierrors.IsUnauthorized(err) {
		return err
	}
	a.skip(k, o, whyNot(err))
	return nil
}

// skip leaves an object out, from now until the tape deletes it.
func (a *Applier) skip(k key, o *replay.Object, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	where := o.Name()
	if o.Namespace() != "" {
		where = o.Namespace() + "/" + where
	}
	a.ledger.skip(k.resource.String(), reason, where)
	if t := a.live[k]; t == nil || t.tape != string(o.UID()) {
		a.live[k] = &tracked{tape: string(o.UID()), skip: reason}
	}
}

func (a *Applier) get(k key) *tracked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live[k]
}

// keep remembers what the cluster has of an object.
func (a *Applier) keep(k key, w *want, have object) *tracked {
	t := &tracked{tape: w.uid, uid: text(have, "metadata", "uid"), version: text(have, "metadata", "resourceVersion")}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live[k] = t
	if w.uid != "" {
		a.uids[w.uid] = t.uid
	}
	return t
}

// create makes an object, and then brings it to where the tape has it: the
// server takes no status with a new pod or node, and adds what it likes.
func (a *Applier) create(ctx context.Context, k key, w *want) error {
	if err := a.surround(ctx, w); err != nil {
		return err
	}
	raw, err := a.server.do(ctx, request{verb: Create, resource: k.resource, namespace: k.namespace, body: encode(w.main)})
	if apierrors.IsAlreadyExists(err) {
		return a.exists(ctx, k, w)
	}
	if err != nil {
		return err
	}
	have, err := decode(raw)
	if err != nil {
		return fmt.Errorf("create %s: answer: %w", k.resource, err)
	}
	t := a.keep(k, w, have)
	a.count(func(l *ledger) { l.of(k.resource.String()).Created++ })
	if k.resource == definitions {
		if err := a.established(ctx, k); err != nil {
			return err
		}
	}
	return a.complete(ctx, k, w, t, have, false)
}

// exists deals with an object that is there already: of this replay (a create
// whose answer was lost), or somebody else's.
func (a *Applier) exists(ctx context.Context, k key, w *want) error {
	raw, err := a.server.do(ctx, request{verb: Get, resource: k.resource, namespace: k.namespace, name: k.name})
	if apierrors.IsNotFound(err) {
		return a.create(ctx, k, w) // gone in between
	}
	if err != nil {
		return err
	}
	have, err := decode(raw)
	if err != nil {
		return err
	}
	if text(have, "metadata", "labels", Label) != a.label {
		return fmt.Errorf("there is one of that name, and no replay of this tape has made it")
	}
	return a.adopt(ctx, k, w, have)
}

// adopt goes on with an object that an earlier run has made.
func (a *Applier) adopt(ctx context.Context, k key, w *want, have object) error {
	uid := text(have, "metadata", "uid")
	if text(have, "metadata", "annotations", AnnotationUID) == w.uid && adoptable(w, have) {
		t := a.keep(k, w, have)
		err := a.complete(ctx, k, w, t, have, true)
		if err == nil {
			a.count(func(l *ledger) { l.of(k.resource.String()).Adopted++ })
			return nil
		}
		if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
			return err
		}
		// It has gone too far to come back to where the tape has it.
	}
	if err := a.remove(ctx, k, uid); err != nil {
		return err
	}
	return a.create(ctx, k, w)
}

// adoptable reports whether an object can be brought to where the tape has it:
// nothing unbinds a pod, and nothing takes a deletion back.
func adoptable(w *want, have object) bool {
	if at(have, "metadata", "deletionTimestamp") != nil {
		return false
	}
	if !isPod(w.resource) {
		return true
	}
	is, wanted := text(have, "spec", "nodeName"), text(w.main, "spec", "nodeName")
	return is == "" || is == wanted
}

// complete does what is left to do for an object of which the cluster has have;
// see against for exact.
func (a *Applier) complete(ctx context.Context, k key, w *want, t *tracked, have object, exact bool) error {
	if err := a.send(ctx, k, w, t, "", against(w, have, exact)); err != nil {
		return err
	}
	if err := a.bind(ctx, k, w, t, text(have, "spec", "nodeName")); err != nil {
		return err
	}
	if w.deleting {
		if err := a.terminate(ctx, k, w, t); err != nil {
			return err
		}
	}
	if w.status != nil {
		now, _ := have["status"].(object)
		if patch := delta(now, w.status, true); patch != nil {
			if err := a.send(ctx, k, w, t, "status", object{"status": patch}); err != nil {
				return err
			}
		}
	}
	t.says(w)
	return nil
}

// update goes from one state on the tape to the next.
func (a *Applier) update(ctx context.Context, k key, w *want, t *tracked) error {
	was, wasStatus := t.said()
	change := delta(was, w.main, true)
	if isPod(w.resource) {
		change = w.podPatch(change, was)
	}
	status := delta(wasStatus, w.status, true)
	binds := isPod(w.resource) && text(was, "spec", "nodeName") == "" && text(w.main, "spec", "nodeName") != ""
	ends := w.deleting && !t.ending
	if len(change) == 0 && status == nil && !binds && !ends {
		a.count(func(l *ledger) { l.of(k.resource.String()).Unchanged++ })
		t.says(w)
		return nil
	}
	if err := a.send(ctx, k, w, t, "", change); err != nil {
		return err
	}
	if binds {
		if err := a.bind(ctx, k, w, t, ""); err != nil {
			return err
		}
	}
	if ends {
		if err := a.terminate(ctx, k, w, t); err != nil {
			return err
		}
	}
	if status != nil {
		if err := a.send(ctx, k, w, t, "status", object{"status": status}); err != nil {
			return err
		}
	}
	t.says(w)
	a.count(func(l *ledger) { l.of(k.resource.String()).Updated++ })
	return nil
}

// send patches one part of an object. Where somebody else has written
// meanwhile, what the tape says is worked out against what is there, and sent
// again. What the server makes of it otherwise than wanted is counted.
func (a *Applier) send(ctx context.Context, k key, w *want, t *tracked, sub string, patch object) error {
	for len(patch) > 0 {
		body := object{}
		for name, v := range patch {
			body[name] = v
		}
		meta := object{}
		if m, ok := body["metadata"].(object); ok {
			for name, v := range m {
				meta[name] = v
			}
		}
		if t.uid != "" {
			meta["uid"] = t.uid
		}
		if t.version != "" {
			meta["resourceVersion"] = t.version
		}
		body["metadata"] = meta
		raw, err := a.server.do(ctx, request{
			verb: Patch, resource: k.resource, namespace: k.namespace, name: k.name, sub: sub, body: encode(body),
			strategic: isPod(k.resource) && sub == "",
		})
		switch {
		case err == nil:
			return a.sent(k, w, t, sub, raw)
		case apierrors.IsNotFound(err):
			return a.vanished(ctx, k, w, t)
		case !apierrors.IsConflict(err):
			return err
		}
		a.count(func(l *ledger) { l.Conflicts++ })
		raw, err = a.server.do(ctx, request{verb: Get, resource: k.resource, namespace: k.namespace, name: k.name})
		if apierrors.IsNotFound(err) {
			return a.vanished(ctx, k, w, t)
		}
		if err != nil {
			return err
		}
		have, err := decode(raw)
		if err != nil {
			return err
		}
		if text(have, "metadata", "uid") != t.uid {
			return fmt.Errorf("somebody else has made another one of that name")
		}
		t.version = text(have, "metadata", "resourceVersion")
		if sub == "" {
			patch = against(w, have, false)
			continue
		}
		now, _ := have["status"].(object)
		if patch = delta(now, w.status, true); patch != nil {
			patch = object{"status": patch}
		}
	}
	return nil
}

// sent takes the server's answer to a patch.
func (a *Applier) sent(k key, w *want, t *tracked, sub string, raw []byte) error {
	have, err := decode(raw)
	if err != nil {
		return fmt.Errorf("patch %s: answer: %w", k.resource, err)
	}
	if have["kind"] == nil {
		return nil // a rehearsal's
	}
	t.version = text(have, "metadata", "resourceVersion")
	var other object
	if sub == "status" {
		now, _ := have["status"].(object)
		if d := delta(now, w.status, false); d != nil {
			other = object{"status": d}
		}
	} else {
		other = delta(have, w.main, false)
		if spec, ok := other["spec"].(object); ok && isPod(k.resource) {
			delete(spec, "schedulerName")
			delete(spec, "nodeName") // a binding says it
			if len(spec) == 0 {
				delete(other, "spec")
			}
		}
	}
	for _, p := range paths(other) {
		a.count(func(l *ledger) { l.change(k.resource.String(), p+" is as the server has it", w.where()) })
	}
	return nil
}

// against is the patch that brings what the server has to where the tape has
// it, without status. With exact, what an earlier run has set goes where the
// tape doesn't have it.
func against(w *want, have object, exact bool) object {
	if have["kind"] == nil {
		return nil // a rehearsal's
	}
	patch := delta(have, w.main, false)
	if patch == nil {
		patch = object{}
	}
	meta := object{}
	for _, name := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
		is, wanted := object{name: mineOf(at(have, "metadata", name))}, object{name: at(w.main, "metadata", name)}
		for n, v := range delta(is, wanted, name != "finalizers") {
			meta[n] = v
		}
	}
	delete(patch, "metadata")
	if len(meta) > 0 {
		patch["metadata"] = meta
	}
	switch {
	case isPod(w.resource):
		return w.podPatch(patch, have)
	case isEvent(w.resource):
		delete(patch, "eventTime") // it can't change, and an earlier run has said it
	case exact && !isNode(w.resource):
		is, _ := have["spec"].(object)
		wanted, _ := w.main["spec"].(object)
		if d := delta(is, wanted, true); d != nil {
			patch["spec"] = d
		}
	}
	return patch
}

// theirs are annotations that a controller manager puts on nodes (pkg/controller/ttl)
// and would put there again.
var theirs = map[string]bool{"node.alpha.kubernetes.io/ttl": true}

func mineOf(v any) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	out := object{}
	for name, m := range o {
		if !theirs[name] {
			out[name] = m
		}
	}
	return out
}

// errSettled says that nothing is left to do for a change.
var errSettled = errors.New("settled")

// vanished deals with an object that somebody else has deleted.
func (a *Applier) vanished(ctx context.Context, k key, w *want, t *tracked) error {
	if w.deleting || t.ending {
		a.count(func(l *ledger) {
			l.change(k.resource.String(), "it was gone before the tape says so", w.where())
		})
		return errSettled
	}
	a.count(func(l *ledger) {
		l.change(k.resource.String(), "somebody else has deleted it: it was made again", w.where())
	})
	a.forget(k)
	if err := a.create(ctx, k, w); err != nil {
		return err
	}
	return errSettled
}

// bind has a pod run where the tape says.
func (a *Applier) bind(ctx context.Context, k key, w *want, t *tracked, bound string) error {
	node := text(w.main, "spec", "nodeName")
	if !isPod(k.resource) || bound != "" || node == "" || t.sent == nil && bound == node {
		return nil
	}
	body := object{
		"apiVersion": "v1", "kind": "Binding", "metadata": object{"name": k.name, "namespace": k.namespace},
		"target": object{"apiVersion": "v1", "kind": "Node", "name": node},
	}
	_, err := a.server.do(ctx, request{
		verb: Create, resource: k.resource, namespace: k.namespace, name: k.name, sub: "binding", body: encode(body),
	})
	t.version = "" // the answer doesn't say it
	return err
}

// holds has a finalizer keep an object that is being deleted, until the tape
// says that it is gone. It isn't needed where the server keeps it by itself:
// bound pods that have not ended, for their grace
// (pkg/registry/core/pod, CheckGracefulDelete).
func (w *want) holds(t *tracked) {
	if !w.deleting {
		return
	}
	var was, status object
	if t != nil {
		was, status = t.said()
	}
	phase := text(status, "phase")
	needed := !isPod(w.resource) || text(w.main, "spec", "nodeName") == "" || phase == "Succeeded" || phase == "Failed"
	if t != nil && t.ending { // too late for another
		needed = at(was, "metadata", "finalizers") != nil
	}
	if needed {
		part(w.main, "metadata")["finalizers"] = []any{holder}
	}
}

// terminate has the server show the object as being deleted.
func (a *Applier) terminate(ctx context.Context, k key, w *want, t *tracked) error {
	options := object{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
	if isPod(k.resource) {
		options["gracePeriodSeconds"] = w.grace
	}
	if t.uid != "" {
		options["preconditions"] = object{"uid": t.uid}
	}
	raw, err := a.server.do(ctx, request{verb: Delete, resource: k.resource, namespace: k.namespace, name: k.name, body: encode(options)})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return a.vanished(ctx, k, w, t)
	}
	if err != nil {
		return err
	}
	t.ending = true
	have, err := decode(raw)
	if err != nil {
		return err
	}
	t.version = ""
	if text(have, "metadata", "uid") == t.uid {
		t.version = text(have, "metadata", "resourceVersion")
	}
	return nil
}

// drop is what follows a DELETED on the tape.
func (a *Applier) drop(ctx context.Context, k key) error {
	a.count(func(l *ledger) { l.Changes++ })
	t := a.get(k)
	if t == nil || t.skip != "" {
		reason := "it was never written"
		if t != nil {
			reason = t.skip
		}
		a.count(func(l *ledger) { l.skip(k.resource.String(), reason, k.where()) })
		a.forget(k)
		return nil
	}
	if err := a.remove(ctx, k, t.uid); err != nil {
		return err
	}
	a.forget(k)
	a.count(func(l *ledger) { l.of(k.resource.String()).Deleted++ })
	return nil
}

// remove deletes an object at once, and it alone: not another one that has
// taken its name. What is gone already is no error.
func (a *Applier) remove(ctx context.Context, k key, uid string) error {
	options := object{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
	if isPod(k.resource) {
		options["gracePeriodSeconds"] = 0
	}
	if uid != "" {
		options["preconditions"] = object{"uid": uid}
	}
	r := request{verb: Delete, resource: k.resource, namespace: k.namespace, name: k.name, body: encode(options)}
	raw, err := a.server.do(ctx, r)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case err != nil:
		return err
	}
	var left struct {
		Metadata struct {
			UID        string   `json:"uid"`
			Finalizers []string `json:"finalizers"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &left); err != nil || len(left.Metadata.Finalizers) == 0 {
		return err
	}
	// It waits for those who hold it, of whom nobody but us is here.
	r.verb, r.body = Patch, encode(object{"metadata": object{"uid": left.Metadata.UID, "finalizers": nil}})
	if _, err = a.server.do(ctx, r); apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (a *Applier) forget(k key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.live[k]; t != nil {
		delete(a.uids, t.tape)
		delete(a.live, k)
	}
}

func (k key) where() string {
	if k.namespace == "" {
		return k.name
	}
	return k.namespace + "/" + k.name
}

// established waits until the server serves what a definition defines.
func (a *Applier) established(ctx context.Context, k key) error {
	const most = 30 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("the server doesn't serve it after %s", most))
	defer cancel()
	for a.catalog.ask != nil && !a.dry {
		raw, err := a.server.do(ctx, request{verb: Get, resource: k.resource, name: k.name})
		if err != nil {
			return err
		}
		o, err := decode(raw)
		if err != nil {
			return err
		}
		for _, c := range elements(at(o, "status", "conditions")) {
			if text(c, "type") == "Established" && text(c, "status") == "True" {
				return nil
			}
		}
		timer := a.clock.NewTimer(100 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C():
		}
	}
	return nil
}
