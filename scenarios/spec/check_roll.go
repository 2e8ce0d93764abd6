package spec

import (
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

func (c *checker) roll() *Error {
	r := c.f.Roll
	if r == nil {
		return nil
	}
	provider := c.f.Cluster.Provider
	w := r.way()
	if w == nil || !w.of(provider) {
		return c.bad("roll.strategy", fmt.Sprintf("%q", r.Strategy), fmt.Sprintf("%s for the provider %s", list(strategiesOf(provider)), provider))
	}
	if err := c.within("roll.at", r.At); err != nil {
		return err
	}
	if err := c.choices(r, w); err != nil {
		return err
	}
	if w.inPlace {
		return c.podRoll(r)
	}
	if err := c.groupList("roll.groups", r.Groups); err != nil {
		return err
	}
	if w.maxSurge != nil && r.MaxSurge.Value == 0 && r.MaxUnavailable.Value == 0 {
		return c.bad("roll.maxSurge", "0, and maxUnavailable 0 as well", "one of them above 0: nothing could be replaced")
	}
	if r.Strategy == StrategyEKSDefault || r.Strategy == StrategyEKSMinimal || r.Strategy == StrategyGKEBlueGreen {
		if r.MaxUnavailable.Value < 1 || r.MaxUnavailable.Value > 100 {
			return c.bad("roll.maxUnavailable", r.MaxUnavailable.String(), fmt.Sprintf("1 to 100 for the strategy %s", r.Strategy))
		}
	}
	for _, name := range r.Groups {
		i := slices.IndexFunc(c.f.Groups, func(g Group) bool { return g.Name == name })
		if c.f.Groups[i].From == c.f.Groups[i].To {
			return c.bad(fmt.Sprintf("groups[%d].to", i), "what the nodes run already", "something that differs from `from`: there is nothing to roll")
		}
	}
	return nil
}

// choices refuses what the strategy doesn't have.
func (c *checker) choices(r *Roll, w *way) *Error {
	none := func(key, found string) *Error {
		return c.bad("roll."+key, found, fmt.Sprintf("no %s for the strategy %s, which has no such choice", key, r.Strategy))
	}
	for _, v := range r.numbers(w) {
		if v.usual == nil && c.has("roll."+v.key) {
			return none(v.key, v.value.String())
		}
	}
	for _, v := range r.durations(w) {
		if v.usual == nil && c.has("roll."+v.key) {
			return none(v.key, short(*v.value))
		}
	}
	for _, v := range r.ofKind() {
		if v.inPlace != w.inPlace && c.has("roll."+v.key) {
			return none(v.key, v.found)
		}
	}
	switch {
	case r.Force && !w.force:
		return none("force", "true")
	case r.LegacyTaint && !w.legacyTaint:
		return none("legacyTaint", "true")
	case r.RollbackAt > 0 && r.StopAfter > 0:
		return c.bad("roll.rollbackAt", r.RollbackAt.String(), "none with stopAfter: the roll stalls there")
	}
	return nil
}

// ofKind are the keys that a roll of nodes has and one in place hasn't, and the
// other way round.
func (r *Roll) ofKind() []struct {
	key, found string
	inPlace    bool
} {
	return []struct {
		key, found string
		inPlace    bool
	}{
		{"workload", fmt.Sprintf("%q", r.Workload), true},
		{"image", fmt.Sprintf("%q", r.Image), true},
		{"requests", "a mapping", true},
		{"groups", all(r.Groups), false},
		{"parallel", fmt.Sprint(r.Parallel), false},
		{"rollbackAt", r.RollbackAt.String(), false},
		{"stopAfter", fmt.Sprint(r.StopAfter), false},
	}
}

// podRoll checks a roll in place.
func (c *checker) podRoll(r *Roll) *Error {
	if r.Workload == "" {
		return c.bad("roll", `no "workload"`, fmt.Sprintf("it for the strategy %s", r.Strategy))
	}
	if err := c.workloadNamed("roll.workload", r.Workload); err != nil {
		return err
	}
	w := c.f.Workload(r.Workload)
	created := w.CreateAt > 0 || slices.ContainsFunc(c.f.Faults, func(f Fault) bool {
		return f.CreateWorkload != nil && c.f.Workload(f.CreateWorkload.Workload) == w
	})
	switch {
	case w.Kind != KindReplicaSet:
		// Another controller replaces pods whose template has changed.
		return c.bad("roll.workload", fmt.Sprintf("%q, a %s", w.Name, w.Kind), "a ReplicaSet, which leaves pods alone when its template changes")
	case w.PodSpec != nil:
		return c.bad("roll.workload", fmt.Sprintf("%q, whose pods are in a podSpec", w.Name), "a workload with image and requests of its own")
	case created:
		return c.bad("roll.workload", fmt.Sprintf("%q, which isn't there yet at 0s", w.Name), "a workload that is")
	case c.f.Cluster.Kubelet == KubeletKwok:
		return c.bad("cluster.kubelet", `"kwok"`, fmt.Sprintf("real for the strategy %s: kwok leaves running pods as they are", r.Strategy))
	case r.MaxUnavailable.Value < 1:
		return c.bad("roll.maxUnavailable", r.MaxUnavailable.String(), "1 at the least: no pod could be changed")
	case r.Strategy == StrategyImage:
		return c.imageRoll(r, w)
	}
	return c.resizeRoll(r, w)
}

func (c *checker) imageRoll(r *Roll, w *Workload) *Error {
	switch {
	case c.has("roll.requests"):
		return c.bad("roll.requests", "a mapping", "no requests for the strategy inplace-image, which changes the image")
	case r.Image == "":
		return c.bad("roll", `no "image"`, "it for the strategy inplace-image")
	case r.Image == w.Image:
		return c.bad("roll.image", fmt.Sprintf("%q, which %s runs already", r.Image, w.Name), "another image: there is nothing to roll")
	}
	return nil
}

// resizeRoll refuses what the API server does (ValidatePodResize of
// k8s.io/kubernetes/pkg/apis/core/validation).
func (c *checker) resizeRoll(r *Roll, w *Workload) *Error {
	switch {
	case r.Image != "":
		return c.bad("roll.image", fmt.Sprintf("%q", r.Image), "no image for the strategy inplace-resize, which changes the requests")
	case minorOf(c.f.Cluster.KubernetesVersion) < 33:
		return c.bad("cluster.kubernetesVersion", fmt.Sprintf("%q", c.f.Cluster.KubernetesVersion), `"1.33" or later for the strategy inplace-resize: before, a pod can't be resized`)
	case r.Requests == nil || r.Requests.CPU == nil && r.Requests.Memory == nil:
		return c.bad("roll", "neither requests.cpu nor requests.memory", "one of them for the strategy inplace-resize")
	case w.Requests.CPU.IsZero() && w.Requests.Memory.IsZero():
		return c.bad("roll.workload", fmt.Sprintf("%q, which requests nothing", w.Name), "a workload with requests: a resize can't change the quality of service class")
	case (r.Requests.CPU == nil || r.Requests.CPU.Cmp(w.Requests.CPU) == 0) && (r.Requests.Memory == nil || r.Requests.Memory.Cmp(w.Requests.Memory) == 0):
		return c.bad("roll.requests", fmt.Sprintf("what the pods of %s have already", w.Name), "something else: there is nothing to roll")
	}
	for i := range c.f.Groups {
		if c.f.Groups[i].OS == model.Windows && (w.Group == "" || w.Group == c.f.Groups[i].Name) {
			return c.bad(fmt.Sprintf("groups[%d].os", i), fmt.Sprintf("%q", c.f.Groups[i].OS), "linux for the pods that are resized")
		}
	}
	return nil
}

// rounds are the timings of loops that last as long as the tape.
var rounds = []string{
	"capacityRetry", "statusSync", "statusReport", "statusReportAfterChange", "pressureSync", "schedulerRetry",
	"monitorPeriod", "podGCPeriod", "cloudNodePeriod", "rollerPoll", "evictionRetry", "autoscalerScan", "disruptionPoll",
	"terminationRequeue",
}

// shortestRound keeps a file from asking for millions of rounds a minute.
const shortestRound = 100 * time.Millisecond

// Shortest is the least median that a file may give a timing.
func Shortest(timing string) time.Duration {
	if slices.Contains(rounds, timing) {
		return shortestRound
	}
	return time.Millisecond
}

// timings refuses names that no duration has, and rounds that are too short.
func (c *checker) timings() *Error {
	var known []string
	for _, t := range model.TimingNames() {
		known = append(known, t.Name)
	}
	for _, t := range c.f.Timings {
		if !slices.Contains(known, t.Name) {
			return c.unknown("timings."+t.Name, "timing", t.Name, known)
		}
		if usual := t.Dist.Model().Median(); usual < shortestRound && Shortest(t.Name) == shortestRound {
			return c.bad("timings."+t.Name, usual.String()+" in the middle", "at least "+shortestRound.String()+", since it is waited for again and again")
		}
	}
	return nil
}
