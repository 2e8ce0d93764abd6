package model

// The life of a pod under its kubelet: what happens to it, and the phase that follows. The types are small, since a
// simulation holds hundreds of thousands of them; names and times stay with the caller. Init containers aren't modelled:
// a pod here has none.

// Phase is a pod's phase.
type Phase uint8

// The phases, in the order of a life.
const (
	Pending Phase = iota
	Running
	Succeeded
	Failed
)

// String is the phase as the API writes it.
func (p Phase) String() string {
	return [...]string{"Pending", "Running", "Succeeded", "Failed"}[min(p, Failed)]
}

// Terminal says whether the pod's containers run no more and never again.
func (p Phase) Terminal() bool { return p == Succeeded || p == Failed }

// RestartPolicy says what becomes of a container that has exited.
type RestartPolicy uint8

// The policies. Always is that of Deployments, StatefulSets and DaemonSets.
const (
	RestartAlways RestartPolicy = iota
	RestartOnFailure
	RestartNever
)

// Pod is the kubelet's view of a pod beside its containers: 4 bytes.
type Pod struct {
	// Phase is the last phase that the kubelet has posted.
	Phase Phase
	// Policy says whether containers are started again.
	Policy RestartPolicy
	// Seen says whether the kubelet has posted a status at all. Before, the only condition is PodScheduled.
	Seen bool
	// Sandbox says whether the pod's sandbox with its network stands.
	Sandbox bool
}

// Update brings the phase up to date after something happened to the containers (getPhase of
// k8s.io/kubernetes/pkg/kubelet/kubelet_pods.go). ending says that the pod is being deleted, evicted or shut down, so that
// nothing is restarted; from 1.27 on such a pod ends as Succeeded or Failed, before it stayed as it was until it was gone.
// A pod never leaves a terminal phase.
func (p *Pod) Update(containers []Container, ending bool, v Version) {
	if p.Phase.Terminal() || !p.Seen {
		return
	}
	var waiting, running, stopped, succeeded, restartable int
	for _, c := range containers {
		switch {
		case c.State == ContainerRunning:
			running++
		case c.State == ContainerExited || c.Exits:
			stopped++
			if c.ExitCode == 0 {
				succeeded++
			}
			if p.Policy == RestartAlways || p.Policy == RestartOnFailure && c.ExitCode != 0 {
				restartable++
			}
		default:
			waiting++
		}
	}
	switch {
	case waiting > 0 && (!ending || running > 0):
		p.Phase = Pending
	case running > 0:
		p.Phase = Running
	case ending && !v.TerminalPhase():
	case ending && waiting > 0:
		// Containers that never started: the kubelet counts what it can't find as failed (TerminatePod of
		// k8s.io/kubernetes/pkg/kubelet/status/status_manager.go).
		p.Phase = Failed
	case stopped == 0:
		p.Phase = Pending
	case !ending && restartable > 0:
		p.Phase = Running
	case stopped == succeeded:
		p.Phase = Succeeded
	default:
		p.Phase = Failed
	}
}
