package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/kubeclient"
)

// The times of an election, as those of kube-scheduler (k8s.io/component-base/config, LeaderElectionConfiguration).
const (
	leaseTime  = 15 * time.Second // after which another one may take a lease that wasn't renewed
	renewTime  = 10 * time.Second // after which one that couldn't renew it no longer leads
	electEvery = 2 * time.Second
)

// leases are the client of those in a namespace.
type leases = kubeclient.Resource[*coordinationv1.Lease, *coordinationv1.LeaseList]

// election decides by a Lease which of several recorders makes tapes. It does as client-go's tools/leaderelection, which links the typed
// clients of all groups: time is compared with what this process has seen, never with the clock of another one.
type election struct {
	leases   leases
	name     string
	identity string
	say      func(string)

	mu      sync.Mutex
	renewed time.Time // when this one last renewed it
	seen    string    // the holder's last renewal
	seenAt  time.Time
}

func newElection(config *rest.Config, lease string, say func(string)) (*election, error) {
	namespace, name, ok := strings.Cut(lease, "/")
	if !ok || namespace == "" || name == "" {
		return nil, fmt.Errorf("flag --lease %q: want NAMESPACE/NAME", lease)
	}
	c, err := kubeclient.New(config, nil)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &election{leases: c.CoordinationV1().Leases(namespace), name: name, identity: host + "_" + uuid.NewString(), say: say}, nil
}

// leads reports whether this one makes tapes.
func (e *election) leads() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.renewed.IsZero() && time.Since(e.renewed) < renewTime
}

// run takes part until the context ends.
func (e *election) run(ctx context.Context) {
	ticker := time.NewTicker(electEvery)
	defer ticker.Stop()
	failing, was := "", false
	for {
		err := e.once(ctx, time.Now())
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failing = ""
		case err.Error() != failing:
			failing = err.Error()
			e.say(failing)
		}
		if first := e.leads(); first != was {
			was = first
			e.say(map[bool]string{true: "this recorder makes tapes from now on", false: "this recorder stands by from now on"}[first])
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// once renews the lease, or takes it where it is free.
func (e *election) once(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, electEvery)
	defer cancel()
	l, err := e.leases.Get(ctx, e.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		l = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: e.name}}
		e.hold(l, now)
		_, err = e.leases.Create(ctx, l, metav1.CreateOptions{})
		return e.result(now, err)
	}
	if err != nil {
		return fmt.Errorf("election: lease %s: %w", e.name, err)
	}
	if !e.mayTake(l, now) {
		return nil
	}
	e.hold(l, now)
	_, err = e.leases.Update(ctx, l, metav1.UpdateOptions{})
	return e.result(now, err)
}

func (e *election) result(now time.Time, err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil // another one was faster
	}
	if err != nil {
		return fmt.Errorf("election: lease %s: %w", e.name, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.renewed = now
	return nil
}

// mayTake reports whether the lease is this one's, free, or wasn't renewed for its time, as far as this process has seen.
func (e *election) mayTake(l *coordinationv1.Lease, now time.Time) bool {
	holder := value(l.Spec.HolderIdentity)
	if holder == e.identity || holder == "" {
		return true
	}
	record := holder + " " + l.ResourceVersion
	e.mu.Lock()
	defer e.mu.Unlock()
	if record != e.seen {
		e.seen, e.seenAt = record, now
	}
	return now.Sub(e.seenAt) >= leaseTime
}

// hold writes this one into the lease.
func (e *election) hold(l *coordinationv1.Lease, now time.Time) {
	at := metav1.NewMicroTime(now)
	if value(l.Spec.HolderIdentity) != e.identity {
		l.Spec.AcquireTime = &at
		taken := value(l.Spec.LeaseTransitions) + 1
		l.Spec.LeaseTransitions = &taken
	}
	duration := int32(leaseTime / time.Second)
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = &e.identity, &duration, &at
}

// release frees the lease, so that another one needn't wait.
func (e *election) release(ctx context.Context) {
	l, err := e.leases.Get(ctx, e.name, metav1.GetOptions{})
	if err != nil || value(l.Spec.HolderIdentity) != e.identity {
		return
	}
	free := ""
	l.Spec.HolderIdentity = &free
	if _, err := e.leases.Update(ctx, l, metav1.UpdateOptions{}); err != nil && !errors.Is(err, context.Canceled) {
		e.say(fmt.Sprintf("election: lease %s: %v; another recorder waits for %s", e.name, err, leaseTime))
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
