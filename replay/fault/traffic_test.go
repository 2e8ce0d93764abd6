package fault_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
)

// balancer is a controller with a mistake: it stops the traffic to a node when
// it sees the cordon, and takes for granted that it will.
type balancer struct{ targets map[string]bool }

func newBalancer(c *fakeclient.Client, f informers.SharedInformerFactory) (*balancer, error) {
	b := &balancer{targets: map[string]bool{}}
	_, err := c.Handle(f.Core().V1().Nodes().Informer(), cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { b.targets[o.(*corev1.Node).Name] = true },
		UpdateFunc: func(_, o any) {
			if n := o.(*corev1.Node); n.Spec.Unschedulable {
				delete(b.targets, n.Name)
			}
		},
	})
	return b, err
}

// traffic is the test in the README: it takes the controller through a recorded
// roll, and checks what it says against what there is.
func traffic(t *testing.T, errorf func(format string, args ...any), faults ...string) {
	synctest.Test(t, func(t *testing.T) { // where client-go's back-offs take no time
		ctx, cancel := context.WithCancel(t.Context())
		c, err := fakeclient.New(replay.File("../../examples/surge.yaml"), fault.Inject(faults...))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		factory := informers.NewSharedInformerFactory(c, 0)
		b, err := newBalancer(c, factory)
		if err != nil {
			t.Fatal(err)
		}
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		if err := c.StepTo(ctx, replay.End); err != nil {
			t.Error(err)
		}
		for name := range b.targets {
			if _, err := factory.Core().V1().Nodes().Lister().Get(name); err != nil {
				errorf("traffic still goes to %s, which is gone", name)
			}
		}
		cancel()
		factory.Shutdown()
	})
}

func TestTraffic(t *testing.T) {
	traffic(t, t.Errorf)
	var found []string
	traffic(t, func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }, "unobserved")
	slices.Sort(found)
	if d := cmp.Diff([]string{
		"traffic still goes to ip-10-0-1-10, which is gone",
		"traffic still goes to ip-10-0-1-11, which is gone",
		"traffic still goes to ip-10-0-1-12, which is gone",
	}, found); d != "" {
		t.Errorf("under unobserved the test says (-want +got):\n%s", d)
	}
}
