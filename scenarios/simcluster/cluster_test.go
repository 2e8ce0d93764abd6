package simcluster_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/timeline"
)

func clients(t testing.TB, c *simcluster.TestCluster) kubernetes.Interface {
	t.Helper()
	k, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// podsOn lists the pods of an application on a node, or on all nodes.
func podsOn(t testing.TB, k kubernetes.Interface, node string, ready bool) (names []string) {
	t.Helper()
	list, err := k.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		if node != "" && p.Spec.NodeName != node || ready && !isReady(&p) {
			continue
		}
		names = append(names, p.Name)
	}
	return names
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// drain does what kubectl drain does with a node's pods of an application: it cordons, and evicts until the budget
// lets all go.
func drain(t testing.TB, k kubernetes.Interface, node string, pause func()) (refused int) {
	t.Helper()
	if _, err := k.CoreV1().Nodes().Patch(t.Context(), node, types.StrategicMergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := k.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		for {
			err := k.PolicyV1().Evictions(p.Namespace).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}})
			if err == nil || apierrors.IsNotFound(err) {
				break
			}
			if !apierrors.IsTooManyRequests(err) {
				t.Fatal(err)
			}
			refused++
			pause()
		}
	}
	return refused
}

func firstNode(t testing.TB, k kubernetes.Interface) string {
	t.Helper()
	list, err := k.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		t.Fatal(len(list.Items), err)
	}
	return list.Items[0].Name
}

// sound holds the cluster's tape against the invariants.
func sound(t testing.TB, c *simcluster.TestCluster) {
	t.Helper()
	stream, err := c.Tape().Open()
	if err != nil {
		t.Fatal(err)
	}
	r, is := stream.(*timeline.Reader)
	if !is {
		t.Fatalf("a %T", stream)
	}
	report, err := inspect.Check(r, inspect.CheckOptions(r.Header()))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Error(v)
	}
	if !r.Complete() {
		t.Error("the tape doesn't say that it ends")
	}
}

// In a bubble the cluster's hour is over in a moment.
func TestWhatADrainDisplacesRunsElsewhere(t *testing.T) {
	var first string
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
			c.Start()
			k := clients(t, c)
			node := firstNode(t, k)
			want := len(podsOn(t, k, "", true))
			if on := len(podsOn(t, k, node, true)); on == 0 || want < 4 {
				t.Fatalf("%d pods, %d of them on %s", want, on, node)
			}
			refused := drain(t, k, node, func() { <-time.After(5 * time.Second) })
			c.Eventually(10*time.Minute, "all pods to run elsewhere", func() bool {
				return len(podsOn(t, k, node, false)) == 0 && len(podsOn(t, k, "", true)) == want
			})
			var tape bytes.Buffer
			if err := c.WriteTape(&tape); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(tape.String(), `"unschedulable":true`) {
				t.Error("the client's own write isn't on the tape")
			}
			sound(t, c)
			t.Logf("%d evictions refused, %d bytes of tape, T+%s", refused, tape.Len(), c.Player().Position())
			if first == "" {
				first = tape.String()
			} else if first != tape.String() {
				t.Error("two runs made two tapes")
			}
		})
	}
}

// Without a bubble the test says how far time goes.
func TestRunForAndRunUntil(t *testing.T) {
	c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
	k := clients(t, c)
	node := firstNode(t, k)
	drain(t, k, node, func() {
		if err := c.RunFor(t.Context(), 5*time.Second); err != nil {
			t.Fatal(err)
		}
	})
	c.Eventually(10*time.Minute, "the node to be empty", func() bool { return len(podsOn(t, k, node, false)) == 0 })
	err := c.RunUntil(t.Context(), time.Minute, "the impossible", func() bool { return false })
	if err == nil || !strings.Contains(err.Error(), "wait for the impossible: it didn't happen in 1m0s") {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := c.RunFor(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	at := c.Player().Position()
	if err := c.RunFor(t.Context(), time.Hour); err != nil || c.Player().Position() != at+time.Hour {
		t.Error(err, c.Player().Position())
	}
}

func TestAStartThatIsNone(t *testing.T) {
	for _, s := range []simcluster.Start{{}, simcluster.Scenario("sruge"), simcluster.Scenario("demo")} {
		if _, err := simcluster.New(s); err == nil {
			t.Error("accepted")
		} else {
			t.Log(err)
		}
	}
}
