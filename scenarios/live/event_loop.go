package live

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios"
)

// errOver says that the event loop has ended.
var errOver = errors.New("the live run is over")

// An eventLoop is the one goroutine on which the scenario's actors act: it runs the calls that others hand
// in, in order, and the scenario's next step at its time.
type eventLoop struct {
	clock clock.WithTicker

	mu    sync.Mutex
	inbox []func()
	over  bool
	wake  chan struct{} // holds one word when the inbox isn't empty
}

func newEventLoop(c clock.WithTicker) *eventLoop {
	return &eventLoop{clock: c, wake: make(chan struct{}, 1)}
}

// post hands a call in and doesn't wait. It reports whether the event loop takes it.
func (s *eventLoop) post(do func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.inbox = append(s.inbox, do)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

// call hands a call in and waits until it was made. When the context ends first,
// the call may still be made.
func (s *eventLoop) call(ctx context.Context, do func()) error {
	done := make(chan struct{})
	if !s.post(func() { defer close(done); do() }) {
		return errOver
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run makes calls until ctx ends, or step says that it is over, or fails. step is called when calls were handed in and when
// the time that it has asked for has passed. The calls are made after it: what they tell of has happened before the moment to
// which step has brought the scenario, however long others have taken.
func (s *eventLoop) run(ctx context.Context, step func() (wait time.Duration, over bool, err error)) error {
	timer := s.clock.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		calls := s.take()
		wait, over, err := step()
		for _, do := range calls {
			do()
		}
		switch {
		case err != nil || over:
			return err
		case len(calls) > 0 && ctx.Err() == nil:
			continue // what they have led to
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C():
		case <-s.wake:
		}
		if !timer.Stop() {
			select {
			case <-timer.C():
			default:
			}
		}
	}
}

func (s *eventLoop) take() []func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.inbox
	s.inbox = nil
	select {
	case <-s.wake: // for these
	default:
	}
	return calls
}

// close makes the calls that were handed in before, and takes no more: no caller waits for ever.
func (s *eventLoop) close() {
	s.mu.Lock()
	s.over = true
	calls := s.inbox
	s.inbox = nil
	s.mu.Unlock()
	for _, do := range calls {
		do()
	}
}

// A simulation is the simulation of a live run: [scenarios.LiveSimulation], or a fake of it. The event loop alone uses
// it.
type simulation interface {
	Objects() []runtime.Object
	Later() []runtime.Object
	CustomKinds() []scenarios.CustomKind
	Resumable(*corev1.Node) bool
	Adopt(nodes []*corev1.Node, at time.Duration, rolled bool) error
	Placing() bool
	Unplaced() []string
	Seed()
	Unsettled() []string
	Begin() error
	Advance(to time.Duration) error
	Next() (at time.Duration, is bool)
	Ended() bool
	Idle() bool
	Release()
	HasGroupOf(*corev1.Node) bool
	Outcomes() []string

	NodeSeen(watch.EventType, *corev1.Node)
	PodSeen(watch.EventType, *corev1.Pod)
	PodGiven(*corev1.Pod)
	BudgetSeen(watch.EventType, *policyv1.PodDisruptionBudget)
	CustomSeen(watch.EventType, scenarios.CustomKind, *unstructured.Unstructured)
	ClaimSeen(watch.EventType, *corev1.PersistentVolumeClaim)
	VolumeSeen(watch.EventType, *corev1.PersistentVolume)
	AttachmentSeen(watch.EventType, *storagev1.VolumeAttachment)

	provider
	FinishRoll(code, reason string)
}

var _ simulation = (*scenarios.LiveSimulation)(nil)

// A scenarioSpec is the part of a scenario file that a Runner needs.
type scenarioSpec struct {
	simulate func(scenarios.LiveConfig) (simulation, error)
	rolls    int                 // how many groups are rolled
	plain    bool                // by package cycle
	pods     *scenarios.Workload // whose pods are rolled in place
}

func scenarioSpecOf(f *scenarios.File) scenarioSpec {
	s := scenarioSpec{
		simulate: func(c scenarios.LiveConfig) (simulation, error) { return f.SimulateLive(c) },
	}
	if f.Roll != nil {
		s.rolls, s.plain = len(f.Roll.Groups), byCycle(f.Roll)
		if s.pods = f.RolledInPlace(); s.pods != nil {
			s.rolls = 1
		}
	}
	return s
}
