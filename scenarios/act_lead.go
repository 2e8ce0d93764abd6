package scenarios

import (
	"encoding/json"
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/nodesim/nodesim/timeline"
)

// The Leases of leaders for whom the provider's own actors stand back (kubernetes-sigs/karpenter,
// pkg/operator/options/options.go; kubernetes-sigs/cluster-api, core/main.go).
const (
	karpenterLease = "karpenter-leader-election"
	capiLease      = "controller-leader-election-capi"
)

// led has the provider's own Karpenter or Cluster API stand back while one of a client's leads: its Lease names a holder and
// hasn't expired. A Lease that was on a tape has no holder here.
func (a *Acting) led(ev *timeline.Event) {
	var standBack func(bool)
	switch s := a.sim; {
	case ev.Name == karpenterLease && s.karpenter != nil:
		standBack = s.karpenter.StandBack
	case ev.Name == capiLease && s.machines != nil:
		standBack = s.machines.StandBack
	default:
		return
	}
	in := &coordinationv1.Lease{}
	if ev.Type != timeline.Deleted && json.Unmarshal(ev.Object, in) != nil {
		return // the API server has refused it
	}
	env, l := a.sim.env, &a.leads
	if l.in == nil {
		l.in = map[string]lead{}
	}
	l.in[ev.Namespace] = l.in[ev.Namespace].seen(&in.Spec, env.Now(), env.API.Now().Time())
	tell := func() { standBack(l.until() > env.Now()) }
	env.After(0, tell)
	if l.waits {
		return
	}
	var wait func()
	wait = func() {
		tell()
		until := l.until()
		if l.waits = until > env.Now() && until < forever; l.waits {
			env.At(until, wait)
		}
	}
	l.waits = true
	env.After(0, wait)
}

// leads are the Leases of a provider's leaders, by namespace.
type leads struct {
	in    map[string]lead
	waits bool // for the end of one
}

// until is the moment until which there is a leader.
func (l *leads) until() (last time.Duration) {
	for _, one := range l.in {
		last = max(last, one.until)
	}
	return last
}

// A lead is what a Lease says of its holder, and until when that leads in the cluster's time.
type lead struct {
	holder  string
	renewed time.Time     // by the holder's clock
	at      time.Duration // when that was seen
	until   time.Duration
}

const forever time.Duration = math.MaxInt64

// seen is what is known after a write of the Lease. Candidates wait for leaseDurationSeconds from when they have seen the last
// renewal on (k8s.io/client-go/tools/leaderelection, isLeaseValid), and so does the provider's own. Where the cluster's time
// goes faster than the holder's clock, as two renewals tell, it is as many of the holder's seconds. A Lease without a duration
// doesn't expire, nor does one before its second renewal whose holder has another clock.
func (l lead) seen(s *coordinationv1.LeaseSpec, now time.Duration, clock time.Time) lead {
	is := lead{at: now, until: forever}
	if s.HolderIdentity == nil || *s.HolderIdentity == "" {
		return lead{}
	}
	is.holder = *s.HolderIdentity
	if s.RenewTime == nil || s.LeaseDurationSeconds == nil {
		return is
	}
	is.renewed = s.RenewTime.Time
	lasts, pace := time.Duration(*s.LeaseDurationSeconds)*time.Second, 1.0
	switch again := is.holder == l.holder; {
	case again && is.renewed.Equal(l.renewed):
		return l // something else was written
	case again && is.renewed.After(l.renewed):
		pace = max(1, float64(now-l.at)/float64(is.renewed.Sub(l.renewed)))
	case clock.Sub(is.renewed).Abs() > lasts:
		return is
	}
	if until := float64(now) + float64(lasts)*pace; until < float64(forever) {
		is.until = time.Duration(until)
	}
	return is
}
