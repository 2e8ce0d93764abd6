package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nodesim/nodesim/scenarios/inplace"
	agentsv1alpha1 "github.com/nodesim/nodesim/scenarios/inplace/agents/v1alpha1"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// Pool is a pool over a client. Its methods may be called by several goroutines at once; its fields must not be changed
// then.
type Pool struct {
	// Client lists, reads and writes. It needs list, get and patch on pods.
	Client client.Client
	// Clock is the wall clock if nil.
	Clock clock.Clock
	// Keys are the labels and annotations, Digests what is known of images. Digests may be nil.
	Keys    podupdate.Keys
	Digests podupdate.Digests

	// Namespace and Selector are which pods; the nil Selector is all of the namespace.
	Namespace string
	Selector  labels.Selector
	// Idle says what idle pods run.
	Idle *agentsv1alpha1.SandboxPool
	// Limits are how long a start and a stop may take.
	Limits Limits

	// OnStopped, if set, records the end of a sandbox, before its pod becomes idle and forgets it. If it fails the pod
	// stays as it is and the record is tried again: it may be told of one end twice, and misses none. It is called by
	// several goroutines at once.
	OnStopped func(context.Context, Stopped) error
}

// atOnce is the number of pods that are written at the same time.
const atOnce = 8

// Pass lists the pods, plans and executes once, several pods at the same time. Conflicts, and pods that went away,
// are left to the next pass; other errors are returned together, after everything was tried.
func (p *Pool) Pass(ctx context.Context) ([]Action, error) {
	pods, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	byUID := make(map[types.UID]*corev1.Pod, len(pods))
	for i := range pods {
		byUID[pods[i].UID] = &pods[i]
	}
	actions := Plan(p.Keys, p.Digests, p.Limits, pods, p.updater().Clock.Now())
	errs := make([]error, len(actions))
	var all sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for i, a := range actions {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if err := p.do(ctx, a, byUID[a.UID]); err != nil && !passing(err) {
				errs[i] = fmt.Errorf("%s: %w", a, err)
			}
		})
	}
	all.Wait()
	return actions, errors.Join(errs...)
}

func (p *Pool) do(ctx context.Context, a Action, pod *corev1.Pod) error {
	switch a.Kind {
	case Mark:
		return p.mark(ctx, pod)
	case Release:
		_, err := p.release(ctx, pod, a.End, true)
		return err
	case Fail:
		why := podupdate.Progress{State: podupdate.Failed, Reason: a.End.FailureReason, Message: a.End.FailureMessage}
		_, err := p.updater().Fail(ctx, pod, why)
		return err
	}
	return podupdate.ErrBrokenState
}

// mark completes a start or a stop; of a stop, its end is recorded first.
func (p *Pool) mark(ctx context.Context, pod *corev1.Pod) error {
	if p.Keys.SandboxPhase(pod) == podupdate.SandboxPhaseStopping {
		if end, ok := ReadStopped(p.Keys, pod); ok {
			if err := p.stopped(ctx, end); err != nil {
				return err
			}
		}
	}
	_, err := p.updater().Mark(ctx, pod)
	return err
}

// Release begins to turn a sandbox into an idle pod. A pod that runs the idle images already is idle at once. The end
// says why; its time is now if it has none.
func (p *Pool) Release(ctx context.Context, pod *corev1.Pod, end Stopped) (*corev1.Pod, error) {
	return p.release(ctx, pod, end, false)
}

// release only takes a pod that is as it was seen, if once. An idle pod has nothing to release.
func (p *Pool) release(ctx context.Context, pod *corev1.Pod, end Stopped, once bool) (*corev1.Pod, error) {
	u := p.updater()
	if p.Keys.SandboxPhase(pod) == podupdate.SandboxPhaseIdle {
		return nil, fmt.Errorf("release pod %s/%s: %w: it is idle", pod.Namespace, pod.Name, inplace.ErrUnexpectedPodPhase)
	}
	if end.TerminatedAt.IsZero() {
		end.TerminatedAt = u.Clock.Now()
	}
	opts := Releasing(p.Keys, p.Idle, pod, end)
	if len(opts.ContainerImages) == 0 {
		return nil, fmt.Errorf("release pod %s/%s: %w: the pool has no idle images", pod.Namespace, pod.Name, inplace.ErrNoContainers)
	}
	opts.ExpectedCurrentSandboxPhase, opts.DisableRetry = p.Keys.SandboxPhase(pod), once
	next, _, err := p.Keys.Apply(pod, opts, u.Clock.Now())
	if err != nil {
		return nil, err
	}
	if p.Keys.SandboxPhase(next) == podupdate.SandboxPhaseIdle {
		end.SandboxID, end.Namespace, end.Pod = sandboxID(p.Keys.Filled(), pod), pod.Namespace, pod.Name
		end.RunningImages = running(pod)
		if err := p.stopped(ctx, end); err != nil {
			return nil, err
		}
	}
	return u.Trigger(ctx, pod, opts)
}

func (p *Pool) stopped(ctx context.Context, end Stopped) error {
	if p.OnStopped == nil {
		return nil
	}
	if err := p.OnStopped(ctx, end); err != nil {
		return fmt.Errorf("record the end of sandbox %q: %w", end.SandboxID, err)
	}
	return nil
}

func (p *Pool) list(ctx context.Context) ([]corev1.Pod, error) {
	selector := p.Selector
	if selector == nil {
		selector = labels.Everything()
	}
	var found corev1.PodList
	if err := p.Client.List(ctx, &found, client.InNamespace(p.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("list pods of namespace %s by %q: %w", p.Namespace, selector, err)
	}
	return found.Items, nil
}

func (p *Pool) updater() podupdate.Updater {
	u := podupdate.Updater{Pods: inplace.Pods(p.Client, nil), Keys: p.Keys, Clock: p.Clock, Digests: p.Digests}
	if u.Clock == nil {
		u.Clock = clock.RealClock{}
	}
	return u
}

// passing errors are those of a pod that is another by now, which the next pass sees.
func passing(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, podupdate.ErrPodReplaced) ||
		errors.Is(err, inplace.ErrUnexpectedPodPhase)
}
