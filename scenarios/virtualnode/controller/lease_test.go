package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// A renewal is one PUT: nothing is read first.
func TestRenewalIsOnePut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		running(t.Context(), t, f.controller(t, readyNode(), f.leases(), WithNodeStatusReportInterval(5*time.Minute)))
		synctest.Wait()
		want := []string{"GET leases/virtual", "POST leases", "PUT leases/virtual"} // twice at the start
		if d := cmp.Diff(want, leaseRequests(f)); d != "" {
			t.Errorf("requests for the lease at the start (-want +got):\n%s", d)
		}
		f.forget()
		pass(time.Minute)
		if got := leaseRequests(f); len(got) != 6 || f.requests("PUT leases/virtual") != 6 {
			t.Errorf("found %v in a minute, want six renewals", got)
		}
		l := f.lease()
		if l.Namespace != corev1.NamespaceNodeLease || *l.Spec.HolderIdentity != "virtual" || *l.Spec.LeaseDurationSeconds != 40 {
			t.Errorf("found %+v", l)
		}
	})
}

func leaseRequests(f *fixture) (out []string) {
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	for _, r := range f.log {
		if strings.Contains(r, "leases") {
			out = append(out, r)
		}
	}
	return out
}

// A lease that is there is taken over, with what others keep in it.
func TestLeaseIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.add("leases/virtual", &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Name: "virtual", Namespace: corev1.NamespaceNodeLease, Labels: map[string]string{"theirs": "stays"},
				OwnerReferences: []metav1.OwnerReference{
					{APIVersion: "v1", Kind: "Node", Name: "virtual", UID: "gone"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "virtual", UID: "theirs"},
				},
			},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("somebody")},
		})
		running(t.Context(), t, f.controller(t, readyNode(), f.leases()))
		synctest.Wait()
		l := f.lease()
		if *l.Spec.HolderIdentity != "virtual" || l.Labels["theirs"] != "stays" || f.requests("POST leases") > 0 {
			t.Errorf("found %+v, want the lease taken over", l)
		}
		want := []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "virtual", UID: "theirs"}, {APIVersion: "v1", Kind: "Node", Name: "virtual", UID: f.node().UID}}
		if d := cmp.Diff(want, l.OwnerReferences); d != "" {
			t.Errorf("owners (-want +got):\n%s", d)
		}
	})
}

// A renewal changes only what it made itself, so that it may share the rest.
func TestRenewedSharesAndKeeps(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	before := newLease(identity{name: "virtual", uid: "1"}, 40, now)
	kept := before.DeepCopy()
	after := renewed(before, identity{name: "virtual", uid: "2"}, 20, now.Add(time.Second))
	if d := cmp.Diff(kept, before); d != "" {
		t.Errorf("the lease that was renewed has changed:\n%s", d)
	}
	if after.OwnerReferences[0].UID != "2" || len(after.OwnerReferences) != 1 || *after.Spec.LeaseDurationSeconds != 20 {
		t.Errorf("found %+v", after)
	}
	// A clock that was set back doesn't let the renew time fall.
	if late := renewed(before, identity{name: "virtual", uid: "1"}, 40, now.Add(-time.Hour)); !late.Spec.RenewTime.After(before.Spec.RenewTime.Time) {
		t.Errorf("found the renew time %s after %s", late.Spec.RenewTime, before.Spec.RenewTime)
	}
}

// Failed renewals are made again after pauses that double, and never wait beyond the end.
func TestLeaseBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.fails(func(request string) error {
			if strings.Contains(request, "leases") {
				return apierrors.NewInternalError(errors.New("etcd has no leader"))
			}
			return nil
		})
		begun := time.Now()
		var reported list[int64] // milliseconds
		n := f.controller(t, readyNode(), f.leases(), WithNodeLeaseErrorHandler(func(context.Context, error) error {
			reported.add(time.Since(begun).Milliseconds())
			return nil
		}))
		stop := running(t.Context(), t, n)
		pass(21 * time.Second)
		want := []int64{0, 200, 600, 1400, 3000, 6200, 13200, 20200}
		if d := cmp.Diff(want, reported.all()); d != "" {
			t.Errorf("tries (-want +got):\n%s", d)
		}
		ended := time.Now()
		if err := stop(); err != nil || time.Since(ended) > 0 {
			t.Errorf("Run ended with %v after %s, want nil at once", err, time.Since(ended))
		}
	})
}

// A right that is missing is named, and asked for again at each interval alone.
func TestLeaseForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.fails(func(request string) error {
			if request == "PUT leases/virtual" {
				return forbidden("update", "leases")
			}
			return nil
		})
		var reported list[string]
		running(t.Context(), t, f.controller(t, readyNode(), f.leases(), WithNodeLeaseErrorHandler(func(_ context.Context, err error) error {
			reported.add(err.Error())
			return nil
		})))
		synctest.Wait()
		if reported := reported.all(); len(reported) != 1 || !strings.Contains(reported[0], `cannot update resource "leases"`) || strings.Contains(reported[0], "\n") {
			t.Fatalf("told of %q at the start, want the missing right in one line", reported)
		}
		pass(time.Minute)
		if reported := reported.all(); len(reported) > 7 {
			t.Errorf("told %d times in a minute, want once each interval", len(reported))
		}
	})
}
