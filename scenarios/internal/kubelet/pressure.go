package kubelet

import (
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
)

// memoryPressure is the state of a machine with leaking pods: others have none. Memory is computed when it is looked at,
// which is when it may have become short, and every ten seconds while it is.
type memoryPressure struct {
	leaks []leak
	under bool
	last  kube.Instant // when memory was last short
	next  *loop.Timer  // the next look
}

type leak struct {
	pod   *kube.Pod
	since kube.Instant
}

func (s *memoryPressure) pressed() bool { return s != nil && s.under }

// hardThreshold is the kubelet's default of memory.available
// (pkg/kubelet/apis/config/v1beta1/defaults_linux.go).
const hardThreshold = 100 << 20

// Leak makes the pods of a workload use more and more memory from now on.
func (k *Kubelets) Leak(t *component.PodTraits, perMinute int64) {
	t.LeakPerMinute = perMinute
	for _, p := range k.env.API.Pods() {
		if p.Template.Workload == any(t) && p.Phase == "Running" {
			if m := k.byNode[p.NodeName]; m != nil {
				m.watchLeak(p)
			}
		}
	}
}

// watchLeak has the memory of a pod that leaks watched.
func (m *machine) watchLeak(p *kube.Pod) {
	if leakPerMinute(p.Template) == 0 || p.Terminal() {
		return
	}
	if m.memoryPressure == nil {
		m.memoryPressure = &memoryPressure{}
	}
	if slices.ContainsFunc(m.memoryPressure.leaks, func(l leak) bool { return l.pod == p }) {
		return
	}
	m.memoryPressure.leaks = append(m.memoryPressure.leaks, leak{p, m.now()})
	m.lookLater()
}

// forgetLeak ends that.
func (m *machine) forgetLeak(p *kube.Pod) {
	if m.memoryPressure != nil {
		m.memoryPressure.leaks = slices.DeleteFunc(m.memoryPressure.leaks, func(l leak) bool { return l.pod == p })
	}
}

// using is the memory that a container of a pod uses: six tenths of what it asks
// for, and what it has leaked since.
func (m *machine) using(p *kube.Pod) int64 {
	_, request := p.Requests()
	uses := request / 10 * 6
	for _, l := range m.memoryPressure.leaks {
		if l.pod == p {
			uses += int64(m.now().Sub(l.since)/time.Second) * leakPerMinute(p.Template) / 60
		}
	}
	return uses &^ 4095
}

// available is the machine's free memory, and how fast it becomes less, in bytes
// and bytes per second.
func (m *machine) available() (bytes, perSecond int64) {
	shape := m.shape()
	// Half of what is reserved for the system is in use.
	bytes = (shape.Capacity.MemoryBytes + shape.Allocatable.MemoryBytes) / 2
	for _, p := range m.k.env.API.PodsOn(m.i.Name) {
		if !p.Terminal() && p.Phase == "Running" {
			bytes -= m.using(p)
		}
	}
	for _, l := range m.memoryPressure.leaks {
		perSecond += leakPerMinute(l.pod.Template) / 60
	}
	return max(bytes, 0) &^ 4095, perSecond
}

// lookLater puts the eviction manager's next look in the loop.
func (m *machine) lookLater() {
	s := m.memoryPressure
	s.next.Stop()
	if len(s.leaks) == 0 && !s.under {
		return
	}
	period := max(m.t.PressureSync.Median(), time.Second)
	wait := period
	if !s.under {
		if bytes, rate := m.available(); bytes > hardThreshold && rate > 0 {
			seconds := min((bytes-hardThreshold)/rate, 1<<31) // no tape is as long
			wait = max((time.Duration(seconds) * time.Second).Truncate(period), period)
		}
	}
	turn := m.turn
	s.next = m.k.env.Timer(wait, func() {
		if m.turn == turn && m.memoryPressure == s {
			m.look()
			m.lookLater()
		}
	})
}

// look is one turn of the eviction manager (synchronize of
// pkg/kubelet/eviction/eviction_manager.go): at most one pod is evicted, and
// pressure lasts five minutes beyond the last time it was seen.
func (m *machine) look() {
	s := m.memoryPressure
	if !m.works() || m.shutting {
		return
	}
	bytes, _ := m.available()
	if bytes >= hardThreshold {
		if s.under && m.now().Sub(s.last) >= m.t.PressureTransition.Median() {
			s.under = false
			m.sync()
		}
		return
	}
	s.last = m.now()
	if !s.under {
		s.under = true
		m.sync()
	}
	m.record("Warning", "EvictionThresholdMet", "Attempting to reclaim memory")
	victim := m.victim()
	if victim == nil {
		return
	}
	message := "The node was low on resource: memory. Threshold quantity: 100Mi, available: " + kube.Bytes(bytes) + ". "
	_, request := victim.Requests()
	if uses := m.using(victim); uses > request && len(victim.Template.Containers) > 0 {
		message += fmt.Sprintf("Container %s was using %s, request is %s, has larger consumption of memory. ",
			victim.Template.Containers[0].Name, kube.Bytes(uses), kube.Bytes(request))
	}
	m.recordPod(victim, "Warning", "Evicted", "", message)
	m.forgetLeak(victim)
	m.endPod(victim, ending{reason: "Evicted", message: message, grace: evictionGrace})
}

// evictionGrace is immediateEvictionGracePeriodSeconds of
// pkg/kubelet/eviction/eviction_manager.go.
const evictionGrace = time.Second

// victim is the pod that is evicted first: of those that use more than they ask
// for, the one of the lowest priority that does so most (rankMemoryPressure of
// pkg/kubelet/eviction/helpers.go). Critical pods are spared.
func (m *machine) victim() *kube.Pod {
	var worst *kube.Pod
	var most int64
	for _, l := range m.memoryPressure.leaks {
		p := l.pod
		if p.Gone() || p.Terminal() || p.Template.Priority >= critical || m.k.podWorkers[p] != nil && m.k.podWorkers[p].stopping {
			continue
		}
		_, request := p.Requests()
		over := m.using(p) - request
		if over <= 0 {
			continue
		}
		if worst == nil || p.Template.Priority < worst.Template.Priority ||
			p.Template.Priority == worst.Template.Priority && (over > most || over == most && p.UID < worst.UID) {
			worst, most = p, over
		}
	}
	return worst
}
