package roller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nodesim/nodesim/scenarios/inplace"
)

// Roller performs a roll over a client. It lists the pods, plans, and performs what is planned, pass by pass. All that it
// needs to go on is on the pods: another Roller with the same fields goes on with the roll of one that was killed.
//
// Its fields must not be changed once it is used. Run and Pass must not be called at the same time.
type Roller struct {
	// Client lists and writes. It needs list, get and patch on pods, and patch on pods/resize for resources.
	Client client.Client
	// Reader, if set, lists and gets instead of the Client. A reader that lags behind its writes is made up for where
	// the server counts generations of pods (Kubernetes 1.33 and later).
	Reader client.Reader
	// Clock is the wall clock if nil.
	Clock clock.Clock

	// Namespace and Selector are which pods; the nil Selector is all of the namespace.
	Namespace string
	Selector  labels.Selector
	// Of, if set, picks among them.
	Of func(*corev1.Pod) bool

	// Roll is what is wanted.
	Roll Roll
	// Poll is the time between two passes of Run; 0 is a second.
	Poll time.Duration
	// Wake, if set, begins the next pass of Run at once.
	Wake <-chan struct{}
	// DryRun plans and tells, and writes nothing. Run ends after its first pass.
	DryRun bool

	// OnPass is told each decision before it is performed, OnAction each action after it was tried, OnRestart each
	// unexpected restart. Each may be nil. OnAction is called by several goroutines, one at a time.
	OnPass    func(Decision)
	OnAction  func(Action, error)
	OnRestart func(Restart)
	// OnError is told of the errors after which Run goes on.
	OnError func(error)

	state State
	wrote map[types.UID]*corev1.Pod
	mu    sync.Mutex
}

// atOnce is how many pods are written at the same time.
const atOnce = 8

// Run makes passes until the roll ends, and returns the last decision: Finished, Stopped or RolledBack. What another
// pass can mend (conflicts, a server that is away, slow or overloaded) is told to OnError. It returns an error when the
// context ends, the roll isn't sound, or the server refuses it for good: what is forbidden, or invalid. A resize that it
// refuses to one pod is none of that: the pod has failed, which is what Roll.FailureBudget and Roll.OnFailure are for.
func (r *Roller) Run(ctx context.Context) (Decision, error) {
	poll := r.Poll
	if poll <= 0 {
		poll = time.Second
	}
	for {
		d, err := r.Pass(ctx)
		switch {
		case ctx.Err() != nil:
			return d, fmt.Errorf("roll pods of namespace %s: %w", r.Namespace, context.Cause(ctx))
		case err != nil && final(err):
			return d, err
		case err != nil && r.OnError != nil:
			r.OnError(err)
		}
		if err == nil && (d.Standing.Ended() || r.DryRun) {
			return d, nil
		}
		timer := r.clock().NewTimer(poll)
		select {
		case <-ctx.Done():
		case <-timer.C():
		case <-r.Wake:
		}
		timer.Stop()
	}
}

// Pass lists, plans and performs once. Conflicts, pods that went away meanwhile, and resizes that were refused, which is
// recorded on their pods (inplace.ErrRefused), are left to the next pass; other errors are returned together, after everything was tried.
func (r *Roller) Pass(ctx context.Context) (Decision, error) {
	pods, err := r.list(ctx)
	if err != nil {
		return Decision{}, err
	}
	d, err := Plan(r.Roll, pods, r.state, r.clock().Now())
	if err != nil {
		return d, err
	}
	if r.OnPass != nil {
		r.OnPass(d)
	}
	r.learn(pods)
	return d, r.perform(ctx, d, pods)
}

func (r *Roller) perform(ctx context.Context, d Decision, pods []corev1.Pod) error {
	byUID := make(map[types.UID]*corev1.Pod, len(pods))
	for i := range pods {
		byUID[pods[i].UID] = &pods[i]
	}
	var (
		g    errgroup.Group
		errs = make([]error, len(d.Actions))
	)
	g.SetLimit(atOnce)
	for i, a := range d.Actions {
		g.Go(func() error {
			err := r.do(ctx, a, byUID[a.UID])
			if r.OnAction != nil {
				r.mu.Lock()
				r.OnAction(a, err)
				r.mu.Unlock()
			}
			if err != nil && !passing(err) && !errors.Is(err, inplace.ErrRefused) {
				errs[i] = fmt.Errorf("%s %s/%s: %w", a.Kind, a.Namespace, a.Pod, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if !r.DryRun {
		r.state = d.State
	}
	return errors.Join(errs...)
}

// do performs one action.
func (r *Roller) do(ctx context.Context, a Action, pod *corev1.Pod) error {
	if r.DryRun {
		return nil
	}
	u := inplace.Updater{Client: r.Client, Reader: r.Reader, Keys: r.Roll.Keys, Clock: r.Clock, Digests: r.Roll.Digests}
	why := inplace.Progress{State: inplace.Failed, Reason: a.Reason, Message: a.Message, Container: a.Container}
	resize := len(r.Roll.Resources) > 0
	var (
		written *corev1.Pod
		marked  inplace.Marked
		err     error
	)
	switch a.Kind {
	case Trigger:
		if resize {
			written, err = u.Resize(ctx, pod, r.Roll.Resources)
		} else {
			written, err = u.Trigger(ctx, pod, inplace.UpdateOptions{ContainerImages: r.Roll.Images, TargetPodPhase: r.Roll.phase()})
		}
	case Mark:
		if resize {
			marked, err = u.MarkResize(ctx, pod)
		} else {
			marked, err = u.Mark(ctx, pod)
		}
		written = marked.Pod
	case TakeBack:
		if resize {
			written, err = u.RollbackResize(ctx, pod, why)
		} else {
			written, err = u.Rollback(ctx, pod, why, r.Roll.phase())
		}
	case Fail:
		if resize {
			written, err = u.FailResize(ctx, pod, why)
		} else {
			written, err = u.Fail(ctx, pod, why)
		}
	case Report:
		if r.OnRestart != nil {
			r.mu.Lock()
			r.OnRestart(Restart{UID: a.UID, Namespace: a.Namespace, Pod: a.Pod, Container: a.Container, ContainerID: containerID(pod, a.Container)})
			r.mu.Unlock()
		}
	default:
		err = fmt.Errorf("kind of action is %q: want %q, %q, %q, %q or %q", a.Kind, Trigger, Mark, TakeBack, Fail, Report)
	}
	if written != nil {
		r.mu.Lock()
		if r.wrote == nil {
			r.wrote = map[types.UID]*corev1.Pod{}
		}
		r.wrote[written.UID] = written
		r.mu.Unlock()
	}
	return err
}

// list is the pods, each no older than this Roller's own last write.
func (r *Roller) list(ctx context.Context) ([]corev1.Pod, error) {
	var reader client.Reader = r.Client
	if r.Reader != nil {
		reader = r.Reader
	}
	selector := r.Selector
	if selector == nil {
		selector = labels.Everything()
	}
	var found corev1.PodList
	if err := reader.List(ctx, &found, client.InNamespace(r.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("list pods of namespace %s by %q: %w", r.Namespace, selector, err)
	}
	pods, wrote := found.Items[:0], map[types.UID]*corev1.Pod{}
	for _, pod := range found.Items {
		if own := r.wrote[pod.UID]; own != nil && own.Generation > pod.Generation {
			wrote[pod.UID], pod = own, *own
		}
		if r.Of == nil || r.Of(&pod) {
			pods = append(pods, pod)
		}
	}
	r.wrote = wrote
	return pods, nil
}

// learn teaches the digests what the changed pods run by.
func (r *Roller) learn(pods []corev1.Pod) {
	learner, ok := r.Roll.Digests.(interface{ Learn(*corev1.Pod) })
	if !ok {
		return
	}
	for i := range pods {
		s, err := r.Roll.Keys.Read(&pods[i])
		if err == nil && s != nil && s.Phase == inplace.InplaceUpdatePhaseCompleted {
			learner.Learn(&pods[i])
		}
	}
}

func (r *Roller) clock() clock.Clock {
	if r.Clock == nil {
		return clock.RealClock{}
	}
	return r.Clock
}

// passing errors are those of a pod that is another by now, which the next pass sees.
func passing(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, inplace.ErrPodReplaced)
}

// final errors are those that no other pass mends.
func final(err error) bool {
	for _, is := range []func(error) bool{
		apierrors.IsForbidden, apierrors.IsUnauthorized, apierrors.IsInvalid, apierrors.IsBadRequest, apierrors.IsMethodNotSupported,
	} {
		if is(err) {
			return true
		}
	}
	return errors.Is(err, ErrUnsound)
}
