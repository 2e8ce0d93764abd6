package analysis

import "time"

// workload is the pods of one owner while the tape is read.
type workload struct {
	Workload
	started bool // there was an available pod, or the first list is over
	now     int  // available
	since   time.Duration
	at      []time.Duration // how long each number of pods was available, while it isn't known how many are wanted
	none    time.Duration   // for which none was, and some were wanted
	rest    time.Duration   // of at[0]: all pods that were there had done their work
	owner   owner
	budgets []*budget
	covered map[*budget]bool // by budgets
	pods    int              // that were ever seen
	resting int              // that are there and have done their work

	deletions, gone []*pod // in the tape's order

	zero      intervals // none was available
	lacks     intervals // of the budget that lacked healthy pods longest
	longest   interval  // of LongestWait
	restarted []Moment  // the first restarts, and the last one
}

// workloadOf finds the workload of a pod by the owner that controls it. Of a ReplicaSet whose name ends in the hash that its
// pods carry it is the Deployment, which names its ReplicaSets so (pkg/controller/deployment/sync.go of Kubernetes).
func (s *reading) workloadOf(p *pod, kind, owner string) *workload {
	switch {
	case owner == "":
		kind, owner = "Pod", p.name
	case kind == "ReplicaSet":
		if hash := p.labels["pod-template-hash"]; hash != "" && len(owner) > len(hash)+1 && owner[len(owner)-len(hash)-1:] == "-"+hash {
			kind, owner = "Deployment", owner[:len(owner)-len(hash)-1]
		}
	case kind == "Node": // a static pod
		kind, owner = "Pod", p.name
	}
	key := kind + "/" + p.namespace + "/" + owner
	w := s.workloads[key]
	if w == nil {
		w = &workload{Workload: Workload{Kind: kind, Namespace: p.namespace, Name: owner}, covered: map[*budget]bool{}, owner: s.owners[key]}
		s.workloads[key] = w
	}
	w.pass(s.now.At)
	w.pods++
	return w
}

// path is a workload as Kind/namespace/name.
func (w *Workload) path() string { return w.Kind + "/" + w.Namespace + "/" + w.Name }

// listed says that the list with which the tape began is over.
func (w *workload) listed(s *reading, now Moment) {
	if w.started || w.pods == 0 {
		return
	}
	w.start(now)
	if s.o.Series {
		w.Available = append(w.Available, Level{now, w.now})
	}
}

func (w *workload) start(now Moment) {
	w.started, w.since = true, now.At
	w.least(now)
}

// rests reports whether all pods that are there have done their work: none is missing.
func (w *workload) rests() bool { return w.resting > 0 && w.resting == w.pods-len(w.gone) }

// pass counts the time up to a position at the present number of available pods.
func (w *workload) pass(at time.Duration) {
	if !w.started {
		return
	}
	d := at - w.since
	if w.since = at; w.owner.there {
		w.lacked(d)
		return
	}
	for len(w.at) <= w.now {
		w.at = append(w.at, 0)
	}
	w.at[w.now] += d
	if w.now == 0 && w.rests() {
		w.rest += d
	}
}

// shift says that a pod has become available, or is no more.
func (w *workload) shift(s *reading, by int) {
	w.pass(s.now.At)
	w.now += by
	w.Replicas = max(w.Replicas, w.now)
	if !w.started && s.podsListed {
		w.start(s.now)
	} else {
		w.least(s.now)
	}
	if s.o.Series && w.started {
		w.Available = append(w.Available, Level{s.now, w.now})
	}
}

func (w *workload) restart(by int, now Moment) {
	if by <= 0 {
		return
	}
	w.Restarts += by
	if len(w.restarted) < mostLines {
		w.restarted = append(w.restarted, now)
	}
	w.restarted[len(w.restarted)-1] = now
}

// pended ends the time for which a pod waited for a node.
func (w *workload) pended(p *pod, now Moment) {
	if p.place != nil || !p.pendingFrom.is() {
		return
	}
	from := p.pendingFrom
	d := now.At - from.At
	if p.pendingFrom = (Moment{}); d <= 0 {
		return
	}
	w.Pending += d
	if d > w.LongestWait {
		w.LongestWait, w.PendingPod, w.PendingWhy = d, p.String(), p.whyPending
		w.longest = interval{from, now}
	}
}

// unavailable is how long none of its pods was available while its owner wanted some, and not all of them had done their work.
// Where the tape doesn't have the owner, it is all such time but for the one since its last pod went where it has none any more:
// it was scaled to nothing then, or deleted. One that was scaled to nothing and up again can't be told from one that failed.
func (w *workload) unavailable(now Moment) time.Duration {
	if len(w.at) == 0 || w.owner.there {
		return w.none + w.unknown(0) - w.rest
	}
	d := w.none + w.at[0] - w.rest
	if n := len(w.gone); n > 0 && n == w.pods {
		d -= now.At - w.gone[n-1].goneAt.At
	}
	return d
}

// unknown is how long a number of pods was available while it wasn't known how many are wanted.
func (w *workload) unknown(n int) time.Duration {
	if n < len(w.at) {
		return w.at[n]
	}
	return 0
}

// close ends what the tape's end cuts off.
func (w *workload) close(now Moment) Workload {
	w.pass(now.At)
	w.zero.end(now)
	for n, d := range w.at {
		if n < w.Replicas {
			w.BelowReplicas += d
		}
	}
	for _, b := range w.budgets {
		w.Wanted = max(w.Wanted, b.most)
		if below := b.lacks.total(); below > w.BelowWanted {
			w.BelowWanted, w.lacks = below, b.lacks
		}
	}
	return w.Workload
}
