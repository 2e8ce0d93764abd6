package rolls

import (
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// podRolls finds the rolls of the pods that a tape's scope names, in their feed.
type podRolls struct {
	header    *timeline.Header
	scope     noderoll.PodScope
	follower  *observe.Follower
	bodies    map[podName]*pod
	followed  map[string]bool // keys of resources
	rolls     []Roll
	now       *current
	namespace string
	line      int // of the present event
	check     patchCheck
}

type podName struct{ namespace, name string }

// pod is a pod in its last state.
type pod struct {
	uid     string
	body    []byte
	patches int // since the last event with the whole object
}

func newPodRolls(h *timeline.Header, o observe.Options) *podRolls {
	if !o.Pods.On() {
		return nil
	}
	return &podRolls{
		header: h, scope: o.Pods, follower: observe.New(h, o), namespace: o.Pods.Namespace,
		bodies: map[podName]*pod{}, followed: map[string]bool{},
	}
}

// apply takes the tape's next line.
func (r *podRolls) apply(ev timeline.Event, line int) error {
	r.line = line
	if ev.Type == timeline.Mark {
		return r.tell(ev)
	}
	if !r.podsKey(ev.Resource) || ev.Type.Object() && r.namespace != "" && ev.Namespace != r.namespace {
		return nil
	}
	if !ev.Type.Object() {
		return r.tell(ev)
	}
	key := podName{ev.Namespace, ev.Name}
	p := r.bodies[key]
	if p == nil {
		p = &pod{uid: ev.UID}
		r.bodies[key] = p
	}
	switch {
	case ev.Object != nil:
		p.body, p.patches = ev.Object, 0
	case ev.Patch != nil:
		p.body = rawjson.Apply(make([]byte, 0, len(p.body)+len(ev.Patch)), p.body, ev.Patch)
		p.patches++
		if err := r.check.refuses(&ev, p.patches, len(p.body)); err != nil {
			return err
		}
	}
	if ev.UID != "" {
		p.uid = ev.UID
	}
	if ev.Type == timeline.Deleted {
		delete(r.bodies, key)
	}
	ev.UID, ev.Object, ev.Patch = p.uid, p.body, nil
	return r.tell(ev)
}

// podsKey reports whether a resource key of the tape means pods.
func (r *podRolls) podsKey(key string) bool {
	is, known := r.followed[key]
	if !known {
		res, ok := r.header.Lookup(key)
		if is = ok && res.Group == "" && res.Resource == noderoll.Pods; len(r.followed) < mostGroups {
			r.followed[key] = is
		}
	}
	return is
}

func (r *podRolls) tell(ev timeline.Event) error {
	entries, err := r.follower.Apply(ev)
	for _, e := range entries {
		r.take(e)
	}
	return err
}

// take looks at one entry of the feed.
func (r *podRolls) take(e noderoll.Entry) {
	if begins := e.Kind == noderoll.EvtUpdating || e.Kind == noderoll.EvtResizing; r.now == nil && begins && e.Reason == "" {
		r.now = &current{Roll: Roll{Pods: &PodRoll{Scope: r.scope.String()}, Start: e.At, StartLine: r.line}}
	}
	if r.now == nil {
		return
	}
	p := r.now.Pods
	switch e.Kind {
	case noderoll.EvtUpdated:
		p.Updated++
	case noderoll.EvtResized:
		p.Resized++
	case noderoll.EvtRolledBack:
		p.RolledBack++
	case noderoll.EvtRestarted:
		p.Restarted++
	case noderoll.EvtFailed:
		if e.Object == "" {
			r.now.milestone(e, r.line)
			r.close(Failed)
			return
		}
		p.Failed++
	case noderoll.EvtComplete:
		r.now.milestone(e, r.line)
		r.close(Complete)
		return
	case noderoll.EvtGap, noderoll.EvtMark:
		return
	}
	r.now.milestone(e, r.line)
}

func (r *podRolls) close(o Outcome) {
	if r.now != nil {
		r.now.Outcome = o
		r.rolls = append(r.rolls, r.now.Roll)
		r.now = nil
	}
}

func (r *podRolls) found() []Roll {
	r.close(Unfinished)
	return r.rolls
}

// String counts what was done: "3 pods updated, 1 restarted".
func (p *PodRoll) String() string {
	var parts []string
	add := func(n int, did string) {
		if n == 0 {
			return
		}
		if len(parts) == 0 {
			noun := "pod"
			if n > 1 {
				noun = "pods"
			}
			did = noun + " " + did
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, did))
	}
	add(p.Updated, "updated")
	add(p.Resized, "resized")
	add(p.RolledBack, "rolled back")
	add(p.Failed, "failed")
	add(p.Restarted, "restarted")
	if len(parts) == 0 {
		return "no pod updated"
	}
	return strings.Join(parts, ", ")
}
