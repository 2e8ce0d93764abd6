package scheduler

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// failure is why pods of a class fitted nowhere, and what was so then.
type failure struct {
	message string
	version uint64
	at      time.Duration
}

const (
	// largeCluster is where a cluster's failures are explained again only after a while:
	// explaining looks at every node.
	largeCluster = 500
	explainedIn  = time.Second
	// noteLimit bounds the length of an event's note (NoteLengthLimit of pkg/apis/core/validation).
	noteLimit = 1024
)

// The reasons for which a node refuses a pod, as the scheduler's messages count them.
const (
	ReasonCPU     = "Insufficient cpu"
	ReasonMemory  = "Insufficient memory"
	ReasonPods    = "Too many pods"
	reasonSpread  = "node(s) didn't match pod topology spread constraints"
	reasonNoLabel = reasonSpread + " (missing required label)"
	ReasonAbsent  = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
	notHelpful    = "Preemption is not helpful for scheduling"
	noVictims     = "No preemption victims found for incoming pod"
	notEligible   = "not eligible due to preemptionPolicy=Never."
)

// explain says why a pod fits nowhere, in the scheduler's words: FitError.Error
// of pkg/scheduler/framework/types.go, and what preemption could have done.
// Pods that are alike share an explanation as long as it holds.
func (s *Scheduler) explain(p *kube.Pod, c *podClass) string {
	if len(s.nodes) == 0 {
		return "no nodes available to schedule pods"
	}
	shared := s.isShared(p)
	f := &c.failure
	if shared && f.message != "" {
		if f.version == s.version || len(s.nodes) > largeCluster && s.Env.Now()-f.at < explainedIn {
			return f.message
		}
	}
	message := s.fitError(p, c)
	if shared {
		*f = failure{message, s.version, s.Env.Now()}
	}
	return message
}

// isShared reports whether a pod fits wherever others of its class do.
//
// Where pods mind others, those that a controller owns have the same labels.
func (s *Scheduler) isShared(p *kube.Pod) bool {
	return p.Pinned == "" && p.Claim == "" && (s.podCounts == nil && p.Template.Demands == nil || p.Owner != nil)
}

// failsLike reports whether another pod of a class has failed, and nothing has
// changed since.
func (s *Scheduler) failsLike(p *kube.Pod, c *podClass) bool {
	return s.isShared(p) && !s.outranks(c) && c.failure.message != "" && c.failure.version == s.version
}

// ReasonCounts counts nodes by reason.
type ReasonCounts struct {
	Reasons []string
	Nodes   []int
}

// Add counts nodes of a reason.
func (t *ReasonCounts) Add(reason string, nodes int) {
	if nodes == 0 {
		return
	}
	i := slices.Index(t.Reasons, reason)
	if i < 0 {
		i = len(t.Reasons)
		t.Reasons, t.Nodes = append(t.Reasons, reason), append(t.Nodes, 0)
	}
	t.Nodes[i] += nodes
}

// available writes "0/6 nodes are available: 2 Insufficient cpu, 4 …."; the
// parts are sorted as strings, numbers and all.
func (t *ReasonCounts) available(all int) string {
	parts := make([]string, len(t.Reasons))
	for i := range t.Reasons {
		parts[i] = strconv.Itoa(t.Nodes[i]) + " " + t.Reasons[i]
	}
	slices.Sort(parts)
	return "0/" + strconv.Itoa(all) + " nodes are available: " + strings.Join(parts, ", ") + "."
}

// fitError is the explanation of a pod that can't have another's place.
func (s *Scheduler) fitError(p *kube.Pod, c *podClass) string {
	reasons, resolvable := s.reasons(p, c)
	if neverPreempts(p) {
		return reasons.available(len(s.nodes)) + s.afterFilter(notEligible)
	}
	var preemption ReasonCounts
	preemption.Add(notHelpful, len(s.nodes)-resolvable)
	preemption.Add(noVictims, resolvable)
	return reasons.available(len(s.nodes)) + s.afterFilter(preemption.available(len(s.nodes)))
}

// afterFilter returns the message of the plugins that might have made room.
func (s *Scheduler) afterFilter(preemption string) string {
	if s.Env.Version.Minor >= 34 {
		// The plugin DynamicResources, which is there by default since 1.34.
		return " no new claims to deallocate, preemption: " + preemption
	}
	return " preemption: " + preemption
}

// reasons counts the nodes by why a pod doesn't fit on them, and those where it
// would if other pods were gone.
func (s *Scheduler) reasons(p *kube.Pod, c *podClass) (reasons ReasonCounts, resolvable int) {
	limits, d := s.limits(c), s.demandOf(p)
	if d != nil && d.names != nil {
		for _, n := range s.Env.API.Nodes() {
			if sn := s.nodes[n.Name]; d.excludes(sn) {
				reasons.Add(ReasonAbsent, 1)
			} else if reason := s.Refusal(c.template, sn.group); reason != "" {
				reasons.Add(reason, 1)
			} else if s.explainNode(&reasons, p, c, sn, limits, d) {
				resolvable++
			}
		}
		return reasons, resolvable
	}
	if p.Pinned != "" {
		n := s.nodes[p.Pinned]
		if n == nil {
			reasons.Add(ReasonAbsent, len(s.nodes))
			return reasons, 0
		}
		reasons.Add(ReasonAbsent, len(s.nodes)-1)
		if reason := s.Refusal(c.template, n.group); reason != "" {
			reasons.Add(reason, 1)
		} else if s.explainNode(&reasons, p, c, n, limits, d) {
			resolvable = 1
		}
		return reasons, resolvable
	}
	s.sort(c)
	for i := range c.shut {
		reasons.Add(c.shut[i].reason, c.shut[i].count)
	}
	for i := range c.open {
		for k := range c.open[i].seats {
			n := c.open[i].seats[k].node
			if n != nil && s.explainNode(&reasons, p, c, n, limits, d) {
				resolvable++
			}
		}
	}
	return reasons, resolvable
}

// explainNode counts why a pod of a class doesn't fit on a node that it might
// run on, and reports whether it would if other pods were gone.
func (s *Scheduler) explainNode(reasons *ReasonCounts, p *kube.Pod, c *podClass, n *schedNode, limits spreadLimits, d *demand) bool {
	if reason, resolvable := d.before(n); reason != "" {
		reasons.Add(reason, 1)
		return resolvable
	}
	free := n.free()
	// That a node is too small even when empty the filter NodeResourcesFit says
	// since 1.34 (kubernetes/kubernetes#131345).
	lacking, enough := d.lacks(n)
	resolvable := s.Env.Version.Minor < 34 || c.need.CPU <= n.allocatable.CPU && c.need.Memory <= n.allocatable.Memory && enough
	if !free.Holds(c.need) || len(lacking) > 0 {
		for _, reason := range lacking {
			reasons.Add(reason, 1)
		}
		for _, reason := range lacks(free, c.need) {
			reasons.Add(reason, 1)
		}
		return resolvable
	}
	switch {
	case d != nil && n.exceeds(p):
		reasons.Add(reasonVolumes, 1)
		return true
	case s.elsewhere(p, n.group):
		reasons.Add(s.ReasonVolume(), 1)
		return false
	case limits.inZone >= 0 && n.group.zone == 0:
		reasons.Add(reasonNoLabel, 1)
		return false
	case !limits.zone(c, n.group.zone) || !limits.host(c, n):
		reasons.Add(reasonSpread, 1)
		return true
	}
	reason, resolvable := d.after(n)
	if reason != "" {
		reasons.Add(reason, 1)
	}
	return resolvable
}

// lacks says what a room has too little of (fitsRequest of pkg/scheduler/framework/plugins/noderesources/fit.go).
func lacks(free, need component.Room) (reasons []string) {
	if need.Pods > free.Pods {
		reasons = append(reasons, ReasonPods)
	}
	if need.CPU > free.CPU && need.CPU > 0 {
		reasons = append(reasons, ReasonCPU)
	}
	if need.Memory > free.Memory && need.Memory > 0 {
		reasons = append(reasons, ReasonMemory)
	}
	return reasons
}

// ReasonVolume is the reason of the filter VolumeBinding, reworded in 1.34
// (kubernetes/kubernetes#129887).
func (s *Scheduler) ReasonVolume() string {
	if s.Env.Version.Minor >= 34 {
		return "node(s) didn't match PersistentVolume's node affinity"
	}
	return "node(s) had volume node affinity conflict"
}

// cutNote cuts a message to what an event holds.
func cutNote(message string) string {
	const cut = " ..."
	if len(message) <= noteLimit {
		return message
	}
	return message[:noteLimit-len(cut)] + cut
}
