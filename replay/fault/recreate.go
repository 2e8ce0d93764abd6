package fault

import (
	"encoding/hex"
	"hash/fnv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// replacement is an object that was deleted and made again: from then on it is another
// one, in everything that the tape says of it.
type replacement struct {
	uid     string // on the tape
	other   string // in its place
	created string
}

// recreate replaces an event that modifies an object by the object's deletion
// and the creation of another one. One that is on its way out can't be.
func recreate(in *injector, r *rule, e *event, p *plan, _ []noderoll.Entry) {
	uid := uidOf(e)
	if p.events != nil || e.Type != timeline.Modified || uid == "" || rawjson.Get(e.Object, "metadata", "deletionTimestamp") != nil || !in.hit(r, e) {
		return
	}
	was := e.Event
	was.Type, was.Object, was.RV = timeline.Deleted, nil, ""
	if t := in.replacements[e.objectKey()]; t != nil {
		was.UID = t.other
	}
	t := &replacement{uid: uid, other: another(uid, e.RV)}
	if start := in.header.Metadata.Start; !start.IsZero() {
		t.created = start.Add(e.At).UTC().Format(time.RFC3339)
	}
	in.replacements[e.objectKey()] = t
	p.events = []timeline.Event{was, t.in(e.Event, timeline.Added)}
}

// rewrite puts the other object's UID in the place of the tape's.
func (in *injector) rewrite(e *event, p *plan) {
	t := in.replacements[e.objectKey()]
	switch {
	case t == nil || p.events != nil || !e.Type.Object():
	case uidOf(e) != "" && uidOf(e) != t.uid:
		delete(in.replacements, e.objectKey()) // the tape has made another one itself
	default:
		p.events = []timeline.Event{t.in(e.Event, e.Type)}
		if e.Type == timeline.Deleted && e.live {
			delete(in.replacements, e.objectKey())
		}
	}
}

// in returns the event as one of the other object.
func (t *replacement) in(ev timeline.Event, typ timeline.Type) timeline.Event {
	ev.Type = typ
	ev.UID = t.other
	if ev.Object == nil {
		return ev
	}
	patch := rawjson.AppendString([]byte(`{"metadata":{"uid":`), t.other)
	if t.created != "" {
		patch = rawjson.AppendString(append(patch, `,"creationTimestamp":`...), t.created)
	}
	ev.Object = rawjson.Apply(nil, ev.Object, append(patch, "}}"...))
	return ev
}

func uidOf(e *event) string {
	if e.UID != "" {
		return e.UID
	}
	return rawjson.Text(e.Object, "metadata", "uid")
}

// another makes a UID of one: always the same, and of the same form.
func another(uid, version string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(uid + "/" + version)) // a hash takes everything
	s := hex.EncodeToString(h.Sum(nil))
	return s[:8] + "-" + s[8:12] + "-4" + s[13:16] + "-8" + s[17:20] + "-" + s[20:]
}
