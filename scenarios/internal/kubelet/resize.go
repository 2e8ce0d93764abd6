package kubelet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// A resize changes what running containers have: the kubelet sets it aside on
// the node where there is room (handlePodResourcesResize of
// pkg/kubelet/allocation/allocation_manager.go), gives it to the containers, and
// says in the pod's status how far that is. Kubelets do so since 1.33, where the
// feature InPlacePodVerticalScaling is on by default.

// Another condition of a resize than [component.ResizePending], and another reason of that one than [component.ResizeInfeasible].
const (
	resizeInProgress = "PodResizeInProgress"
	resizeDeferred   = "Deferred"
)

// deferredRetry is the delay of a resize that the node has no room for, unless a pod goes before (retryDelay of
// allocation_manager.go).
const deferredRetry = 3 * time.Minute

// share returns the one Given that all containers with the same have.
func (k *Kubelets) share(g kube.Given) *kube.Given {
	one := k.given[g]
	if one == nil {
		one = &g
		k.given[g] = one
	}
	return one
}

// giveTo gives a container that starts now its resources: those that were allocated to it, or, at its first start,
// those of the pod's spec.
func (l *podWorker) giveTo(c *kube.Container) *kube.Given {
	switch {
	case c.Given != nil:
		return l.m.k.share(kube.Given{Allocated: c.Given.Allocated, Actual: c.Given.Allocated})
	case l.p.Template.Resizable && l.m.v.InPlaceResize():
		is := l.p.Template.Containers[l.at].Resources()
		return l.m.k.share(kube.Given{Allocated: is, Actual: is})
	}
	return nil
}

// rememberGiven notes what containers had before their spec changed, where
// their status doesn't say it.
func (l *podWorker) rememberGiven(was *kube.Template) {
	if was == nil || !l.m.v.InPlaceResize() {
		return
	}
	for c := range l.cs {
		is := &l.cs[c]
		if c >= len(was.Containers) || is.Given != nil || is.State.Kind != "running" {
			continue
		}
		if had := was.Containers[c].Resources(); had != l.p.Template.Containers[c].Resources() {
			is.Given = l.m.k.share(kube.Given{Allocated: had, Actual: had})
		}
	}
}

// recallResize takes up what the status says of a resize.
func (l *podWorker) recallResize() {
	if c := l.p.Conditions.Get(component.ResizePending); c != nil {
		l.pending = *c
	}
	if c := l.p.Conditions.Get(resizeInProgress); c != nil {
		l.progress = *c
	}
}

// showResize puts the conditions of a resize after those of others (podResizeConditions of
// pkg/kubelet/status/status_manager.go).
func (l *podWorker) showResize(p *kube.Pod) {
	for _, c := range [...]struct {
		kind string
		is   *kube.Condition
	}{{component.ResizePending, &l.pending}, {resizeInProgress, &l.progress}} {
		if was := p.Conditions.Get(c.kind); was != nil {
			if *was == *c.is {
				continue
			}
			p.Conditions = p.Conditions.Remove(c.kind)
		}
		if c.is.Type != "" {
			p.Conditions = append(slices.Clip(p.Conditions), *c.is)
		}
	}
}

// resizeCondition is one of the two, true since the last time that its reason
// was another.
func (l *podWorker) resizeCondition(was *kube.Condition, kind, reason, message string) kube.Condition {
	now := l.m.now().Second()
	c := kube.Condition{Type: kind, Status: "True", Reason: reason, Message: message, Heartbeat: now, Transition: now}
	if was.Type != "" && was.Reason == reason {
		c.Transition = was.Transition
	}
	if l.m.v.PodGeneration() {
		c.Observed = l.p.Generation
	}
	return c
}

// allocate sets aside what the pod's spec wants, if the node has room for it.
func (l *podWorker) allocate() {
	wants := false
	for c := range l.cs {
		wants = wants || l.cs[c].Given != nil && l.cs[c].Given.Allocated != l.p.Template.Containers[c].Resources()
	}
	if !wants || !l.m.v.InPlaceResize() {
		l.pending = kube.Condition{}
		return
	}
	if reason, message := l.m.refusal(l.p); reason != "" {
		was := l.pending
		l.pending = l.resizeCondition(&was, component.ResizePending, reason, message)
		if l.m.v.ResizeEvents() && (was.Reason != reason || was.Observed != l.pending.Observed) {
			l.tell("Warning", "Resize"+reason, "", "Pod resize "+reason+": "+l.resizeSummary(message))
		}
		if was.Type != "" && was.Reason == reason && was.Message == message && was.Observed == l.pending.Observed {
			l.pending = was // the next post of the status says the same
		}
		if reason == resizeDeferred {
			l.m.deferResize(l.p)
		}
		return
	}
	for c := range l.cs {
		if is := l.cs[c].Given; is != nil {
			l.cs[c].Given = l.m.k.share(kube.Given{Allocated: l.p.Template.Containers[c].Resources(), Actual: is.Actual})
		}
	}
	l.pending = kube.Condition{}
	l.progress = l.resizeCondition(&kube.Condition{}, resizeInProgress, "", "")
	if l.m.v.ResizeEvents() {
		l.tell("Normal", "ResizeStarted", "", "Pod resize started: "+l.resizeSummary(""))
	}
}

// refusal says why a pod can't have what its spec wants, or "": it is more than
// the node has, which until 1.35 the kubelet found out and since then the API
// server refuses (plugin/pkg/admission/podresize), or more than others have left
// of it (pkg/kubelet/lifecycle/predicate.go). That it changed with 1.36 is an
// estimate.
func (m *machine) refusal(p *kube.Pod) (reason, message string) {
	cpu, memory := p.Requests()
	has := component.AllocatableOf(m.node)
	if !m.v.ResizeAdmission() {
		const before = "Node didn't have enough capacity: "
		switch {
		case memory > has.Memory:
			return component.ResizeInfeasible, fmt.Sprintf("%smemory, requested: %d, capacity: %d", before, memory, has.Memory)
		case cpu > has.CPU:
			return component.ResizeInfeasible, fmt.Sprintf("%scpu, requested: %d, capacity: %d", before, cpu, has.CPU)
		}
	}
	var used component.Room
	for _, other := range m.k.env.API.PodsOn(m.i.Name) {
		if other != p && !other.Terminal() {
			used = used.Plus(setAside(other))
		}
	}
	const before = "Node didn't have enough resource: "
	switch {
	case used.CPU+cpu > has.CPU:
		return resizeDeferred, fmt.Sprintf("%scpu, requested: %d, used: %d, capacity: %d", before, cpu, used.CPU, has.CPU)
	case used.Memory+memory > has.Memory:
		return resizeDeferred, fmt.Sprintf("%smemory, requested: %d, used: %d, capacity: %d", before, memory, used.Memory, has.Memory)
	}
	return "", ""
}

// setAside returns the resources that a kubelet has allocated to a pod: those of the status, and where it has none
// those of the spec.
func setAside(p *kube.Pod) component.Room {
	r := component.Room{Pods: 1}
	for c := range p.Template.Containers {
		is := p.Template.Containers[c].Resources()
		if c < len(p.Containers) && p.Containers[c].Given != nil {
			is = p.Containers[c].Given.Allocated
		}
		r.CPU += is.CPU
		r.Memory += is.Memory
	}
	return r
}

// restartsToResize reports whether a container has to be started again to get
// what was set aside for it (computePodResizeAction).
func (l *podWorker) restartsToResize(c int) bool {
	g, spec := l.cs[c].Given, &l.p.Template.Containers[c]
	if g == nil {
		return false
	}
	const restart = "RestartContainer"
	return spec.CPUPolicy == restart && (g.Allocated.CPU != g.Actual.CPU || g.Allocated.CPULimit != g.Actual.CPULimit) ||
		spec.MemoryPolicy == restart && (g.Allocated.Memory != g.Actual.Memory || g.Allocated.MemoryLimit != g.Actual.MemoryLimit)
}

// resizes reports whether containers have yet to get what was set aside.
func (l *podWorker) resizes() bool { return l.progress.Type != "" }

// resized is the kubelet's next look at running containers, which have it now.
func (l *podWorker) resized() {
	for c := range l.cs {
		if g := l.cs[c].Given; g != nil && g.Actual != g.Allocated {
			l.cs[c].Given = l.m.k.share(kube.Given{Allocated: g.Allocated, Actual: g.Allocated})
		}
	}
	l.actuated()
	l.show()
	l.rest()
}

// actuated ends a resize whose containers all have what was set aside.
func (l *podWorker) actuated() {
	if !l.resizes() {
		return
	}
	for c := range l.cs {
		if g := l.cs[c].Given; g != nil && g.Actual != g.Allocated {
			return
		}
	}
	if l.m.v.ResizeCompletedEvent() {
		l.tell("Normal", "ResizeCompleted", "", "Pod resize completed: "+l.resizeSummary(""))
	}
	l.progress = kube.Condition{}
}

// deferResize has a pod looked at again whose node has no room for it now.
func (m *machine) deferResize(p *kube.Pod) {
	if !slices.Contains(m.deferred, p) {
		m.deferred = append(m.deferred, p)
	}
	if !m.retry.Pending() {
		turn := m.turn
		m.retry = m.k.env.Timer(deferredRetry, func() {
			if m.turn == turn {
				m.retryResizes()
			}
		})
	}
}

// retryResizes looks at the pods whose resize was put off: a pod has gone, or it
// is time.
func (m *machine) retryResizes() {
	deferred := m.deferred
	m.deferred = nil
	for _, p := range deferred {
		if !p.Gone() && m.works() {
			m.podRedefined(p, nil)
		}
	}
}

// resizeSummary returns the text of a resize in events (podResizeMessage of pkg/kubelet/events/resize.go).
func (l *podWorker) resizeSummary(failure string) string {
	var b strings.Builder
	b.WriteString(`{"containers":[`)
	for c := range l.p.Template.Containers {
		spec := &l.p.Template.Containers[c]
		if c > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"name":` + kube.Quote(spec.Name) + `,"resources":{`)
		limits, requests := quantities(spec.CPULimit, spec.MemoryLimit), quantities(spec.CPU, spec.Memory)
		if limits != "" {
			b.WriteString(`"limits":` + limits)
		}
		if requests != "" {
			if limits != "" {
				b.WriteByte(',')
			}
			b.WriteString(`"requests":` + requests)
		}
		b.WriteString(`}}`)
	}
	b.WriteString(`],"generation":` + strconv.FormatInt(l.p.Generation, 10))
	if failure != "" {
		b.WriteString(`,"error":` + kube.Quote(failure))
	}
	b.WriteByte('}')
	return b.String()
}

func quantities(cpu, memory int64) string {
	var some []string
	if cpu != 0 {
		some = append(some, `"cpu":`+kube.Quote(kube.MilliCPU(cpu)))
	}
	if memory != 0 {
		some = append(some, `"memory":`+kube.Quote(kube.Bytes(memory)))
	}
	if some == nil {
		return ""
	}
	return "{" + strings.Join(some, ",") + "}"
}
