package invariant

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// What evictions and other disruptions take.
var (
	evictionTakes = &Invariant{
		Name:     "eviction-takes-allowance",
		Sentence: "A pod gets into a budget's disruptedPods alone, while the status is current and allows a disruption, and takes one from it.",
		Source:   "kubernetes, pkg/registry/core/pod/storage/eviction.go, checkAndDecrement",
	}
	evictionGranted = &Invariant{
		Name:     "eviction-granted",
		Sentence: "A Running and Ready pod that one budget covers is evicted (EvictionByEvictionAPI) only as the budget grants it: the pod is in disruptedPods, or a disruption is allowed.",
		Source:   "kubernetes, pkg/registry/core/pod/storage/eviction.go, EvictionREST.Create",
	}
	taintEvicts = &Invariant{
		Name:     "taint-evicts",
		Sentence: "The taint manager deletes a pod (DeletionByTaintManager) only from a node with a NoExecute taint.",
		Source:   "kube-controller-manager, pkg/controller/tainteviction/taint_eviction.go, processPodOnNode",
	}
)

var evictionInvariants = []*Invariant{evictionTakes, evictionGranted, taintEvicts}

// The reasons of DisruptionTarget that are looked at, written as literals by the sources that the invariants name.
const (
	byEvictionAPI  = "EvictionByEvictionAPI"
	byTaintManager = "DeletionByTaintManager"
	byPodGC        = "DeletionByPodGC"
)

// grantedFor is the time a grant counts after it has left disruptedPods: the
// controller takes it out as soon as it sees the pod go.
const grantedFor = 2 * time.Second

// leftName is a pod that has left disruptedPods.
type leftName struct {
	name string
	at   time.Duration
}

// granting follows disruptedPods and the allowance.
func (c *Checker) granting(h *trackedObject, o *policyv1.PodDisruptionBudget, s *step) {
	b, st := h.budget, &o.Status
	var came []string
	for name := range st.DisruptedPods {
		if _, had := slices.BinarySearch(b.disrupted, name); !had {
			came = append(came, name)
		}
	}
	for _, name := range b.disrupted {
		if _, has := st.DisruptedPods[name]; !has {
			b.left.push(leftName{name, c.at})
			b.names[name]++
		}
	}
	for {
		old, ok := b.left.take(func(l *leftName) bool { return l.at+grantedFor+c.opts.tolerance() < c.at })
		if !ok {
			break
		}
		if b.names[old.name]--; b.names[old.name] <= 0 {
			delete(b.names, old.name)
		}
	}
	if len(came) > 0 && !s.first && !s.jump && (len(came) > 1 || b.stale || b.allowed < 1 || st.DisruptionsAllowed != b.allowed-1) {
		slices.Sort(came)
		found := "disruptionsAllowed " + strconv.Itoa(int(st.DisruptionsAllowed)) + " after " + strconv.Itoa(int(b.allowed)) + " as " + strings.Join(came, ", ") + " came"
		if b.stale {
			found += ", with a status older than the spec"
		}
		c.report(h, evictionTakes, found, "one pod, and one disruption less than a current status allowed")
	}
	if len(came) > 0 || len(b.disrupted) != len(st.DisruptedPods) {
		b.disrupted = b.disrupted[:0]
		for name := range st.DisruptedPods {
			b.disrupted = append(b.disrupted, name)
		}
		slices.Sort(b.disrupted)
		c.countDisrupted(h)
	}
	if b.allowed > 0 && st.DisruptionsAllowed <= 0 {
		b.closed = c.here
	}
}

// grants reports whether a pod may be evicted now, or might have been until a
// moment ago.
func (b *trackedBudget) grants(pod string, since time.Duration) bool {
	if _, is := slices.BinarySearch(b.disrupted, pod); is || b.names[pod] > 0 {
		return true
	}
	return b.allowed > 0 && !b.stale || b.closed.at >= 0 && b.closed.at >= since
}

// disruption looks at a pod that has just got DisruptionTarget.
func (c *Checker) disruption(h *trackedObject, o *corev1.Pod, running bool) {
	switch h.pod.disrupted {
	case byEvictionAPI:
		if running && h.deletion.IsZero() && c.whole(noderoll.Budgets) {
			c.evicted(h, o)
		}
	case byTaintManager:
		c.expectNoExecute(h)
	case byPodGC:
		c.expectQuarantine(h)
	}
}

func (c *Checker) evicted(h *trackedObject, o *corev1.Pod) {
	var by *trackedObject
	for b := range c.mayCover(h.key.namespace, o.Labels) {
		if !b.budget.matcher.Matches(labels.Set(o.Labels)) {
			continue
		}
		if by != nil {
			return // the server refuses with an error of its own
		}
		by = b
	}
	since := c.at - c.opts.Skew
	if by == nil || by.budget.grants(h.key.name, since) {
		return
	}
	began, allowed := c.here, by.budget.allowed
	c.later(0, func() {
		if by.gone || by.budget.grants(h.key.name, since) {
			return
		}
		c.reportAt(began, h, evictionGranted, "EvictionByEvictionAPI while "+by.String()+" allowed "+strconv.Itoa(int(allowed)), "it granted first")
	})
}

func (c *Checker) expectNoExecute(h *trackedObject) {
	x, began := h.pod.host, c.here
	if x == nil || x.node == nil {
		return
	}
	n, since := x.node.node, max(0, c.at-c.opts.tolerance()-reaction)
	seen := func() bool { return n.executes() || x.noExecute >= since }
	if seen() {
		return
	}
	c.later(0, func() {
		if !seen() {
			c.reportAt(began, h, taintEvicts, "DeletionByTaintManager on node "+x.name+" without a NoExecute taint", "a NoExecute taint")
		}
	})
}

func (n *trackedNode) executes() bool {
	for i := range n.taints {
		if n.taints[i].effect == noExecute {
			return true
		}
	}
	return false
}

// expectQuarantine checks that the node of an orphan has been gone for long.
func (c *Checker) expectQuarantine(h *trackedObject) {
	x := h.pod.host
	if x == nil || !x.known {
		return
	}
	began, alive := c.here, x.node != nil
	early := !alive && c.at-x.gone.at+reaction+c.opts.tolerance() < quarantine &&
		c.at > x.absent+quarantineEnds+c.opts.tolerance()
	if early {
		c.report(h, orphansQuarantined, "DeletionByPodGC "+(c.at-x.gone.at).String()+" after node "+x.name, "40 s of quarantine")
	} else if alive {
		c.later(0, func() {
			if x.node != nil {
				c.reportAt(began, h, orphansQuarantined, "DeletionByPodGC while node "+x.name+" is there", "the node to be gone for 40 s")
			}
		})
	}
}
