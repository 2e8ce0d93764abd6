//go:build controlplane

package recorder_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// kind is one resource that a load writes to.
type kind struct {
	word     string // for the recorder, and on the tape
	gvr      schema.GroupVersionResource
	kind     string
	space    string
	manifest map[string]any
}

var written = []kind{
	{"nodes", schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, "Node", "", map[string]any{}},
	{"pods", schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "Pod", "default", map[string]any{
		"spec": map[string]any{"nodeName": "somewhere", "containers": []any{map[string]any{"name": "c", "image": "web:1"}}},
	}},
	{"poddisruptionbudgets", schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}, "PodDisruptionBudget", "default", map[string]any{
		"spec": map[string]any{"minAvailable": int64(1), "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}},
	}},
	{"events", schema.GroupVersionResource{Version: "v1", Resource: "events"}, "Event", "default", map[string]any{
		"involvedObject": map[string]any{"kind": "Pod", "namespace": "default", "name": "web"}, "reason": "Test", "message": "a test",
	}},
	{"widgets", schema.GroupVersionResource{Group: "test.nodesim.dev", Version: "v1", Resource: "widgets"}, "Widget", "default", map[string]any{
		"spec": map[string]any{"size": int64(3)},
	}},
}

func kinds() (words []string) {
	for _, k := range written {
		words = append(words, k.word)
	}
	return words
}

// installWidgets makes the custom resource.
func installWidgets(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.test.nodesim.dev"},
		"spec": map[string]any{
			"group": "test.nodesim.dev", "scope": "Namespaced",
			"names": map[string]any{"kind": "Widget", "plural": "widgets", "singular": "widget"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	crds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	for {
		_, err := client.Resource(written[4].gvr).List(ctx, metav1.ListOptions{})
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the custom resource is not served: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// write is one that the server has acknowledged.
type write struct {
	typ, resource, name, uid, version string
}

// load writes to a cluster and remembers what was acknowledged.
type load struct {
	t      *testing.T
	client dynamic.Interface
	seed   uint64
	n      int
	acked  []write
	alive  []live
}

type live struct {
	kind    kind
	name    string
	uid     string
	version string // at least
}

func newLoad(t *testing.T, c *testcluster.Cluster, seed uint64) *load {
	config := c.Config()
	config.QPS, config.Burst = -1, 0
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &load{t: t, client: client, seed: seed}
}

func (l *load) name(suffix string) string { return fmt.Sprintf("s%d-%s", l.seed, suffix) }

func (l *load) api(k kind) dynamic.ResourceInterface {
	if k.space == "" {
		return l.client.Resource(k.gvr)
	}
	return l.client.Resource(k.gvr).Namespace(k.space)
}

// writes makes n changes at random.
func (l *load) writes(rng *rand.Rand, n int) {
	for range n {
		l.n++
		switch p := rng.IntN(10); {
		case p < 4 || len(l.alive) == 0:
			l.create(written[rng.IntN(len(written))], fmt.Sprint(l.n))
		case p < 8:
			l.patch(rng.IntN(len(l.alive)))
		default:
			l.remove(rng.IntN(len(l.alive)))
		}
	}
}

// begin forgets what was acknowledged so far, but for the present state: that
// is what the recorder's lists must show.
func (l *load) begin() {
	l.acked = nil
	for _, o := range l.alive {
		l.acked = append(l.acked, write{"ADDED", o.kind.word, o.name, o.uid, o.version})
	}
}

// retryRequest repeats a request until the server has answered: it may be away.
func (l *load) retryRequest(what string, request func(context.Context) error) {
	ctx, cancel := context.WithTimeout(l.t.Context(), 30*time.Minute)
	defer cancel()
	for {
		err := request(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			l.t.Fatalf("%s: %v", what, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (l *load) create(k kind, suffix string) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	for name, value := range k.manifest {
		object.Object[name] = value
	}
	object.SetAPIVersion(k.gvr.GroupVersion().String())
	object.SetKind(k.kind)
	object.SetName(l.name(suffix))
	object.SetNamespace(k.space)
	l.retryRequest("create "+object.GetName(), func(ctx context.Context) error {
		made, err := l.api(k).Create(ctx, object, metav1.CreateOptions{})
		switch {
		case apierrors.IsAlreadyExists(err): // an earlier try has reached the server without an answer
			if made, err = l.api(k).Get(ctx, object.GetName(), metav1.GetOptions{}); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			l.acked = append(l.acked, write{"ADDED", k.word, made.GetName(), string(made.GetUID()), made.GetResourceVersion()})
		}
		l.alive = append(l.alive, live{k, made.GetName(), string(made.GetUID()), made.GetResourceVersion()})
		return nil
	})
}

func (l *load) patch(i int) {
	o := &l.alive[i]
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"n":"%d"}}}`, l.n)
	l.retryRequest("patch "+o.name, func(ctx context.Context) error {
		done, err := l.api(o.kind).Patch(ctx, o.name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return err
		}
		// Where an earlier try has reached the server, this one changes
		// nothing and is answered with the version of that one.
		l.acked = append(l.acked, write{"MODIFIED", o.kind.word, o.name, o.uid, done.GetResourceVersion()})
		o.version = done.GetResourceVersion()
		return nil
	})
}

func (l *load) remove(i int) {
	o := l.alive[i]
	l.alive = append(l.alive[:i], l.alive[i+1:]...)
	now := int64(0)
	l.retryRequest("delete "+o.name, func(ctx context.Context) error {
		err := l.api(o.kind).Delete(ctx, o.name, metav1.DeleteOptions{GracePeriodSeconds: &now})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			// The answer has no version; that of the object is below it.
			l.acked = append(l.acked, write{"DELETED", o.kind.word, o.name, o.uid, o.version})
		}
		return err
	})
}

// end shows the recorder that every write of this load is over.
func (l *load) end() {
	for _, k := range written {
		l.create(k, "end")
	}
}

// clean removes what is left, off the record.
func (l *load) clean() {
	n := len(l.acked)
	for len(l.alive) > 0 {
		l.remove(len(l.alive) - 1)
	}
	l.acked = l.acked[:n]
}
