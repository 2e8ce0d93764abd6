package analysis

import (
	"time"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// owner is what a Deployment, ReplicaSet or StatefulSet on the tape asks for.
type owner struct {
	there    bool // on the tape, or once: it is known how many pods are asked for
	replicas int
}

// ownerOf takes the events of objects of a kind that own pods.
func ownerOf(kind string) func(*reading, *timeline.Event, bool) error {
	return func(s *reading, ev *timeline.Event, _ bool) error {
		key := kind + "/" + ev.Namespace + "/" + ev.Name
		o := s.owners[key]
		replicas := 0
		if ev.Type != timeline.Deleted {
			raw := []byte(ev.Object)
			if o.there && ev.Patch != nil {
				raw = ev.Patch
			}
			value := rawjson.Get(raw, "spec", "replicas")
			n, isNumber := kubejson.Integer(value)
			switch {
			case isNumber:
				replicas = int(min(max(n, 0), 1<<31-1))
			case value == nil && o.there && ev.Patch != nil:
				return nil // it doesn't speak of them
			default:
				replicas = 1 // pkg/apis/apps/v1/defaults.go of Kubernetes
			}
		}
		s.owners[key] = owner{true, replicas}
		if w := s.workloads[key]; w != nil {
			w.asks(s, s.owners[key])
		}
		return nil
	}
}

// asks says how many pods the owner wants from now on.
func (w *workload) asks(s *reading, o owner) {
	w.pass(s.now.At)
	w.owner = o
	w.least(s.now)
}

// wants reports whether any pod is wanted, as far as is known.
func (w *workload) wants() bool { return !w.owner.there || w.owner.replicas > 0 }

// least notes where the fewest pods are available, of the times in which any is wanted.
func (w *workload) least(now Moment) {
	if !w.started {
		return
	}
	if w.wants() && (w.LeastAt == nil || w.now < w.LeastAvailable) {
		w.LeastAvailable, w.LeastAt = w.now, moment(now)
	}
	w.zero.is(w.now == 0 && w.wants() && !w.rests(), now)
}

// lacked counts a time in which the number of pods is known that was wanted.
func (w *workload) lacked(d time.Duration) {
	if w.now < w.owner.replicas {
		w.BelowReplicas += d
		if w.now == 0 && !w.rests() {
			w.none += d
		}
	}
}
