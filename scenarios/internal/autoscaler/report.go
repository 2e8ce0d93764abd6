package autoscaler

import (
	"strconv"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// What of the autoscaler's Events gets through: one about an object in five
// minutes (utils/kubernetes/factory.go, since --record-duplicated-events is off),
// five a second with a burst of ten (DefaultQPS and DefaultBurst of
// k8s.io/client-go/rest/config.go), and a thousand may wait (maxQueuedEvents of
// k8s.io/client-go/tools/record/event.go). The real one's counts include what it
// kept back; these don't.
const (
	reportAgain  = 5 * time.Minute
	reportEvery  = 200 * time.Millisecond
	reportBurst  = 10
	reportsQueue = 1000
	// reportsKnown bounds the number of objects that are remembered; the oldest are forgotten first.
	reportsKnown = 8192
)

var autoscalerSource = kube.Source{Component: "cluster-autoscaler"}

// reports is the way of the autoscaler's Events to the API server.
type reports struct {
	env      *component.Env
	uid      string // of the ConfigMap with the autoscaler's status
	queue    []report
	pumping  bool
	due      time.Duration            // when the next token comes, with a burst after it
	reported map[string]time.Duration // by UID, when an object was last told of
}

type report struct {
	pod             *kube.Pod // or
	node            *kube.Node
	kind            string
	reason, message string
}

func (r *reports) begin(env *component.Env, uid string) {
	r.env, r.uid, r.reported = env, uid, map[string]time.Duration{}
}

func (r *reports) pod(p *kube.Pod, reason, message string) {
	if !r.silent(p.UID) {
		r.add(report{pod: p, kind: "Normal", reason: reason, message: message})
	}
}

func (r *reports) node(n *kube.Node, reason, message string) {
	r.add(report{node: n, kind: "Normal", reason: reason, message: message})
}

// status reports about the autoscaler itself: its events regard the ConfigMap cluster-autoscaler-status.
func (r *reports) status(kind, reason, message string) {
	r.add(report{kind: kind, reason: reason, message: message})
}

// silent reports whether nothing more can be said of an object now.
func (r *reports) silent(uid string) bool {
	at, told := r.reported[uid]
	return told && r.env.Now()-at < reportAgain
}

func (r *reports) add(one report) {
	if len(r.queue) >= reportsQueue {
		return
	}
	r.queue = append(r.queue, one)
	if !r.pumping {
		r.pumping = true
		r.env.After(0, r.pump)
	}
}

// pump writes what may be written now, and comes back for the rest.
func (r *reports) pump() {
	now := r.env.Now()
	for k, one := range r.queue {
		about, gone := r.about(one)
		if gone || r.silent(about.UID) {
			continue
		}
		if r.due = max(r.due, now); r.due-now > (reportBurst-1)*reportEvery {
			r.queue = append(r.queue[:0], r.queue[k:]...)
			r.env.After(reportEvery, r.pump)
			return
		}
		r.due += reportEvery
		r.forget()
		r.reported[about.UID] = now
		r.env.API.Record(autoscalerSource, about, one.kind, one.reason, one.message)
	}
	clear(r.queue)
	r.queue, r.pumping = r.queue[:0], false
}

func (r *reports) about(one report) (about kube.Reference, gone bool) {
	switch {
	case one.pod != nil:
		return kube.AboutPod(one.pod), one.pod.Gone()
	case one.node != nil:
		about := kube.AboutNode(one.node)
		about.ResourceVersion = strconv.FormatUint(one.node.Version(), 10)
		return about, false
	}
	return kube.Reference{
		APIVersion: "v1", Kind: "ConfigMap", Namespace: "kube-system", Name: "cluster-autoscaler-status", UID: r.uid,
		ResourceVersion: strconv.FormatUint(r.env.API.Version(), 10),
	}, false
}

// forget drops objects whose five minutes are over, once there are many.
func (r *reports) forget() {
	if len(r.reported) < reportsKnown {
		return
	}
	for uid, at := range r.reported {
		if r.env.Now()-at >= reportAgain {
			delete(r.reported, uid)
		}
	}
}
