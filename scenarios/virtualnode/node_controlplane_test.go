//go:build controlplane

package virtualnode_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// A node's whole life: created, ready, its lease renewed; what others do to it stays; deleted by another client
// it comes again; the next controller goes on where the first one stopped.
func TestNodeOnARealAPIServer(t *testing.T) {
	p := newPlot(t)
	c := p.controller(p.cluster.Config(), virtualnode.WithNodeSpecReconciliation())
	stop := p.run(c)
	first := p.live()
	if first.UID != c.UID() || first.Status.Conditions[0].Status != corev1.ConditionTrue || len(first.Status.Addresses) != 2 {
		t.Fatalf("found %+v, want the given node, ready", first)
	}
	p.renewedAfter(time.Now())

	p.edit(func(n *corev1.Node) {
		n.Spec.Unschedulable, n.Labels["theirs"] = true, "stays"
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	})
	pushed := p.node.DeepCopy()
	pushed.Labels = nil
	pushed.Status.Addresses[0], pushed.Status.Addresses[1] = pushed.Status.Addresses[1], pushed.Status.Addresses[0]
	if err := p.provider.UpdateStatus(p.ctx, pushed); err != nil {
		t.Fatal(err)
	}
	p.until("what the provider pushed", func() bool {
		n := p.live()
		_, own := n.Labels["own"]
		return !own && len(n.Status.Addresses) == 2 && n.Status.Addresses[0].Address == "fd00::1" && len(n.Spec.Taints) == 2
	})
	if n := p.live(); !n.Spec.Unschedulable || n.Labels["theirs"] != "stays" {
		t.Errorf("found %+v, want it cordoned, with the label of others", n)
	}

	if err := p.admin.CoreV1().Nodes().Delete(p.ctx, p.node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Reconcile()
	p.until("another node", func() bool { n := p.live(); return n != nil && n.UID != first.UID && n.UID == c.UID() })
	p.renewedAfter(time.Now())

	stop()
	again := p.live()
	stopped := p.lease().Spec.RenewTime.Time
	next := p.controller(p.cluster.Config())
	p.run(next)
	p.renewedAfter(stopped)
	if n := p.live(); n.UID != again.UID || next.UID() != again.UID || n.Labels["own"] != "a" {
		t.Errorf("found UID %s with labels %v, want the node of before taken over", n.UID, n.Labels)
	}
}

// A cache that still holds a node that is gone doesn't lead to a write to its successor as if it were the same.
func TestStaleCacheOnARealAPIServer(t *testing.T) {
	p := newPlot(t)
	stale, err := p.admin.CoreV1().Nodes().Create(p.ctx, p.node, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	if err := index.Add(stale); err != nil {
		t.Fatal(err)
	}
	if err := p.admin.CoreV1().Nodes().Delete(p.ctx, p.node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	foreign := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: p.node.Name, Labels: map[string]string{"theirs": "stays"}}}
	if foreign, err = p.admin.CoreV1().Nodes().Create(p.ctx, foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c := p.controller(p.cluster.Config(), virtualnode.WithNodeLister(corelisters.NewNodeLister(index)))
	p.run(c)
	n := p.live()
	if n.UID != foreign.UID || c.UID() != foreign.UID || n.Labels["theirs"] != "stays" || n.Labels["own"] != "a" || len(n.Status.Conditions) == 0 {
		t.Errorf("found %+v, want the foreign node adopted", n)
	}
	p.renewedAfter(time.Now())
}

// An API server that breaks connections, refuses them, or starts again, costs nothing but time.
func TestOutagesOfARealAPIServer(t *testing.T) {
	p := newPlot(t)
	proxy := p.cluster.Proxy(t)
	var h errorLog
	c := p.controller(proxy.Config(p.cluster.Config()), virtualnode.WithNodeLeaseErrorHandler(h.handle))
	p.run(c)
	p.renewedAfter(time.Now())
	uid := p.live().UID
	for range 3 {
		proxy.CutAfter(300) // in the middle of an answer
		p.renewedAfter(time.Now())
	}
	if err := proxy.Refuse(); err != nil {
		t.Fatal(err)
	}
	p.until("failures", func() bool { return len(h.all()) > 0 })
	if err := proxy.Resume(); err != nil {
		t.Fatal(err)
	}
	p.renewedAfter(time.Now())
	if err := p.cluster.RestartAPIServer(p.ctx); err != nil {
		t.Fatal(err)
	}
	p.renewedAfter(time.Now())
	beat := p.live().Status.Conditions[0].LastHeartbeatTime
	p.until("a heartbeat", func() bool { n := p.live(); return n != nil && beat.Before(&n.Status.Conditions[0].LastHeartbeatTime) })
	if n := p.live(); n.UID != uid {
		t.Errorf("found UID %s, want %s: nobody has deleted the node", n.UID, uid)
	}
	if at := slices.IndexFunc(h.all(), func(line string) bool { return strings.Contains(line, "\n") }); at >= 0 {
		t.Errorf("found an error of several lines: %s", h.all()[at])
	}
}

// Every answer that a busy or broken API server may give to writes, at the start and later.
func TestNodeMeetsFaultyAnswers(t *testing.T) {
	for _, code := range []int{http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			p := newPlot(t)
			b := &rejectingTransport{code: code}
			if code != http.StatusConflict { // which no creation is answered with
				b.left.Store(2)
			}
			config := p.cluster.Config()
			config.Wrap(func(next http.RoundTripper) http.RoundTripper { b.next = next; return b })
			p.run(p.controller(config))
			p.renewedAfter(time.Now())
			b.left.Store(6)
			pushed := p.node.DeepCopy()
			pushed.Labels["own"] = "b"
			if err := p.provider.UpdateStatus(p.ctx, pushed); err != nil {
				t.Fatal(err)
			}
			p.until("the change", func() bool { return p.live().Labels["own"] == "b" })
			p.renewedAfter(time.Now())
			if b.met.Load() < 6 {
				t.Errorf("found %d writes refused, want 6 at the least", b.met.Load())
			}
		})
	}
}

// A right that is missing is named in one line, with verb and resource, wherever it is missing.
func TestNodeMissesARight(t *testing.T) {
	rules := map[string]rbacv1.PolicyRule{
		`cannot get resource "nodes"`:          testcluster.Rule("", []string{"nodes"}, "get"),
		`cannot create resource "nodes"`:       testcluster.Rule("", []string{"nodes"}, "create"),
		`cannot patch resource "nodes/status"`: testcluster.Rule("", []string{"nodes/status"}, "patch"),
		`cannot get resource "leases"`:         testcluster.Rule("coordination.k8s.io", []string{"leases"}, "get"),
		`cannot create resource "leases"`:      testcluster.Rule("coordination.k8s.io", []string{"leases"}, "create"),
		`cannot update resource "leases"`:      testcluster.Rule("coordination.k8s.io", []string{"leases"}, "update"),
	}
	for missing := range rules {
		t.Run(missing, func(t *testing.T) {
			p := newPlot(t)
			var granted []rbacv1.PolicyRule
			for name, rule := range rules {
				if name != missing {
					granted = append(granted, rule)
				}
			}
			user, err := p.cluster.User(p.ctx, p.node.Name, granted...)
			if err != nil {
				t.Fatal(err)
			}
			var h errorLog
			c := p.controller(user, virtualnode.WithNodeLeaseErrorHandler(h.handle), virtualnode.WithNodeStatusUpdateErrorHandler(
				func(ctx context.Context, err error) error { _ = h.handle(ctx, err); return err }))
			ctx, cancel := context.WithCancel(p.ctx)
			go func() { _ = c.Run(ctx) }()
			p.until("an error", func() bool {
				select {
				case <-c.Done():
					return true
				default:
					return len(h.all()) > 0
				}
			})
			registered := p.live() != nil
			cancel()
			<-c.Done()
			reported := h.all()
			if err := c.Err(); err != nil {
				reported = append(reported, err.Error())
				if registered {
					t.Errorf("Run failed with %v and left a node", err)
				}
			}
			for _, line := range reported {
				if !strings.Contains(line, missing) || strings.Contains(line, "\n") {
					t.Errorf("told %q, want one line that says: %s", line, missing)
				}
			}
		})
	}
}
