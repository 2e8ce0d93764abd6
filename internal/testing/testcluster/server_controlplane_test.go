//go:build controlplane

package testcluster_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

func write(t *testing.T, client kubernetes.Interface, name string) (version string) {
	t.Helper()
	object, err := client.CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return object.ResourceVersion
}

// firstSince watches ConfigMaps from a version and returns the name in the first event, or the error that ended it.
func firstSince(t *testing.T, client kubernetes.Interface, version string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	w, err := client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return "", err
	}
	defer w.Stop()
	event, open := <-w.ResultChan()
	switch {
	case !open:
		t.Fatal("watch ended without an event")
	case event.Type == watch.Error:
		return "", apierrors.FromObject(event.Object)
	}
	return event.Object.(*corev1.ConfigMap).Name, nil
}

// A stop ends the open watches cleanly and isn't held up by them; a crash breaks them. The server comes back at
// the same address with the same users.
func TestStopsEndWatches(t *testing.T) {
	t.Parallel()
	cluster := testcluster.New(t, testcluster.Options{})
	for name, stop := range map[string]func() error{
		"stop":  cluster.StopAPIServer,
		"crash": func() error { return cluster.KillAPIServer(t.Context()) },
	} {
		open, err := cluster.Client().CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatalf("before the %s: %v", name, err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for event := range open.ResultChan() {
			t.Logf("%s: %s", name, event.Type)
		}
		if _, err := cluster.Client().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); !utilnet.IsConnectionRefused(err) {
			t.Errorf("after the %s: found %v, want the connection refused", name, err)
		}
		if err := cluster.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Without the watch cache etcd's history is the window: neither a stop nor a crash of the server loses an event, a
// compaction does.
func TestWindowWithoutWatchCache(t *testing.T) {
	t.Parallel()
	cluster := testcluster.New(t, testcluster.Options{NoWatchCache: true})
	client := cluster.Client()
	before := write(t, client, "before")
	write(t, client, "after")
	if err := cluster.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := firstSince(t, client, before); got != "after" || err != nil {
		t.Errorf("after a restart: found %q, %v, want the event \"after\"", got, err)
	}
	if err := cluster.CrashAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := firstSince(t, client, before); got != "after" || err != nil {
		t.Errorf("after a crash: found %q, %v, want the event \"after\"", got, err)
	}
	if _, err := cluster.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := firstSince(t, client, before); !apierrors.IsResourceExpired(err) {
		t.Errorf("after a compaction: found %q, %v, want 410 Expired", got, err)
	}
}

// With the watch cache its memory is the window: a compaction alone is not seen, a restart forgets.
func TestWindowWithWatchCache(t *testing.T) {
	t.Parallel()
	cluster := testcluster.New(t, testcluster.Options{APIServer: map[string]string{"min-request-timeout": "60"}})
	client := cluster.Client()
	before := write(t, client, "before")
	write(t, client, "after")
	if _, err := cluster.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := firstSince(t, client, before); got != "after" || err != nil {
		t.Errorf("after a compaction: found %q, %v, want the event \"after\"", got, err)
	}
	if _, err := cluster.ExpireWatches(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := firstSince(t, client, before); !apierrors.IsResourceExpired(err) {
		t.Errorf("after ExpireWatches: found %q, %v, want 410 Expired", got, err)
	}
}

// A user sees what the rules allow, through a proxy as well, and no server is there while the proxy refuses.
func TestUsersAndProxy(t *testing.T) {
	cluster := testcluster.Shared(t)
	config, err := cluster.User(t.Context(), "reader", testcluster.Rule("", []string{"nodes"}, "list"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := cluster.Proxy(t)
	client := kubernetes.NewForConfigOrDie(proxy.Config(config))
	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("list nodes: found %v, want it allowed", err)
	}
	if _, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("list pods: found %v, want 403 Forbidden", err)
	}
	if err := proxy.Refuse(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("list nodes while the proxy refuses: found no error")
	}
	if err := proxy.Resume(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("list nodes after Resume: found %v, want it allowed", err)
	}
}
