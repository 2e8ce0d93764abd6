package controller

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestLeaseOptions(t *testing.T) {
	client := fake.NewSimpleClientset()
	leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	for _, c := range []struct {
		duration int32
		want     time.Duration // 0 if it must fail
	}{{0, 10 * time.Second}, {40, 10 * time.Second}, {4, time.Second}, {7, time.Second}, {8, 2 * time.Second}, {1, 0}, {3, 0}, {-1, 0}, {-40, 0}} {
		n, err := NewNodeController(NaiveNodeProvider{}, node("virtual"), client.CoreV1().Nodes(), WithNodeEnableLeaseV1(leases, c.duration))
		if (err == nil) != (c.want > 0) || err == nil && n.lease.interval != c.want {
			t.Errorf("duration %d: %+v, %v, want the interval %s (0: an error)", c.duration, n, err, c.want)
		}
	}
	for _, c := range []struct {
		duration int32
		interval time.Duration
		want     string
	}{
		{40, time.Millisecond, ""}, {0, 39 * time.Second, ""},
		{40, 0, "renew interval"}, {40, -1, "renew interval"}, {40, 40 * time.Second, "less than the duration"}, {-1, 1, "duration"},
	} {
		_, err := NewNodeController(NaiveNodeProvider{}, node("virtual"), client.CoreV1().Nodes(),
			WithNodeEnableLeaseV1WithRenewInterval(leases, c.duration, c.interval))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d, %s: %v, want %q", c.duration, c.interval, err, c.want)
		}
	}
	_, err := NewNodeController(NaiveNodeProvider{}, node("virtual"), client.CoreV1().Nodes(),
		WithNodeEnableLeaseV1(leases, 0), WithNodeEnableLeaseV1WithRenewInterval(leases, 40, time.Second))
	if !errors.Is(err, ErrConflictingLeaseControllerConfiguration) || err.Error() == ErrConflictingLeaseControllerConfiguration.Error() {
		t.Errorf("two options for leases: %v, want the conflict, wrapped", err)
	}
}

func TestOptionsThatPanic(t *testing.T) {
	nodes := fake.NewSimpleClientset().CoreV1().Nodes()
	for name, f := range map[string]func(){
		"nil lease client":   func() { WithNodeEnableLeaseV1(nil, 40) },
		"no registrations":   func() { NewRequestLimit(0, 1) },
		"no renewals":        func() { NewRequestLimit(1, 0) },
		"ping timeout of 0":  func() { _, _ = NewNodeController(NaiveNodeProvider{}, node("virtual"), nodes, WithNodePingTimeout(0)) },
		"ping timeout below": func() { _, _ = NewNodeController(NaiveNodeProvider{}, node("virtual"), nodes, WithNodePingTimeout(-1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: want a panic", name)
				}
			}()
			f()
		}()
	}
}

func TestOptions(t *testing.T) {
	nodes := fake.NewSimpleClientset().CoreV1().Nodes()
	n := must(t, NaiveNodeProvider{}, node("virtual"), nodes, nil,
		WithNodePingInterval(0), WithNodeStatusUpdateInterval(-1), WithNodeStatusReportInterval(-1), WithNodeClock(nil))
	if n.pingInterval != DefaultPingInterval || n.statusInterval != DefaultStatusUpdateInterval || n.pingTimeout != DefaultPingTimeout || n.clock == nil {
		t.Errorf("found %+v, want the defaults", n)
	}
	n = must(t, NaiveNodeProvider{}, node("virtual"), nodes, WithNodePingInterval(1), WithNodePingInterval(2))
	if n.pingInterval != 2 {
		t.Errorf("found %s, want the last option's", n.pingInterval)
	}
	for _, fraction := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := NewNodeController(NaiveNodeProvider{}, node("virtual"), nodes, WithNodeJitter(fraction)); err == nil {
			t.Errorf("jitter %v: want an error", fraction)
		}
	}
	for name, f := range map[string]func() (*NodeController, error){
		"provider": func() (*NodeController, error) { return NewNodeController(nil, node("virtual"), nodes) },
		"name":     func() (*NodeController, error) { return NewNodeController(NaiveNodeProvider{}, node(""), nodes) },
		"node":     func() (*NodeController, error) { return NewNodeController(NaiveNodeProvider{}, nil, nodes) },
		"client":   func() (*NodeController, error) { return NewNodeController(NaiveNodeProvider{}, node("virtual"), nil) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v, want an error that names it", name, err)
		}
	}
}

// Pauses are longer by chance, never shorter, and never wrap around.
func TestJitter(t *testing.T) {
	n := must(t, NaiveNodeProvider{}, node("virtual"), fake.NewSimpleClientset().CoreV1().Nodes(), WithNodeJitter(1))
	seen := map[time.Duration]bool{}
	for range 100 {
		d := n.jitter(time.Second)
		if d < time.Second || d > 2*time.Second {
			t.Fatalf("found %s, want 1s to 2s", d)
		}
		seen[d] = true
		if d := n.jitter(math.MaxInt64); d < math.MaxInt64/2 {
			t.Fatalf("found %s for the longest pause", d)
		}
	}
	if len(seen) < 2 {
		t.Error("found the same pause a hundred times")
	}
	for failures, want := range map[int]time.Duration{
		0: backoffFirst, 1: backoffFirst, 2: 2 * backoffFirst, 5: 3200 * time.Millisecond, 6: backoffMost, math.MaxInt: backoffMost,
	} {
		if d := n.backoff(failures); d < want || d > want*3/2 {
			t.Errorf("pause after %d failures: found %s, want %s and up to a half more", failures, d, want)
		}
	}
}
