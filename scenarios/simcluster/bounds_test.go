package simcluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/scenarios/simcluster"
)

// run is Start of a cluster whose simulation may fail.
func run(t *testing.T, c *simcluster.TestCluster) (ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(cancel)
	return done
}

func configMap(name, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Data: map[string]string{"a": text}}
}

// A reconciler that changes what it watches, for ever, ends with the name of the object; in a bubble time would never pass.
func TestAReconcilerThatFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
		ended := run(t, c)
		k := clients(t, c)
		if _, err := k.CoreV1().ConfigMaps("shop").Create(t.Context(), configMap("settings", ""), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w, err := k.CoreV1().ConfigMaps("shop").Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		flapped := make(chan error, 1)
		go func() {
			n := 0
			for range w.ResultChan() {
				n++
				patch := fmt.Appendf(nil, `{"data":{"a":"%d"}}`, n)
				if _, err := k.CoreV1().ConfigMaps("shop").Patch(t.Context(), "settings", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
					flapped <- err
					return
				}
			}
		}()
		err = c.RunUntil(t.Context(), time.Hour, "peace", func() bool { return false })
		for _, err := range []error{err, <-flapped, <-ended} {
			if err == nil || !strings.Contains(err.Error(), "configmaps shop/settings alone 10001 times, and no time has passed") {
				t.Errorf("%v: want the object that flaps", err)
			}
		}
		w.Stop()
	})
}

// Who waits for a cluster that stands still is told.
func TestACaseThatNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
		c.Start()
		err := c.RunUntil(t.Context(), time.Hour, "the impossible", func() bool { return false })
		if err == nil || !strings.Contains(err.Error(), "wait for the impossible: it didn't happen in 1h0m0s. The last events:") {
			t.Error(err)
		}
		c.Player().Pause()
		err = c.RunUntil(t.Context(), time.Hour, "a node", func() bool { return false })
		if err == nil || err.Error() != "wait for a node: the cluster is paused, so that no time passes: want Resume of its Player before" {
			t.Error(err)
		}
		c.Player().Resume()
	})
}

// An object that is too large is refused as by a real server, and nothing is the worse for it.
func TestAnObjectOfThreeMegabytes(t *testing.T) {
	c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
	k := clients(t, c)
	_, err := k.CoreV1().ConfigMaps("shop").Create(t.Context(), configMap("large", strings.Repeat("x", 3<<20)), metav1.CreateOptions{})
	if !apierrors.IsRequestEntityTooLargeError(err) || !strings.Contains(err.Error(), "limit is 3145728") {
		t.Errorf("%.200v: want 413", err)
	}
	if _, err := k.CoreV1().ConfigMaps("shop").Create(t.Context(), configMap("large", strings.Repeat("x", 1<<19)), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// A client that watches and doesn't read is cut off; the cluster, and who waits until its watches have delivered, go on.
func TestAClientThatDoesntRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
		k := clients(t, c)
		client, err := rest.HTTPClientFor(c.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/v1/namespaces/shop/configmaps?watch=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		const many = 400
		for n := range many {
			if _, err := k.CoreV1().ConfigMaps("shop").Create(t.Context(), configMap(fmt.Sprint("c-", n), strings.Repeat("x", 10_000)), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.RunFor(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if n := len(c.Player().Cluster().Watches()); n != 0 {
			t.Errorf("%d watches are open, want none", n)
		}
		got, err := io.ReadAll(response.Body)
		if len(got) > many*5000 {
			t.Errorf("%d bytes were kept for a client that doesn't read (%v)", len(got), err)
		}
		if err := response.Body.Close(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
