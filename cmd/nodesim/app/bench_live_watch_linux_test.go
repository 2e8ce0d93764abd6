//go:build controlplane

package app

import (
	"slices"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// bare is an object without the fields that aren't read here.
func bare(o any) (any, error) {
	if m, err := meta.Accessor(o); err == nil {
		m.SetManagedFields(nil)
		m.SetAnnotations(nil)
	}
	return o, nil
}

// follow calls seen with every state that a watch shows.
func follow[T any](tb testing.TB, informer cache.SharedIndexInformer, seen func(T)) {
	tb.Helper()
	tell := func(o any) {
		if is, ok := o.(T); ok {
			seen(is)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: tell, UpdateFunc: func(_, o any) { tell(o) },
	}); err != nil {
		tb.Fatal(err)
	}
}

// An objectCounter counts objects that have come to be as they should, and says how long all took.
type objectCounter struct {
	mu          sync.Mutex
	there       map[types.UID]string // by name
	out         int
	first, last time.Time
}

func newTurnout() *objectCounter { return &objectCounter{there: map[types.UID]string{}} }

// begin is the moment from which on it is counted; without it, that of the first object.
func (t *objectCounter) begin(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.first = at
}

func (t *objectCounter) see(uid types.UID, name string, good bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.first.IsZero() {
		t.first = now
	}
	_, there := t.there[uid]
	switch {
	case good && !there:
		t.there[uid], t.last = name, now
	case !good && there:
		t.out++
	}
}

func (t *objectCounter) node(n *corev1.Node) {
	t.see(n.UID, n.Name, slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}))
}

func (t *objectCounter) pod(p *corev1.Pod) { t.see(p.UID, p.Name, p.Status.Phase == corev1.PodRunning) }

func (t *objectCounter) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.there)
}

// lost returns how often one that was as it should be was seen otherwise.
func (t *objectCounter) lost() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out
}

func (t *objectCounter) took() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last.Sub(t.first)
}

func (t *objectCounter) names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, name := range t.there {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// A leaseWatch knows how old leases have become: from the time that is in one to the moment at which a watch shows
// the next one.
type leaseWatch struct {
	mu       sync.Mutex
	held     map[string]heldLease
	oldest   time.Duration
	late     map[string]bool
	renewals int
}

type heldLease struct {
	renewed  time.Time
	duration time.Duration
}

func newLeaseWatch() *leaseWatch {
	return &leaseWatch{held: map[string]heldLease{}, late: map[string]bool{}}
}

func (w *leaseWatch) lease(l *coordinationv1.Lease) {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.age(l.Name, time.Now())
	is := heldLease{l.Spec.RenewTime.Time, time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second}
	if !is.renewed.Equal(w.held[l.Name].renewed) {
		w.renewals++
	}
	w.held[l.Name] = is
}

// age wants w.mu held.
func (w *leaseWatch) age(name string, now time.Time) {
	is, held := w.held[name]
	if !held {
		return
	}
	old := now.Sub(is.renewed)
	w.oldest = max(w.oldest, old)
	if old > is.duration {
		w.late[name] = true
	}
}

// look is a glance at all leases.
func (w *leaseWatch) look(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.held {
		w.age(name, now)
	}
}

// forget starts over.
func (w *leaseWatch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.oldest, w.renewals = 0, 0
	clear(w.late)
}

// report is the greatest age of a lease, how many were ever older than their duration, and how often one was renewed.
func (w *leaseWatch) report() (oldest time.Duration, late, renewals int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.oldest, len(w.late), w.renewals
}
