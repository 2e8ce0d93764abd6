package noderoll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/clock"
)

// KubeObserver reads the state of a node group from a Kubernetes API server. It
// only reads, and it may be used from several goroutines at once.
//
// It starts in list mode: each Snapshot lists the group's nodes, the pods of
// those that drain, and the Warnings. After StartInformers it answers from
// memory that watches keep up to date. A watch is an optimisation and never a
// requirement: whenever the watches are broken, or their context has ended,
// Snapshot lists again, so that it never serves a frozen cache.
//
// What it needs: list (and watch) of nodes, pods and events, cluster wide, and of
// PodDisruptionBudgets where KubeOptions has a client of them. Where anything but
// nodes can't be listed, the Snapshot says so and is otherwise whole.
type KubeObserver struct {
	client *kubeClient // nil if there is none
	opts   KubeOptions
	// selector holds what the server is asked for; State checks the rest.
	selector string
	refusal  error // why every request would be wrong

	mu   sync.Mutex
	last *State     // of the latest list, for what it remembers
	run  *informers // nil in list mode
}

// KubeOptions choose the group that a KubeObserver looks at. The zero value
// observes every node.
type KubeOptions struct {
	// StateOptions choose nodes and target. With Target.Auto the first Snapshot,
	// or StartInformers, captures the baseline.
	StateOptions
	// Budgets reads the PodDisruptionBudgets of all namespaces, for NodeView.HeldBy:
	// PolicyV1().PodDisruptionBudgets("") of a clientset. nil does without them.
	Budgets KubeLister[*policyv1.PodDisruptionBudgetList]
	// Clock is for the age of Warnings and the bound of SyncTimeout.
	Clock clock.Clock
	// SyncTimeout bounds how long StartInformers waits; 0 means 10 s.
	SyncTimeout time.Duration
	// PageSize is the limit of one list request; 0 means 500.
	PageSize int64
}

// NewKubeObserver returns an observer of an EKS managed node group, in list
// mode. Nodes whose LabelImage equals targetAMI are on target; an empty
// targetAMI matches nothing.
//
// C is kubernetes.Interface, or any other KubeClient.
func NewKubeObserver[C KubeClient[G, N, P, E], G KubeCore[N, P, E], N KubeLister[*corev1.NodeList], P KubeLister[*corev1.PodList], E KubeLister[*corev1.EventList]](client C, nodegroup, targetAMI string) *KubeObserver {
	o := NewKubeObserverWithOptions(client, KubeOptions{StateOptions: StateOptions{
		Provider: EKS(),
		Target:   Target{Image: targetAMI},
	}})
	// Unlike an empty KubeOptions.Pool, an empty node group is one that no node
	// belongs to.
	o.choose(LabelNodegroup, nodegroup)
	return o
}

// NewKubeObserverWithOptions returns an observer of the group that opts choose,
// in list mode.
func NewKubeObserverWithOptions[C KubeClient[G, N, P, E], G KubeCore[N, P, E], N KubeLister[*corev1.NodeList], P KubeLister[*corev1.PodList], E KubeLister[*corev1.EventList]](client C, opts KubeOptions) *KubeObserver {
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	if opts.SyncTimeout == 0 {
		opts.SyncTimeout = 10 * time.Second
	}
	if opts.PageSize <= 0 {
		opts.PageSize = 500
	}
	o := &KubeObserver{client: plainClient(client), opts: opts}
	if o.client == nil {
		o.refusal = errors.New("observe nodes: there is no client: want a kubernetes.Interface")
	}
	if opts.Selector != nil {
		o.selector = opts.Selector.String()
	}
	if p := opts.Provider; opts.Pool != "" && len(p.PoolLabels) == 1 && !p.OwnerAnnotations {
		o.choose(p.PoolLabels[0], opts.Pool)
	}
	return o
}

// choose asks for one label and its value as well, on the server and here.
func (o *KubeObserver) choose(label, value string) {
	only, err := labels.NewRequirement(label, selection.Equals, []string{value})
	if err != nil {
		o.refusal = fmt.Errorf("node group %q: want the value of a label: %w", value, err)
		return
	}
	all := labels.NewSelector()
	if o.opts.Selector != nil {
		all = o.opts.Selector
	}
	o.opts.Selector = all.Add(*only)
	o.selector = o.opts.Selector.String()
}

// CaptureBaseline makes the group's present nodes the old ones, by UID: nodes
// that appear later are on target, whatever their labels say. It replaces an
// earlier baseline; on an error that one stays.
func (o *KubeObserver) CaptureBaseline(ctx context.Context) error {
	s, err := o.listNodes(ctx)
	if err != nil {
		return fmt.Errorf("capture baseline: %w", err)
	}
	ids := make([]string, 0, len(s.nodes))
	for _, rec := range s.nodes {
		if rec.present {
			ids = append(ids, rec.id())
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opts.Target = Target{Baseline: ids}
	if o.run != nil {
		o.run.state.target = newTargetRule(o.opts.Target)
		o.run.state.retarget(nil)
	}
	return nil
}

// Snapshot returns the group as it is. An error of listing nodes is returned,
// with an empty Snapshot; one of pods, Warnings or budgets is told in PodsError,
// WarningsError or BudgetsError, and the Snapshot is otherwise whole.
func (o *KubeObserver) Snapshot(ctx context.Context) (Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return Snapshot{}, err
	}
	if s, ok := o.fromMemory(); ok {
		return s, nil
	}
	state, unread, err := o.list(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remember(state)
	snap := state.Snapshot(o.opts.Clock.Now())
	snap.WarningsError, snap.BudgetsError = unread.warnings, cmp.Or(unread.budgets, snap.BudgetsError)
	return snap, nil
}

// fromMemory answers from the informers, if there are any and they are well. It
// puts away those whose context has ended.
func (o *KubeObserver) fromMemory() (Snapshot, bool) {
	o.mu.Lock()
	run := o.run
	if run == nil || !run.synced {
		o.mu.Unlock()
		return Snapshot{}, false
	}
	if run.ctx.Err() == nil {
		defer o.mu.Unlock()
		if run.healthy() != nil {
			return Snapshot{}, false
		}
		return run.state.Snapshot(o.opts.Clock.Now()), true
	}
	o.retire(run)
	o.mu.Unlock()
	run.stop()
	return Snapshot{}, false
}

// retire goes back to list mode, with what the informers remember.
func (o *KubeObserver) retire(run *informers) {
	if o.run == run {
		o.run = nil
		if run.synced {
			o.last = run.state
		}
	}
}

// remember gives a freshly listed State the memory of the former one, and takes
// its place. While informers run they keep theirs and learn from it.
func (o *KubeObserver) remember(fresh *State) {
	// The baseline may have been replaced while the list was on its way.
	if !fresh.target.auto {
		fresh.target = newTargetRule(o.opts.Target)
		fresh.retarget(nil)
	}
	before := o.last
	if o.run != nil && o.run.synced {
		before = o.run.state
	}
	if before != nil {
		fresh.restoreFrom(before)
		fresh.restoreDrains(before)
	}
	fresh.CapturePods()
	if fresh.target.auto && !fresh.target.captured {
		fresh.CaptureBaseline()
	}
	if o.run != nil && o.run.synced {
		o.run.state.restoreFrom(fresh)
		return
	}
	o.last = fresh
}

// StartInformers goes over to informer mode and returns when the caches hold
// everything. ctx governs as long as the informers run: when it ends, Snapshot
// lists again. While informers run, a further call returns nil once they have
// synced. On an error everything that was started has ended, and the observer
// stays in list mode.
func (o *KubeObserver) StartInformers(ctx context.Context) error {
	if o.refusal != nil {
		return o.refusal
	}
	o.mu.Lock()
	old := o.run
	if old != nil && old.ctx.Err() == nil {
		o.mu.Unlock()
		return old.waitSynced(ctx, o.opts.Clock, o.opts.SyncTimeout)
	}
	if old != nil {
		o.retire(old)
	}
	run := newInformers(ctx, o)
	run.start() // before it can be stopped
	o.run = run
	o.mu.Unlock()
	if old != nil {
		old.stop()
	}

	err := run.waitSynced(ctx, o.opts.Clock, o.opts.SyncTimeout)
	o.mu.Lock()
	if err == nil && o.run != run {
		err = errors.New("watch node group: stopped before the caches had synced")
	}
	if err != nil {
		o.retire(run)
		o.mu.Unlock()
		run.stop()
		return err
	}
	if o.last != nil {
		run.state.restoreFrom(o.last)
		run.state.restoreDrains(o.last)
		o.last = nil
	}
	run.state.CapturePods()
	if run.state.target.auto && !run.state.target.captured {
		run.state.CaptureBaseline()
	}
	run.synced = true
	o.mu.Unlock()
	return nil
}

// StopInformers goes back to list mode and returns when every goroutine of the
// informers has ended. It may be called at any time, any number of times.
func (o *KubeObserver) StopInformers() {
	o.mu.Lock()
	run := o.run
	if run != nil {
		o.retire(run)
	}
	o.mu.Unlock()
	if run != nil {
		run.stop()
	}
}

func (o *KubeObserver) newState() *State {
	o.mu.Lock()
	defer o.mu.Unlock()
	return NewState(o.opts.StateOptions)
}

func (o *KubeObserver) nodeOptions() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: o.selector}
}
