package bugs

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"

	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

// https://github.com/kubernetes/kubernetes/pull/113136
//
// Taints that somebody had put on a node disappeared. The node lifecycle controller takes its own taint off with a
// patch that it makes from the node in its cache; in a patch spec.taints is one value, so it took off what others had
// added since, too (issues/128304 and issues/131231 there tell of it).
//
// Mended by the resource version in the patch: 409, and then again from a newer node. The fault delay makes the cache
// old.
func TestKubernetes113136(t *testing.T) {
	shows(t, untaint, "the node has no taints", "the node has example.com/maintenance")
}

// untainter takes a taint off a node.
type untainter struct {
	kube   kubernetes.Interface
	cached listers.NodeLister
	mended bool
}

func (u *untainter) remove(ctx context.Context, node, key string) error {
	for {
		old, err := u.cached.Get(node)
		if err != nil {
			return err
		}
		is := func(t corev1.Taint) bool { return t.Key == key }
		if !slices.ContainsFunc(old.Spec.Taints, is) {
			return nil
		}
		from, to := old.DeepCopy(), old.DeepCopy()
		to.Spec.Taints = slices.DeleteFunc(to.Spec.Taints, is)
		if u.mended {
			from.ResourceVersion = "" // so that the patch has the one of the new
		}
		patch, err := twoWay(from, to)
		if err != nil {
			return err
		}
		_, err = u.kube.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		if !apierrors.IsConflict(err) {
			return err
		}
		<-time.After(5 * time.Second)
	}
}

func twoWay(from, to *corev1.Node) ([]byte, error) {
	before, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(to)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Node{})
}

func untaint(t *testing.T, mended bool) string {
	c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")), fault.Inject("delay:nodes,by=10s"))
	c.Start()
	factory := informers.NewSharedInformerFactory(c.Kube, 0)
	u := &untainter{c.Kube, factory.Core().V1().Nodes().Lister(), mended}
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	factory.WaitForCacheSync(t.Context().Done())
	name := c.Nodes()[0].Name
	taint := func(key string) {
		n := nodeNamed(t, c, name)
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		if err := c.Client.Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	taint("example.com/starting")
	<-time.After(time.Minute) // it is in the cache
	taint("example.com/maintenance")
	if err := u.remove(t.Context(), name, "example.com/starting"); err != nil {
		t.Fatal(err)
	}
	said := "the node has no taints"
	for _, left := range nodeNamed(t, c, name).Spec.Taints {
		said = "the node has " + left.Key
	}
	return said
}
