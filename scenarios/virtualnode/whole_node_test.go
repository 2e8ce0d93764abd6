package virtualnode

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func wholeNode(t *testing.T, client kubernetes.Interface, opts ...func(*NodeConfig)) *Node {
	t.Helper()
	n, err := NewNode("virtual", client, NewMockProvider(nil), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// patient is a context that no wait outlasts.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func forbidden(verb, resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "virtual",
		fmt.Errorf("User \"u\" cannot %s resource \"%s\"", verb, resource))
}

// Nobody sees a node whose pods aren't followed yet.
func TestPodsAreFollowedBeforeTheNodeIsThere(t *testing.T) {
	client := fake.NewClientset()
	n := wholeNode(t, client)
	ctx, cancel := context.WithCancel(patient(t))
	defer cancel()
	leases, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer leases.Stop()
	go func() { _ = n.Run(ctx) }()
	select {
	case <-n.Ready():
	case <-n.Done():
		t.Fatal(n.Err())
	}
	at := func(verb, resource string) int {
		return slices.IndexFunc(client.Actions(), func(a clienttesting.Action) bool { return a.Matches(verb, resource) })
	}
	// An informer follows from its list on: its watch begins there, whenever it is opened.
	if pods, node := at("list", "pods"), at("create", "nodes"); pods < 0 || node < pods {
		t.Errorf("request %d lists pods and request %d creates the node: want the pods first", pods, node)
	}
	got, err := client.CoreV1().Nodes().Get(ctx, "virtual", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(got.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero()
	}) {
		t.Errorf("conditions %+v: want Ready since a time", got.Status.Conditions)
	}
	if port := got.Status.DaemonEndpoints.KubeletEndpoint.Port; port != DefaultKubeletPort || got.Labels[corev1.LabelHostname] != "virtual" {
		t.Errorf("port %d, labels %v: want %d, and the node's name as hostname", port, got.Labels, DefaultKubeletPort)
	}
	select {
	case <-leases.ResultChan():
	case <-ctx.Done():
		t.Error("the node has no lease")
	}
	cancel()
	<-n.Done()
	if err := n.Err(); err != nil {
		t.Error(err)
	}
	if err := n.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "make a new one") {
		t.Errorf("a second Run: %v", err)
	}
}

// A node that may not be registered is an error, and its pods are left alone again.
func TestANodeThatIsRefused(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, forbidden("create", "nodes")
	})
	n := wholeNode(t, client)
	err := n.Run(patient(t))
	if err == nil || !strings.Contains(err.Error(), "register node virtual") {
		t.Errorf("Run: %v, want the refusal", err)
	}
	select {
	case <-n.Ready():
		t.Error("it is ready")
	default:
	}
	<-n.Pods().Done()
	if n.Err() == nil {
		t.Error("Err has nothing of it")
	}
}

// A pod controller that doesn't start leaves no node behind.
func TestANodeWithoutPods(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, forbidden("list", "pods")
	})
	n := wholeNode(t, client)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Run(ctx); err == nil || !strings.Contains(err.Error(), "cache of pods") {
		t.Errorf("Run: %v, want that the cache isn't full", err)
	}
	if slices.ContainsFunc(client.Actions(), func(a clienttesting.Action) bool { return a.GetResource().Resource == "nodes" }) {
		t.Error("the node is registered")
	}
}

func TestNewNodeRefuses(t *testing.T) {
	client, provider := fake.NewClientset(), NewMockProvider(nil)
	for want, opt := range map[string]func(*NodeConfig){
		"Workers is -1":          func(c *NodeConfig) { c.Workers = -1 },
		"RelookInterval is -1ns": func(c *NodeConfig) { c.Pods = func(p *PodControllerConfig) { p.RelookInterval = -1 } },
		"multiple, conflicting lease conf": func(c *NodeConfig) {
			c.NodeOptions = []NodeControllerOpt{WithNodeEnableLeaseV1(client.CoordinationV1().Leases("x"), 0)}
		},
	} {
		if n, err := NewNode("virtual", client, provider, opt); n != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v: want %s", n, err, want)
		}
	}
	for name, make := range map[string]func() (*Node, error){
		"name":     func() (*Node, error) { return NewNode("", client, provider) },
		"client":   func() (*Node, error) { return NewNode("virtual", nil, provider) },
		"provider": func() (*Node, error) { return NewNode("virtual", client, nil) },
	} {
		if n, err := make(); n != nil || !IsInvalidInput(err) {
			t.Errorf("without a %s: %v, %v", name, n, err)
		}
	}
}
