package roller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// Pods lists, reads and writes pods for a Roller: inplace.Pods makes one of a controller-runtime client.
type Pods interface {
	podupdate.Pods
	// ListPods reads the pods of a namespace that selector matches, as a list of the caller's own.
	ListPods(ctx context.Context, namespace string, selector labels.Selector) (*corev1.PodList, error)
}

// Roller executes a roll over a client. It lists the pods, plans, and executes the plan, pass by pass. All of its
// state is on the pods: another Roller with the same fields resumes the roll of one that was killed.
//
// Its fields must not be changed once it is used. Run and Pass must not be called at the same time.
type Roller struct {
	// Pods lists, reads and writes. It needs list, get and patch on pods, and patch on pods/resize for resources. A
	// cache that is older than its writes is compensated for where the server counts generations of pods (Kubernetes
	// 1.33 and later).
	Pods Pods
	// Clock is the wall clock if nil.
	Clock clock.Clock

	// Namespace and Selector are which pods; the nil Selector is all of the namespace.
	Namespace string
	Selector  labels.Selector
	// Of, if set, picks among them.
	Of func(*corev1.Pod) bool

	// Roll is the wanted roll.
	Roll Roll
	// Poll is the time between two passes of Run; 0 is a second.
	Poll time.Duration
	// Wake, if set, begins the next pass of Run at once.
	Wake <-chan struct{}
	// DryRun plans and tells, and writes nothing. Run ends after its first pass.
	DryRun bool

	// OnPass is told each decision before it is executed, OnAction each action after it was tried, OnRestart each
	// unexpected restart. Each may be nil. OnAction is called by several goroutines, one at a time.
	OnPass    func(Decision)
	OnAction  func(Action, error)
	OnRestart func(Restart)
	// OnError is told of the errors after which Run continues.
	OnError func(error)

	state State
	wrote map[types.UID]*corev1.Pod
	mu    sync.Mutex
}

// atOnce is the number of pods that are written at the same time.
const atOnce = 8

// Run makes passes until the roll ends, and returns the last decision: Finished, Stopped or RolledBack. What another
// pass can mend (conflicts, a server that is away, slow or overloaded) is told to OnError. It returns an error when
// the context ends, the roll isn't sound, or the server refuses it for good: what is forbidden, or invalid. A resize
// that it refuses to one pod is none of that: the pod has failed, and Roll.FailureBudget and Roll.OnFailure decide.
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

// Pass lists, plans and executes once. Conflicts, pods that went away meanwhile, and resizes that were refused, which
// is recorded on their pods (podupdate.ErrRefused), are left to the next pass; other errors are returned together,
// after everything was tried.
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
	return d, r.execute(ctx, d, pods)
}

func (r *Roller) execute(ctx context.Context, d Decision, pods []corev1.Pod) error {
	byUID := make(map[types.UID]*corev1.Pod, len(pods))
	for i := range pods {
		byUID[pods[i].UID] = &pods[i]
	}
	var (
		all  sync.WaitGroup
		room = make(chan struct{}, atOnce)
		errs = make([]error, len(d.Actions))
	)
	for i, a := range d.Actions {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			err := r.do(ctx, a, byUID[a.UID])
			if r.OnAction != nil {
				r.mu.Lock()
				r.OnAction(a, err)
				r.mu.Unlock()
			}
			if err != nil && !passing(err) && !errors.Is(err, podupdate.ErrRefused) {
				errs[i] = fmt.Errorf("%s %s/%s: %w", a.Kind, a.Namespace, a.Pod, err)
			}
		})
	}
	all.Wait()
	if !r.DryRun {
		r.state = d.State
	}
	return errors.Join(errs...)
}

// do executes one action.
func (r *Roller) do(ctx context.Context, a Action, pod *corev1.Pod) error {
	if r.DryRun {
		return nil
	}
	u := podupdate.Updater{Pods: r.Pods, Keys: r.Roll.Keys, Clock: r.Clock, Digests: r.Roll.Digests}
	why := podupdate.Progress{State: podupdate.Failed, Reason: a.Reason, Message: a.Message, Container: a.Container}
	resize := len(r.Roll.Resources) > 0
	var (
		written *corev1.Pod
		marked  podupdate.Marked
		err     error
	)
	switch a.Kind {
	case Trigger:
		if resize {
			written, err = u.Resize(ctx, pod, r.Roll.Resources)
		} else {
			written, err = u.Trigger(ctx, pod, podupdate.UpdateOptions{ContainerImages: r.Roll.Images, TargetPodPhase: r.Roll.phase()})
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
	selector := r.Selector
	if selector == nil {
		selector = labels.Everything()
	}
	found, err := r.Pods.ListPods(ctx, r.Namespace, selector)
	if err != nil {
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
		if err == nil && s != nil && s.Phase == podupdate.InplaceUpdatePhaseCompleted {
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
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, podupdate.ErrPodReplaced)
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
