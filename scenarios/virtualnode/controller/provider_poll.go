package controller

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Reasons in the statuses of pods that a polled provider has lost or ended.
const (
	reasonNotFound   = "NotFound"
	reasonTerminated = "Terminated"
)

// exitCodeLost is the exit code of a container whose pod the provider has lost, so that it can't be known.
const exitCodeLost = -137

// startLimit is the age up to which a pod may be unknown to the provider without being lost.
const startLimit = time.Minute

// podPoller makes a provider a [PodNotifier] by asking for the statuses of its pods again and again.
type podPoller struct {
	PodLifecycleHandler
	pc     *PodController
	notify func(*corev1.Pod)

	mu    sync.Mutex
	ended map[string]bool // by keyOf, pods whose deletion the provider is asked for or has taken, until they have left the API
}

func newPodPoller(pc *PodController) *podPoller {
	return &podPoller{PodLifecycleHandler: pc.provider, pc: pc, ended: map[string]bool{}}
}

// NotifyPods implements PodNotifier.
func (p *podPoller) NotifyPods(_ context.Context, notify func(*corev1.Pod)) { p.notify = notify }

// CreatePod begins a pod anew: without UIDs, as client-go's fake keeps pods, an earlier one of its name has the same key.
func (p *podPoller) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	p.mu.Lock()
	delete(p.ended, keyOf(pod))
	p.mu.Unlock()
	return p.PodLifecycleHandler.CreatePod(ctx, pod)
}

// DeletePod ends a pod and reports it as ended: this provider won't.
func (p *podPoller) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	p.mu.Lock()
	taken := p.ended[keyOf(pod)] // by an earlier call
	p.ended[keyOf(pod)] = true   // from here on that it isn't found is no loss
	p.mu.Unlock()
	if err := p.PodLifecycleHandler.DeletePod(ctx, pod); err != nil {
		if !taken && !IsNotFound(err) {
			p.mu.Lock()
			delete(p.ended, keyOf(pod))
			p.mu.Unlock()
		}
		return err
	}
	ended := *pod
	ended.DeletionTimestamp, ended.DeletionGracePeriodSeconds = nil, nil
	ended.Status = *pod.Status.DeepCopy()
	ended.Status.Phase, ended.Status.Reason = corev1.PodSucceeded, reasonTerminated
	p.terminate(&ended.Status, true, 0, "The pod was deleted")
	p.notify(&ended)
	return nil
}

// run asks until the context ends.
func (p *podPoller) run(ctx context.Context) {
	atEach(ctx, p.pc.clock.NewTicker(orDefault(p.pc.cfg.PodPollInterval, DefaultPodPollInterval)), p.ask)
}

// ask reports the status of every pod that hasn't ended.
func (p *podPoller) ask(ctx context.Context) {
	pods, err := p.pc.lister.List(labels.Everything())
	if err != nil {
		return
	}
	present := make(map[string]bool, len(pods))
	for _, pod := range pods {
		present[keyOf(pod)] = true
		if ctx.Err() != nil {
			return
		}
		if !terminal(pod.Status.Phase) && p.pc.filter(ctx, pod) {
			p.askFor(ctx, pod)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.ended {
		if !present[key] {
			delete(p.ended, key)
		}
	}
}

// askFor reports one pod's status. A failing provider is asked again at the next round.
func (p *podPoller) askFor(ctx context.Context, pod *corev1.Pod) {
	held, err := p.pc.held(ctx, pod.Namespace, pod.Name, pod.UID)
	if err != nil || held != nil && held.UID != "" && held.UID != pod.UID {
		return // or an earlier pod of the name is there still
	}
	var status *corev1.PodStatus
	if held != nil || p.pc.getter == nil { // GetPodStatus knows names alone
		if status, err = p.GetPodStatus(ctx, pod.Namespace, pod.Name); err != nil && !IsNotFound(err) {
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock() // until it is reported: nothing older comes after the end that DeletePod reports
	if p.ended[keyOf(pod)] {
		return
	}
	said := *pod
	said.DeletionTimestamp, said.DeletionGracePeriodSeconds = nil, nil
	switch {
	case err == nil && status != nil:
		said.Status = *status
	case p.lost(pod):
		said.Status = *pod.Status.DeepCopy()
		said.Status.Phase, said.Status.Reason = corev1.PodFailed, reasonNotFound
		said.Status.Message = "The pod status was not found and may have been deleted from the provider"
		p.terminate(&said.Status, false, exitCodeLost, "Container was not found and was likely deleted")
	default:
		return
	}
	p.notify(&said)
}

// lost says whether a pod that the provider doesn't know has been there, or has had the time to come. A pod without a
// creation time, as client-go's fake keeps it, has no age.
func (p *podPoller) lost(pod *corev1.Pod) bool {
	created := pod.CreationTimestamp
	return pod.Status.Phase == corev1.PodRunning || !created.IsZero() && p.pc.clock.Since(created.Time) > startLimit
}

// terminate ends every container of a status that runs, and where waiting is set, those that wait.
func (p *podPoller) terminate(status *corev1.PodStatus, waiting bool, code int32, message string) {
	now := p.pc.now()
	for _, list := range [][]corev1.ContainerStatus{
		status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses,
	} {
		for i := range list {
			state := &list[i].State
			if state.Terminated != nil || state.Waiting != nil && !waiting {
				continue
			}
			ended := &corev1.ContainerStateTerminated{
				ExitCode: code, Reason: status.Reason, Message: message, FinishedAt: now, ContainerID: list[i].ContainerID,
			}
			if state.Running != nil {
				ended.StartedAt = state.Running.StartedAt
			}
			*state = corev1.ContainerState{Terminated: ended}
			list[i].Ready = false
		}
	}
}
