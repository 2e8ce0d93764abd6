package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/nodesim/nodesim/internal/testing/emptycluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
)

var emptyHeader = &timeline.Header{
	Metadata: timeline.Metadata{Name: "empty", Start: timeline.Time{Time: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}}, // when bubbles begin
	Resources: []timeline.Resource{
		{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
		{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
		{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases", Namespaced: true},
		{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
	},
}

// keeping is a server of a cluster that keeps what is written, further resources
// too, and lives until stop is called.
func keeping(t testing.TB, record func(apiserver.Write), further ...timeline.Resource) (s *apiserver.Server, stop func()) {
	t.Helper()
	header := *emptyHeader
	header.Resources = slices.Concat(header.Resources, further)
	p, err := replay.NewEnginePlayer(emptycluster.New(&header, 1))
	if err != nil {
		t.Fatal(err)
	}
	s, err = apiserver.New(p, apiserver.KeepWrites(record))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return s, func() {
		s.Close()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// alive says which pods there are, and since when they end.
func alive(t *testing.T, c kubernetes.Interface) (all string) {
	t.Helper()
	l, err := c.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.Items {
		all += p.Name
		if p.DeletionTimestamp != nil {
			all += p.DeletionTimestamp.Format(" until 15:04:05")
		}
		all += ";"
	}
	return all
}

// client-go writes to a cluster in a bubble: what it wrote is there, and watches
// deliver it in order.
func TestClientsChangeACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		s, stop := keeping(t, func(w apiserver.Write) {
			fmt.Fprintf(&log, "%s %s %s %s %d\n", w.At, w.Verb, w.Subresource, w.Name, w.Code)
		})
		c := kubernetes.NewForConfigOrDie(s.RESTConfig())
		ctx := t.Context()
		watched, err := c.CoreV1().Pods("team").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var seen strings.Builder
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			for ev := range watched.ResultChan() {
				pod := ev.Object.(*corev1.Pod)
				fmt.Fprintf(&seen, "%s %s %s %s\n", ev.Type, pod.Name, pod.ResourceVersion, time.Now().UTC().Format(time.TimeOnly))
			}
		}()
		<-time.After(time.Minute)
		for _, name := range []string{"a", "b"} {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "team", Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
			}
			if pod, err = c.CoreV1().Pods("team").Create(ctx, pod, metav1.CreateOptions{}); err != nil || pod.ResourceVersion == "" {
				t.Fatal(err, pod)
			}
			bind := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "team"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
			if err := c.CoreV1().Pods("team").Bind(ctx, bind, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			pod.Status.Phase = corev1.PodRunning
			if _, err := c.CoreV1().Pods("team").UpdateStatus(ctx, pod, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
				t.Errorf("a status of what was before: %v", err)
			}
			status := []byte(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
			if _, err := c.CoreV1().Pods("team").Patch(ctx, name, types.StrategicMergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
				t.Fatal(err)
			}
		}
		budget := &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		}
		if budget, err = c.PolicyV1().PodDisruptionBudgets("team").Create(ctx, budget, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		budget.Status = policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1, ObservedGeneration: budget.Generation}
		if _, err := c.PolicyV1().PodDisruptionBudgets("team").UpdateStatus(ctx, budget, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		evict := func(name string) error {
			return c.PolicyV1().Evictions("team").Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "team"}})
		}
		<-time.After(time.Minute)
		if err := evict("a"); err != nil {
			t.Error(err)
		}
		if err := evict("b"); !apierrors.IsTooManyRequests(err) {
			t.Errorf("a second eviction: %v, want 429", err)
		}
		if diff := cmp.Diff("a until 00:02:30;b;", alive(t, c)); diff != "" {
			t.Error(diff)
		}
		<-time.After(time.Minute)
		if diff := cmp.Diff("b;", alive(t, c)); diff != "" {
			t.Error(diff)
		}
		none := int64(0)
		if err := c.CoreV1().Pods("team").Delete(ctx, "b", metav1.DeleteOptions{GracePeriodSeconds: &none}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		stop()
		<-gone
		want := `ADDED a 2 00:01:00
MODIFIED a 3 00:01:00
MODIFIED a 4 00:01:00
ADDED b 5 00:01:00
MODIFIED b 6 00:01:00
MODIFIED b 7 00:01:00
MODIFIED a 11 00:02:00
MODIFIED a 12 00:02:00
DELETED a 13 00:02:30
MODIFIED b 14 00:03:00
DELETED b 15 00:03:00
`
		if diff := cmp.Diff(want, seen.String()); diff != "" {
			t.Errorf("watched (-want +got):\n%s", diff)
		}
		if want := "2m0s create eviction b 429\n3m0s delete  b 200\n"; !strings.HasSuffix(log.String(), want) {
			t.Errorf("the log ends not with\n%sbut is\n%s", want, log.String())
		}
	})
}

// Two who want to lead agree on one, and on the other when the one has gone.
func TestLeadersAreElected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := keeping(t, nil)
		c := kubernetes.NewForConfigOrDie(s.RESTConfig())
		led := make(chan string, 2)
		run := func(ctx context.Context, name string) {
			leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
				Lock: &resourcelock.LeaseLock{
					LeaseMeta: metav1.ObjectMeta{Name: "lock", Namespace: "team"}, Client: c.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: name},
				},
				LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { led <- name }, OnStoppedLeading: func() {}},
			})
		}
		first, cancelFirst := context.WithCancel(t.Context())
		second, cancelSecond := context.WithCancel(t.Context())
		ended := make(chan struct{}, 2)
		go func() { run(first, "one"); ended <- struct{}{} }()
		<-time.After(time.Second)
		go func() { run(second, "two"); ended <- struct{}{} }()
		<-time.After(time.Hour)
		if got := <-led; got != "one" || len(led) > 0 {
			t.Errorf("%s leads, %d more", got, len(led))
		}
		cancelFirst()
		if got := <-led; got != "two" {
			t.Errorf("%s leads after one", got)
		}
		cancelSecond()
		<-ended
		<-ended
		stop()
	})
}

// A tape keeps nothing.
func TestATapeKeepsNoWrites(t *testing.T) {
	p, err := replay.NewPlayer(replay.Events(emptyHeader, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := apiserver.New(p, apiserver.KeepWrites(nil)); err == nil || !strings.Contains(err.Error(), "RecordWrites") {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkCreate creates ConfigMaps through client-go in memory, one after the
// other: kept, and for comparison recorded.
func BenchmarkCreate(b *testing.B) {
	data := map[string]string{"a": "1", "b": strings.Repeat("2", 200)}
	create := func(b *testing.B, s *apiserver.Server) {
		config := s.RESTConfig()
		config.ContentType = "application/vnd.kubernetes.protobuf"
		c := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("team")
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			n++
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c-", n)}, Data: data}
			if _, err := c.Create(b.Context(), m, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	}
	b.Run("kept", func(b *testing.B) {
		s, stop := keeping(b, nil)
		defer stop()
		create(b, s)
	})
	b.Run("recorded", func(b *testing.B) {
		p, err := replay.NewPlayer(replay.Events(emptyHeader, nil))
		if err != nil {
			b.Fatal(err)
		}
		s, err := apiserver.New(p, apiserver.RecordWrites(func(apiserver.Write) {}))
		if err != nil {
			b.Fatal(err)
		}
		create(b, s)
		s.Close()
		if err := p.Close(); err != nil {
			b.Error(err)
		}
	})
}
