package tapediff

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/timeline"
)

// DefaultSkew bounds how far an Event stands from the write that belongs to it on a tape as it was recorded.
const DefaultSkew = 2 * time.Second

// An occurrence is one occurrence of an Event, kept until the whole tape is known: it may arrive before its object.
type occurrence struct {
	at        time.Duration
	about     corev1.ObjectReference
	what      string // type and reason
	component string
}

func (in *reading) event(ev timeline.Event) error {
	if in.there(ev) {
		in.before++
		return nil
	}
	if ev.Type == timeline.Deleted {
		return nil
	}
	var e corev1.Event
	if err := decode(ev, &e); err != nil {
		return err
	}
	// The events.k8s.io API leaves the source empty (client-go, tools/events/event_recorder.go).
	component := cmp.Or(e.Source.Component, e.ReportingController)
	if in.excluded.excludes(e.InvolvedObject.Kind, e.Reason, component) {
		return nil
	}
	in.events = append(in.events, occurrence{
		at: ev.At, about: e.InvolvedObject, what: strings.TrimSpace(e.Type + " " + e.Reason), component: component,
	})
	return nil
}

// tellEvents puts every Event on the track of its object.
func (in *reading) tellEvents() {
	for _, e := range in.events {
		if e.about.Kind == "Pod" && e.what == "Normal Started" {
			if h := in.podOf(e); h != nil {
				h.pod.started = max(h.pod.started, e.at)
			}
		}
	}
	for _, e := range in.events {
		track := "events " + e.component
		switch e.about.Kind {
		case "Node":
			if h := in.nodeOf(e); h != nil {
				h.say("", track, e.at, e.what)
				continue
			}
			in.aside++
		case "Pod":
			if h := in.podOf(e); h != nil {
				h.say(h.pod.chapterOf(e, in.skew, h.there), track, e.at, e.what)
				continue
			}
			in.aside++
		default:
			in.otherOf(e).say("", track, e.at, e.what)
		}
	}
}

// podOf finds the pod of an Event: by UID, since those of a StatefulSet come again with the same name.
func (in *reading) podOf(e occurrence) *history {
	if h := in.byUID["Pod "+string(e.about.UID)]; h != nil {
		return h
	}
	return in.byPath[e.about.Namespace+"/"+e.about.Name]
}

// nodeOf finds the node of an Event: by UID, else the latest of that name that was there by then. The kubelet gives a
// node's name for its UID (pkg/kubelet/kubelet.go, nodeRef).
func (in *reading) nodeOf(e occurrence) *history {
	list := in.named[e.about.Name]
	if len(list) == 0 {
		return nil
	}
	found := list[0]
	for _, h := range list {
		if h.uid != "" && h.uid == string(e.about.UID) {
			return h
		}
		if h.at <= e.at {
			found = h
		}
	}
	return found
}

// starting are the Events by which a scheduler binds a pod (pkg/scheduler/schedule_one.go), and those by which a kubelet
// starts a container (pkg/kubelet/events/event.go).
var starting = map[string]bool{"Normal Scheduled": true, "Normal Pulling": true, "Normal Pulled": true, "Normal Created": true, "Normal Started": true}

// chapterOf returns the chapter of a pod to which an Event belongs. The first of each of the Events of a start belongs to it,
// however late it comes, and however early the end: client-go's recorder sends them one after the other, and takes
// seconds for it where many pods start at once on a busy machine.
func (p *podHistory) chapterOf(e occurrence, skew time.Duration, there bool) string {
	if !there && starting[e.what] && !p.told[e.what] {
		if p.told == nil {
			p.told = map[string]bool{}
		}
		p.told[e.what] = true
		return start
	}
	if e.what == "Normal Killing" && p.ended && e.at >= p.started {
		// However early: a kubelet that ends a pod says so first, and writes when its containers have exited.
		return end
	}
	return p.chapterAt(e.at, skew, there)
}

// chapterAt is the chapter of a pod to which an Event belongs. What comes with the end belongs to the end: controllers
// announce a deletion before they ask for it. What comes right after the first readiness still tells of the start.
func (p *podHistory) chapterAt(at, skew time.Duration, there bool) string {
	switch {
	case p.ended && at >= p.ends-skew:
		return end
	case !there && (!p.began || at <= p.ready+skew):
		return start
	}
	return run
}

// otherOf is the history of an object that is known by its Events.
func (in *reading) otherOf(e occurrence) *history {
	name := e.about.Name
	if i := strings.LastIndexByte(name, '-'); e.about.Kind == "ReplicaSet" && i > 0 && in.hashes[name[i+1:]] {
		name = name[:i]
	}
	id := e.about.Kind + " " + e.about.Namespace + "/" + name
	h := in.other[id]
	if h == nil {
		h = newHistory(e.about.Kind, e.about.Namespace, name, "", e.at)
		in.other[id] = h
		in.others = append(in.others, h)
	}
	return h
}
