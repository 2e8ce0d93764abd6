//go:build controlplane

package live_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/live"
)

// meddling is a roll that others get in the way of.
func meddling(ctx context.Context, t *testing.T) *runningScenario {
	t.Helper()
	f := scenario(t, "surge", append(small, "strategy=plain")...)
	swept(t, f)
	return raise(ctx, t, plane(t).Config(), f)
}

// What others do to leases, pods, labels and taints is mended or left alone, and the
// roll ends.
func TestMeddling(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	s := meddling(ctx, t)
	c := client(t)
	nodes := nodesNow(ctx, t)
	leased, bare, tainted := nodes[0].Name, nodes[1].Name, nodes[2].Name

	leases := c.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	was, err := leases.Get(ctx, leased, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := leases.Delete(ctx, leased, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct{ node, patch string }{
		{bare, `{"metadata":{"labels":{"` + live.Label + `":null,"team":"blue"}}}`},
		{tainted, `{"spec":{"taints":[{"key":"team","value":"red","effect":"NoSchedule"}]}}`},
	} {
		if _, err := c.CoreV1().Nodes().Patch(ctx, one.node, types.StrategicMergePatchType, []byte(one.patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	now := int64(0)
	for _, p := range podsNow(ctx, t) {
		if strings.HasPrefix(p.Name, "web-") {
			if err := c.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	until(ctx, t, "the lease is there again", func() (bool, error) {
		is, err := leases.Get(ctx, leased, metav1.GetOptions{})
		return err == nil && is.UID != was.UID && len(is.OwnerReferences) == 1, err
	})
	until(ctx, t, "the label is there again", func() (bool, error) {
		n, err := c.CoreV1().Nodes().Get(ctx, bare, metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && n.Labels[live.Label] != "", err
	})
	for _, one := range []struct {
		node string
		is   func(*corev1.Node) bool
	}{
		{bare, func(n *corev1.Node) bool { return n.Labels["team"] == "blue" }},
		{tainted, func(n *corev1.Node) bool {
			for _, taint := range n.Spec.Taints {
				if taint.Key == "team" {
					return true
				}
			}
			return false
		}},
	} {
		n, err := c.CoreV1().Nodes().Get(ctx, one.node, metav1.GetOptions{})
		if err == nil && !one.is(n) {
			t.Errorf("node %s: labels %v, taints %v: want what somebody else has put there", one.node, n.Labels, n.Spec.Taints)
		}
	}
	s.complete()
	nothingLeft(ctx, t)
}

// A namespace that is deleted takes its workloads with it; there is nothing to
// drain any more, and the roll ends.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	s := meddling(ctx, t)
	if err := client(t).CoreV1().Namespaces().Delete(ctx, "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.complete()
	nothingLeft(ctx, t)
}

// A Node that somebody else has put in the place of ours, under its name, is theirs:
// nobody keeps it alive, drains it, or removes it in the end.
func TestNodeOfAnotherUnderTheName(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	s := meddling(ctx, t)
	nodes := client(t).CoreV1().Nodes()
	name := nodesNow(ctx, t)[0].Name
	// Pods on a node that nobody keeps would stay there for ever, and hold a budget:
	// they go first, and no new ones come.
	if _, err := kubectl(ctx, t, "cordon", name); err != nil {
		t.Fatal(err)
	}
	now := int64(0)
	for _, p := range podsNow(ctx, t) {
		if p.Spec.NodeName == name && p.Namespace == "shop" {
			if err := client(t).CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
		}
	}
	if err := nodes.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	theirs, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Unschedulable: true}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.complete()
	is, err := nodes.Get(ctx, name, metav1.GetOptions{})
	if err != nil || is.UID != theirs.UID {
		t.Fatalf("their node: %v, %v: want it left alone", is, err)
	}
	if is.Labels[live.Label] != "" || ready(*is) || len(is.Status.Addresses) > 0 {
		t.Errorf("their node has become ours: labels %v, status %v", is.Labels, is.Status)
	}
	if err := nodes.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, "its lease is collected", func() (bool, error) {
		_, err := client(t).CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	nothingLeft(ctx, t)
}

// A Node that is there under a machine's name before the scenario begins is waited for
// to go; then the machine's own comes.
func TestNodeOfAnotherThatGoes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	const name = "ip-10-0-0-4.eu-central-1.compute.internal"
	nodes := client(t).CoreV1().Nodes()
	theirs, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Unschedulable: true}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	enough := errors.New("seen enough")
	_, err = newRunner(t, scenario(t, "surge", small...), live.KnownCluster(),
		live.OnWarning(func(err error) {
			t.Log(err)
			if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "waiting for that") {
				return
			}
			once.Do(func() {
				if err := nodes.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			})
		}),
		live.BeforeBegin(func(ctx context.Context) error {
			is, err := nodes.Get(ctx, name, metav1.GetOptions{})
			if err == nil && (is.UID == theirs.UID || !ready(*is)) {
				t.Errorf("node %s has uid %s, theirs %s, and is Ready: %t; want the machine's own", name, is.UID, theirs.UID, ready(*is))
			}
			return errors.Join(err, enough)
		})).Run(ctx)
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	nothingLeft(ctx, t)
}

// Without its record no live run could be resumed: it ends, says why, and
// removes what it made.
func TestRecordDeleted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	s := meddling(ctx, t)
	if err := client(t).CoordinationV1().Leases(live.RecordNamespace).Delete(ctx, live.RecordName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-s.done
	if s.err == nil || !strings.Contains(s.err.Error(), "the record of the live run") {
		t.Errorf("it ends with %v: want that the record is gone", s.err)
	}
	nothingLeft(ctx, t)
}

// Of two that begin at the same moment one runs, and the other says so.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	f := written(t, growth)
	check(t, plane(t).Config())
	swept(t, f)
	running, end := context.WithCancel(ctx)
	defer end()
	errs := make(chan error, 2)
	for range 2 {
		p, err := live.New(plane(t).Config(), f, live.OnWarning(func(err error) { t.Logf("%.300s", err) }))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err := p.Run(running)
			errs <- err
		}()
	}
	var other *live.OtherRunError
	if err := <-errs; !errors.As(err, &other) || !other.Running {
		t.Errorf("the first to end says %v: want that it is performed now", err)
	}
	until(ctx, t, "the other one has its node", func() (bool, error) {
		nodes := nodesNow(ctx, t)
		return len(nodes) == 1 && ready(nodes[0]), nil
	})
	end()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("the other one ends with %v", err)
	}
	nothingLeft(ctx, t)
}
