package calibrate

import (
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
)

// told takes an Event that was created now. The further ones of a series, which change it, count for nothing.
func (r *reading) told(ev *timeline.Event, live bool) {
	if ev.Type != timeline.Added {
		return
	}
	var e corev1.Event
	r.decoder.Event(&e, ev.Object)
	r.stages.reports(&e)
	if !live {
		return
	}
	when := r.caused(&e)
	if !when.is {
		return
	}
	component := e.Source.Component
	if component == "" {
		component = e.ReportingController
	}
	switch about := e.InvolvedObject; about.Kind {
	case "Node":
		switch {
		case e.Reason == "Starting" && component == "kubelet":
			r.kubeletStarts(about.Name, when)
		case e.Reason == "Starting" && component == "kube-proxy":
			r.proxyStarts(about.Name, when)
		}
	case "Pod":
		p := r.pods[objectName{about.Namespace, about.Name}]
		if p != nil && (about.UID == "" || string(about.UID) == p.uid) {
			path := rawjson.Text(ev.Object, "involvedObject", "fieldPath")
			if path == "" {
				path = rawjson.Text(ev.Object, "regarding", "fieldPath")
			}
			p.told(r, &e, containerOf(path), when)
		}
	}
}

// An Event's own time is cut to the second, so that its position is later by less than a second and the way to the recorder.
// Where it is later than punctual, the recorder kept it until it had the object that the Event is about, and its own time says
// better when it was caused. One that is later than latest says nothing.
const (
	punctual = 2 * time.Second
	latest   = time.Minute
)

// caused is when what the Event tells of happened.
func (r *reading) caused(e *corev1.Event) mark {
	stamp := e.LastTimestamp.Time
	if stamp.IsZero() {
		stamp = e.EventTime.Time
	}
	said := stamp.Sub(r.start)
	switch {
	case stamp.IsZero() || r.start.IsZero() || r.now-said <= punctual:
		return r.here().before(r.usual("eventLag").Median)
	case r.now-said <= latest:
		return mark{at: max(said+time.Second/2, 0), is: true, rough: true}
	}
	return mark{}
}

// told takes what a kubelet reports of a pod (pkg/kubelet/events/event.go).
func (p *pod) told(r *reading, e *corev1.Event, name string, when mark) {
	switch e.Reason {
	case "NetworkNotReady", "FailedCreatePodSandBox", "FailedMount", "FailedAttachVolume":
		p.hindered = true
		return
	case "Pulling", "Pulled", "Failed", "Started", "Killing":
	default:
		return
	}
	c := p.container(name)
	switch e.Reason {
	case "Pulling":
		p.begins(r, when)
		c.pulls(r, pull{p.node, quoted(e.Message)}, when)
	case "Pulled":
		p.begins(r, when)
		c.hasPulled(r, e.Message, when)
	case "Failed":
		c.pullEnds(r)
	case "Started":
		c.starts(r, when)
	case "Killing":
		if p.deleted.is && when.at >= p.deleted.at {
			c.stops(r, p, when)
		}
	}
}

// containerOf is the name in a path such as spec.containers{web}.
func containerOf(path string) string {
	_, name, _ := strings.Cut(path, "{")
	return strings.TrimSuffix(name, "}")
}

// quoted is the first text in quotes of a message.
func quoted(message string) string {
	_, rest, _ := strings.Cut(message, `"`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// pulledIn reads how long a pull took, without the wait for others, and how large the image is, 0 where the message doesn't
// say, from the kubelet's message (pkg/kubelet/images/image_manager.go):
//
//	Successfully pulled image "web:1" in 1.234s (1.5s including waiting). Image size: 52428800 bytes.
func pulledIn(message string) (took time.Duration, bytes int64, ok bool) {
	rest, is := strings.CutPrefix(message, "Successfully pulled image ")
	if !is {
		return 0, 0, false
	}
	_, rest, is = strings.Cut(rest, `" in `)
	if !is {
		return 0, 0, false
	}
	word, rest, _ := strings.Cut(rest, " ")
	took, err := time.ParseDuration(strings.TrimSuffix(word, "."))
	if err != nil || took < 0 || took > longestPull {
		return 0, 0, false
	}
	if _, size, is := strings.Cut(rest, "Image size: "); is {
		size, _, _ = strings.Cut(size, " ")
		if n, err := strconv.ParseInt(size, 10, 64); err == nil {
			bytes = max(n, 0)
		}
	}
	return took, bytes, true
}

// longestPull bounds what a message may say.
const longestPull = 24 * time.Hour
