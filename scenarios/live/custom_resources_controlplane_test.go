//go:build controlplane

package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/nodesim/nodesim/scenarios/live"
)

var (
	nodeClaims  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	nodePools   = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
	machines    = schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta1", Resource: "machines"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// drift is a NodePool of two nodes.
var drift = []string{"nodes=2", "budget=50%"}

func customs(t *testing.T) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(plane(t).Config())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func listed(ctx context.Context, t *testing.T, r schema.GroupVersionResource) []unstructured.Unstructured {
	t.Helper()
	list, err := customs(t).Resource(r).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// claimed waits until nodes, NodeClaims and NodePools belong to each other, since a live run writes an object's owners
// once these are on the server, and returns the UIDs of the NodeClaims by their names.
func claimed(ctx context.Context, t *testing.T) map[string]types.UID {
	t.Helper()
	var claims map[string]types.UID
	var wrong []string
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		claims, wrong = unclaimed(ctx, t)
		return len(wrong) == 0, nil
	})
	if err != nil {
		t.Errorf("%v\n%s", err, strings.Join(wrong, "\n"))
	}
	return claims
}

// unclaimed says which nodes, NodeClaims and NodePools don't belong to each other, beside the UIDs of the NodeClaims.
func unclaimed(ctx context.Context, t *testing.T) (claims map[string]types.UID, wrong []string) {
	t.Helper()
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	owners := map[types.UID]string{}
	for _, o := range listed(ctx, t, nodePools) {
		owners[o.GetUID()] = o.GetName()
	}
	claims = map[string]types.UID{}
	serves := map[types.UID]string{}
	for _, o := range listed(ctx, t, nodeClaims) {
		if len(o.GetOwnerReferences()) != 1 || owners[o.GetOwnerReferences()[0].UID] != "general" {
			say("NodeClaim %s has the owners %v: want the NodePool general", o.GetName(), o.GetOwnerReferences())
		}
		if !slices.Equal(o.GetFinalizers(), []string{"karpenter.sh/termination"}) {
			say("NodeClaim %s has the finalizers %v", o.GetName(), o.GetFinalizers())
		}
		claims[o.GetName()] = o.GetUID()
		serves[o.GetUID()], _, _ = unstructured.NestedString(o.Object, "status", "nodeName")
	}
	nodes := nodesNow(ctx, t)
	for _, n := range nodes {
		if len(n.OwnerReferences) != 1 || serves[n.OwnerReferences[0].UID] != n.Name {
			say("node %s has the owners %v: want the NodeClaim whose node it is", n.Name, n.OwnerReferences)
		}
	}
	if len(nodes) != len(claims) || len(nodes) == 0 {
		say("%d nodes, %d NodeClaims: want as many, and some", len(nodes), len(claims))
	}
	return claims, wrong
}

// undefined says which definitions a live run has left.
func undefined(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, o := range listed(ctx, t, definitions) {
		if _, ours := o.GetLabels()[live.Label]; ours {
			t.Errorf("left: definition of %s", o.GetName())
		}
	}
	if _, err := customs(t).Resource(nodeClaims).List(ctx, metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("NodeClaims are still served: %v", err)
	}
}

// Each node has a NodeClaim on the server that owns it, with the conditions, the
// finalizer and the Events of Karpenter's, and in the end nothing is left of them.
func TestNodeClaims(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	var before, after map[string]types.UID
	about := map[types.UID][]string{}
	var p *live.Runner
	p = newRunner(t, scenario(t, "karpenter-drift", drift...),
		live.BeforeBegin(func(ctx context.Context) error {
			before = claimed(ctx, t)
			if d := cmp.Diff([]schema.GroupVersionResource{nodePools, nodeClaims}, p.CustomKinds()); d != "" {
				t.Errorf("what is written: %s", d)
			}
			return nil
		}),
		live.AtEnd(func(ctx context.Context) error {
			after = claimed(ctx, t)
			events, err := client(t).CoreV1().Events("").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=NodeClaim"})
			for _, e := range events.Items {
				about[e.InvolvedObject.UID] = append(about[e.InvolvedObject.UID], e.Reason)
			}
			return err
		}))
	report, err := p.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
	if !slices.Equal(report.Outcomes, []string{""}) || report.Refused > 0 || len(report.Left) > 0 {
		t.Errorf("outcomes %q, refused %d, left %v", report.Outcomes, report.Refused, report.Left)
	}
	for name, uid := range before {
		if after[name] != "" {
			t.Errorf("NodeClaim %s is still there in the end", name)
		}
		if !slices.Contains(about[uid], "DisruptionTerminating") {
			t.Errorf("the Events about NodeClaim %s are %v: want DisruptionTerminating among them", name, about[uid])
		}
	}
	nothingLeft(ctx, t)
	undefined(ctx, t)
}

// A run that resumes what was left resumes its NodeClaims, and somebody who
// deletes one has its node go.
func TestNodeClaimsAreGoneOnWith(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	file := scenario(t, "karpenter-drift", drift...)
	first, stop := context.WithCancel(ctx)
	defer stop()
	var once sync.Once
	_, err := newRunner(t, file, live.Keep(), live.OnProgress(func(p live.Progress) {
		// A node that has just come, and one that goes or will.
		if p.Phase == live.Playing && p.At > 2*time.Minute {
			once.Do(stop)
		}
	})).Run(first)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	left := map[string]types.UID{}
	for _, n := range nodesNow(ctx, t) {
		if n.DeletionTimestamp == nil && len(n.OwnerReferences) == 1 {
			left[n.OwnerReferences[0].Name] = n.OwnerReferences[0].UID
		}
	}
	var victim corev1.Node
	report, err := newRunner(t, file, live.BeforeBegin(func(ctx context.Context) error {
		uids := map[string]types.UID{}
		for _, o := range listed(ctx, t, nodeClaims) {
			uids[o.GetName()] = o.GetUID()
		}
		for name, uid := range left {
			if uids[name] != uid {
				t.Errorf("NodeClaim %s was %s and is %q", name, uid, uids[name])
			}
		}
		for _, n := range nodesNow(ctx, t) {
			if n.DeletionTimestamp == nil && len(n.OwnerReferences) == 1 {
				victim = n
			}
		}
		if victim.Name == "" {
			return errors.New("no node has a NodeClaim")
		}
		return customs(t).Resource(nodeClaims).Delete(ctx, victim.OwnerReferences[0].Name, metav1.DeleteOptions{})
	}), live.AtEnd(func(ctx context.Context) error {
		for _, n := range nodesNow(ctx, t) {
			if n.UID == victim.UID {
				t.Errorf("node %s is still there, although its NodeClaim was deleted", n.Name)
			}
		}
		claimed(ctx, t)
		return nil
	})).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Adopted || len(report.Left) > 0 || !slices.Equal(report.Outcomes, []string{""}) {
		t.Errorf("adopted %t, left %v, outcomes %q: want an adopted roll that is complete and leaves nothing", report.Adopted, report.Left, report.Outcomes)
	}
	nothingLeft(ctx, t)
	undefined(ctx, t)
}

// A definition of somebody else's that takes no object of ours is gone on without,
// which is said once; and it stays.
func TestDefinitionsOfOthers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	closed := map[string]any{"type": "object"}
	spec := map[string]any{"type": "object", "required": []any{"bootstrap", "clusterName"}, "properties": map[string]any{
		"bootstrap": closed, "clusterName": map[string]any{"type": "string"},
	}}
	theirs := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "machines.cluster.x-k8s.io"},
		"spec": map[string]any{
			"group": machines.Group, "scope": "Namespaced", "names": map[string]any{"kind": "Machine", "plural": machines.Resource},
			"versions": []any{map[string]any{
				"name": machines.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"spec": spec, "status": closed}}},
			}},
		},
	}}
	crds := customs(t).Resource(definitions)
	if _, err := crds.Create(ctx, theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := crds.Delete(context.WithoutCancel(ctx), theirs.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	until(ctx, t, "Machines are served", func() (bool, error) {
		_, err := customs(t).Resource(machines).List(ctx, metav1.ListOptions{})
		return err == nil, err
	})
	var mu sync.Mutex
	var said []string
	enough := errors.New("seen enough")
	_, err := newRunner(t, scenario(t, "capi-rollout", "nodes=2"),
		live.OnWarning(func(err error) { mu.Lock(); said = append(said, err.Error()); mu.Unlock() }),
		live.BeforeBegin(func(ctx context.Context) error {
			for _, n := range nodesNow(ctx, t) {
				if len(n.OwnerReferences) > 0 {
					t.Errorf("node %s has the owners %v", n.Name, n.OwnerReferences)
				}
			}
			return enough
		})).Run(ctx)
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(strings.Join(said, "\n"), "leaving out machines.cluster.x-k8s.io"); n != 1 {
		t.Errorf("it is said %d times that it goes on without Machines, want once: %q", n, said)
	}
	if n := len(listed(ctx, t, machines)); n > 0 {
		t.Errorf("%d Machines were written", n)
	}
	if _, err := crds.Get(ctx, theirs.GetName(), metav1.GetOptions{}); err != nil {
		t.Errorf("the definition of others: %v", err)
	}
	nothingLeft(ctx, t)
}
