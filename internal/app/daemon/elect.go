package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// patience is how long one that leads may be unable to make tapes until it lets another one lead: it may only have to connect again.
	patience = 30 * time.Second
)

// leases are the client of those in a namespace.
type leases = kubeclient.Resource[*coordinationv1.Lease, *coordinationv1.LeaseList]

// election decides by a Lease which of several recorders makes tapes. It does as client-go's tools/leaderelection, which links the typed
// clients of all groups: time is compared with what this process has seen, never with the clock of another one.
type election struct {
	leases   leases
	name     string
	identity string
	log      *slog.Logger
	able     func() bool // reports whether this recorder could make a tape now
	whole    func() bool // reports whether it has the beginning of each roll that is on; nil: always

	ableAt, gaveUp, freeAt time.Time // when it last could, when it resigned, and since when it could take the lease; of the goroutine of run

	mu      sync.Mutex
	renewed time.Time // when this one last renewed it
	seen    string    // the holder's last renewal
	seenAt  time.Time
}

func newElection(config *rest.Config, lease string, able func() bool, log *slog.Logger) (*election, error) {
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
	return &election{leases: c.CoordinationV1().Leases(namespace), name: name, identity: host + "_" + uuid.NewString(), able: able, log: log}, nil
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
			e.log.Warn(failing)
		}
		if first := e.leads(); first != was {
			was = first
			e.log.Info(map[bool]string{true: "this recorder makes tapes from now on", false: "this recorder stands by from now on"}[first])
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// fit reports whether this one may lead: it could make tapes a moment ago.
func (e *election) fit(now time.Time) bool {
	if e.able() {
		e.ableAt = now
	}
	return !e.ableAt.IsZero() && now.Sub(e.ableAt) < patience
}

// resign ends the lead of this one, and reports whether it had it.
func (e *election) resign() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	led := !e.renewed.IsZero()
	e.renewed = time.Time{}
	return led
}

// once renews the lease, or takes it where it is free. One that can't make tapes gives it up.
func (e *election) once(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, electEvery)
	defer cancel()
	fit := e.fit(now)
	if !fit && e.resign() {
		e.gaveUp = now
		e.release(ctx)
		return nil
	}
	fit = fit && (e.gaveUp.IsZero() || now.Sub(e.gaveUp) > 3*electEvery) // the others come first
	l, err := e.leases.Get(ctx, e.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !fit:
		return nil
	case apierrors.IsNotFound(err):
		l = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: e.name}}
		e.hold(l, now)
		_, err = e.leases.Create(ctx, l, metav1.CreateOptions{})
		return e.result(now, err)
	case err != nil:
		e.freeAt = time.Time{}
		return e.about(err)
	case !e.mayTake(l, now):
		e.freeAt = time.Time{}
		return nil
	case !fit, e.yields(l, now):
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
		return e.about(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.renewed = now
	return nil
}

func (e *election) about(err error) error {
	remedy := ""
	if apierrors.IsForbidden(err) {
		remedy = ": allow create, get and update of leases in its namespace; until then this recorder makes no tapes"
	}
	return fmt.Errorf("election: lease %s: %w%s", e.name, err, remedy)
}

// covered reports whether another one leads, as far as this process has seen.
func (e *election) covered() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.seenAt.IsZero() && time.Since(e.seenAt) < leaseTime
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

// yields reports whether this one lets others take a free lease first. A recorder that began in the middle of a roll would make a tape
// without its beginning, which another one may have.
func (e *election) yields(l *coordinationv1.Lease, now time.Time) bool {
	if value(l.Spec.HolderIdentity) == e.identity || e.whole == nil || e.whole() {
		e.freeAt = time.Time{}
		return false
	}
	if e.freeAt.IsZero() {
		e.freeAt = now
	}
	return now.Sub(e.freeAt) < 3*electEvery
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
		e.log.Warn(fmt.Sprintf("election: lease %s: %v; another recorder waits for %s", e.name, err, leaseTime))
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
