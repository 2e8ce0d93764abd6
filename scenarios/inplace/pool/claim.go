package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// Claim describes a wanted sandbox.
type Claim struct {
	// SandboxID becomes a label and an annotation of the pod.
	SandboxID string
	// Images are the sandbox's images, by container.
	Images map[string]string
	// Labels and Annotations are set beside.
	Labels, Annotations map[string]string
}

// rounds is the number of passes over the idle pods while others claim them at the same time.
const rounds = 3

// Claim turns an idle pod into a sandbox, and returns the pod: one that is ready, the longest idle first. A pod that
// another claims first, or that changes or goes away meanwhile, is passed by for the next one. It is an
// inplace.ErrNoIdlePodsAvailable when there is none.
func (p *Pool) Claim(ctx context.Context, claim Claim) (*corev1.Pod, error) {
	for range rounds {
		pods, err := p.list(ctx)
		if err != nil {
			return nil, err
		}
		conflicts := 0
		for _, pod := range p.idle(pods) {
			claimed, err := p.updater().Trigger(ctx, pod, p.claiming(claim))
			switch {
			case err == nil && claimed.DeletionTimestamp == nil:
				return claimed, nil
			case err == nil, apierrors.IsConflict(err), errors.Is(err, podupdate.ErrPodNotRunning): // it is going, or another by now
				conflicts++
			case !passing(err):
				return nil, fmt.Errorf("claim pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
		}
		if conflicts == 0 {
			break
		}
	}
	return nil, fmt.Errorf("claim a pod of namespace %s for sandbox %q: %w", p.Namespace, claim.SandboxID, inplace.ErrNoIdlePodsAvailable)
}

func (p *Pool) claiming(claim Claim) inplace.UpdateOptions {
	keys := p.Keys.Filled()
	opts := inplace.UpdateOptions{
		ContainerImages: claim.Images, Labels: maps.Clone(claim.Labels), Annotations: maps.Clone(claim.Annotations),
		UpdatePodPhase: inplace.InplaceUpdatePhaseStarting, TargetPodPhase: podupdate.SandboxPhaseRunning,
		ExpectedCurrentSandboxPhase: podupdate.SandboxPhaseIdle, DisableRetry: true,
	}
	if opts.Labels == nil {
		opts.Labels = map[string]string{}
	}
	if opts.Annotations == nil {
		opts.Annotations = map[string]string{}
	}
	opts.Labels[keys.SandboxID], opts.Annotations[keys.SandboxID] = claim.SandboxID, claim.SandboxID
	opts.Annotations[keys.Key(podupdate.NameClaimedAt)] = p.updater().Clock.Now().UTC().Format(time.RFC3339)
	return opts
}

// idle are the pods that can be claimed, the longest idle first, then by name.
func (p *Pool) idle(pods []corev1.Pod) []*corev1.Pod {
	type waiting struct {
		pod   *corev1.Pod
		since time.Time
	}
	var idle []waiting
	for i := range pods {
		pod := &pods[i]
		since, is, err := p.Keys.PhaseSince(pod, podupdate.SandboxPhaseIdle)
		if err == nil && is && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && podupdate.Ready(pod) != nil {
			idle = append(idle, waiting{pod, since})
		}
	}
	slices.SortFunc(idle, func(a, b waiting) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	sorted := make([]*corev1.Pod, len(idle))
	for i, w := range idle {
		sorted[i] = w.pod
	}
	return sorted
}
