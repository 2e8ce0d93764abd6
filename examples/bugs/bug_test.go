package bugs

import (
	"cmp"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

// A bug runs a controller, mended or not, and returns what came of it.
type bug func(t *testing.T, mended bool) string

// shows runs a bug, and then the mended code under the same conditions, each in a bubble of its own: the first has to end in
// what was reported, the second in what is right.
func shows(t *testing.T, run bug, reported, right string) {
	t.Helper()
	for _, test := range []struct {
		name   string
		mended bool
		want   string
	}{{"bug", false, reported}, {"mended", true, right}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := run(t, test.mended); got != test.want {
					t.Errorf("found %q, want %q", got, test.want)
				}
			})
		})
	}
}

// A process runs parts of a controller until one of them panics. That would end the whole test: client-go panics again
// after it has logged a handler's panic (HandleCrash of apimachinery's pkg/util/runtime).
type process struct {
	mu      sync.Mutex // a timer's goroutine calls it too
	crashed string
}

// do runs a part, unless the process has ended.
func (p *process) do(part func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.crashed != "" {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			p.crashed = fmt.Sprint("panic: ", r)
		}
	}()
	part()
}

// ends is how the process ended, or what it has done.
func (p *process) ends(done string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(p.crashed, done)
}

// handle adds handlers to an informer.
func handle(t *testing.T, i cache.SharedIndexInformer, h cache.ResourceEventHandler) {
	t.Helper()
	if _, err := i.AddEventHandler(h); err != nil {
		t.Fatal(err)
	}
}

// isReady reports whether a node is Ready.
func isReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// nodeNamed reads one node of a simulated cluster.
func nodeNamed(t *testing.T, c *simtest.Cluster, name string) *corev1.Node {
	t.Helper()
	for _, n := range c.Nodes() {
		if n.Name == name {
			return &n
		}
	}
	t.Fatalf("found no node %s", name)
	return nil
}

// evictFrom evicts the pods of web that are on a node, as kubectl drain does: it waits where the budget refuses.
func evictFrom(t *testing.T, c *simtest.Cluster, node string) {
	t.Helper()
	for _, p := range c.Pods("shop", "app=web", node) {
		c.Eventually(10*time.Minute, "the budget to allow the eviction of "+p.Name, func() bool {
			return c.Client.SubResource("eviction").Create(t.Context(), &p, &policyv1.Eviction{}) == nil
		})
	}
}
