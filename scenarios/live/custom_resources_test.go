package live

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/nodesim/nodesim/scenarios"
)

var (
	pools  = scenarios.CustomKind{GroupVersionResource: schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}, Kind: "NodePool"}
	claims = scenarios.CustomKind{GroupVersionResource: schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}, Kind: "NodeClaim"}
)

// aCustom is an object of the provider's as its actors write it, with UIDs of theirs.
func aCustom(kind scenarios.CustomKind, name, owner, node string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind))
	o.SetName(name)
	if owner != "" {
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "karpenter.sh/v1", Kind: pools.Kind, Name: owner, UID: "simulated"}})
	}
	if node != "" {
		o.Object["status"] = map[string]any{"nodeRef": map[string]any{"name": node, "uid": "simulated"}}
	}
	return o
}

// A fixture is an API server whose custom resources go to a fake one, which gives UIDs.
type fixture struct {
	*apiServer
	server *dynamicfake.FakeDynamicClient
	slow   chan struct{} // closed when the NodePool may be made
	said   []string      // Events by their object's UID
}

func newFixture(ctx context.Context, t *testing.T) *fixture {
	server := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{pools.GroupVersionResource: "NodePoolList", claims.GroupVersionResource: "NodeClaimList"})
	c := &fixture{server: server, slow: make(chan struct{})}
	server.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		o := a.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured)
		if o.GetKind() == pools.Kind {
			select {
			case <-c.slow:
			default:
				return true, nil, errNoServer // and again
			}
		}
		o.SetUID(types.UID("uid-of-" + o.GetName()))
		return false, nil, nil
	})
	kube := fake.NewClientset()
	c.apiServer = &apiServer{ctx: ctx, label: "surge", client: faked(kube), writeQueue: newWriteQueue(ctx, func(error) {}), kubelets: newKubelets(faked(kube), 0, 1, func(err error) { t.Error(err) })}
	c.kubelets.nodes = cached()
	c.customResources = &customResources{
		label: "surge", client: server, writeQueue: c.writeQueue, kubelets: c.kubelets,
		kinds: []scenarios.CustomKind{pools, claims}, known: map[string]*customResource{},
	}
	return c
}

// NodeClaims wait for their NodePool, their statuses for the Node, Events and Nodes for
// the NodeClaim: with as many as there are write workers, and more, nobody else waits.
func TestCustomsThatWaitHoldUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newFixture(ctx, t)
		var mu sync.Mutex
		node := &kubelet{name: "n", created: make(chan struct{}), ended: make(chan struct{})}
		c.kubelets.byName["n"] = node
		c.WriteCustom(pools, nil, aCustom(pools, "general", "", ""))
		for i := range 2 * writeWorkers {
			name := fmt.Sprintf("general-%d", i)
			c.WriteCustom(claims, nil, aCustom(claims, name, "general", "n"))
			about := corev1.ObjectReference{APIVersion: "karpenter.sh/v1", Kind: claims.Kind, Name: name}
			c.customResources.recordEvent(scenarios.Report{About: about}, c.customResources.find(about.APIVersion, about.Kind, "", name), func(r scenarios.Report) {
				mu.Lock()
				defer mu.Unlock()
				c.said = append(c.said, string(r.About.UID))
			})
			owned := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%d", i), OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "karpenter.sh/v1", Kind: claims.Kind, Name: name, UID: "simulated"},
			}}}
			c.WriteNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: owned.Name}}, owned)
		}
		other := func() {
			t.Helper()
			done := false
			c.writeQueue.send("other", "other", func(context.Context) error { done = true; return nil })
			synctest.Wait()
			if !done {
				t.Error("what nobody waits for isn't delivered")
			}
		}
		synctest.Wait()
		other()
		if len(c.said) > 0 {
			t.Errorf("Events about %q, which aren't there", c.said)
		}
		close(c.slow)
		for c.writeQueue.under() > 4*writeWorkers { // a wait and a status of each
			<-time.After(pauseMost)
			synctest.Wait()
		}
		other()
		if len(c.said) != 2*writeWorkers {
			t.Errorf("Events about %q: want one of each", c.said)
		}
		close(node.ended)
		if err := c.writeQueue.delivered(t.Context()); err != nil {
			t.Fatal(err)
		}
		cancel()
		c.writeQueue.close()
		made, err := c.server.Resource(claims.GroupVersionResource).Get(t.Context(), "general-0", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if owners := made.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != "uid-of-general" {
			t.Errorf("its owners are %v: want the NodePool by the server's UID", owners)
		}
		for _, uid := range c.said {
			if uid == "" {
				t.Error("an Event has no UID of its NodeClaim")
			}
		}
	})
}

// One of an earlier live run that is collected between the look and the write is
// created again; its kind is resumed.
func TestCustomThatGoesWhileItIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newFixture(ctx, t)
		left := aCustom(claims, "general-0", "", "")
		left.SetUID("earlier")
		left.SetLabels(map[string]string{Label: "surge"})
		if err := c.server.Tracker().Add(left); err != nil {
			t.Fatal(err)
		}
		c.server.PrependReactor("patch", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			name := a.(clienttesting.PatchAction).GetName()
			_ = c.server.Tracker().Delete(claims.GroupVersionResource, "", name) // the second time it is gone
			return true, nil, apierrors.NewNotFound(claims.GroupResource(), name)
		})
		c.WriteCustom(claims, nil, aCustom(claims, "general-0", "", ""))
		if err := c.writeQueue.delivered(t.Context()); err != nil {
			t.Fatal(err)
		}
		cancel()
		c.writeQueue.close()
		made, err := c.server.Resource(claims.GroupVersionResource).Get(t.Context(), "general-0", metav1.GetOptions{})
		if err != nil || made.GetUID() != "uid-of-general-0" || !c.customResources.writes(claims) {
			t.Errorf("found %v, %v, and NodeClaims are written: %t; want a new one", made, err, c.customResources.writes(claims))
		}
	})
}
