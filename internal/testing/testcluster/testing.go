package testcluster

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// shared is the one cluster of a test package; see Main and Shared.
var shared struct {
	mu      sync.Mutex
	main    bool
	options Options
	cluster *Cluster
	err     error
}

// Main is the whole TestMain of a package that uses Shared: it runs the tests, stops the cluster if one was started,
// and ends the process. It fails a package whose cluster could not be stopped cleanly.
func Main(m *testing.M, o Options) {
	shared.mu.Lock()
	shared.main, shared.options = true, o
	shared.mu.Unlock()
	status := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster != nil {
		if err := shared.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the test cluster:", err)
			status = max(status, 1)
		}
	}
	os.Exit(status)
}

// Shared returns the package's cluster and starts it when it is first called. The package's TestMain must call Main.
// If the test fails, the ends of the cluster's logs are logged.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.main {
		t.Fatal("testcluster.Shared: found no running testcluster.Main, want it called by this package's TestMain")
	}
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = Start(shared.options)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	c := shared.cluster
	t.Cleanup(func() { c.showLogs(t) })
	return c
}

// New starts a cluster for one test and stops it at the test's end.
func New(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.showLogs(t)
		if err := c.Stop(); err != nil {
			t.Errorf("stop the test cluster: %v", err)
		}
	})
	return c
}

// HTTP returns a client that is known to the API server as its administrator, and the URL that paths are put after.
func (c *Cluster) HTTP(t testing.TB) (client *http.Client, url string) {
	t.Helper()
	config := c.Config()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return client, strings.TrimSuffix(config.Host, "/")
}

func (c *Cluster) showLogs(t testing.TB) {
	t.Helper()
	if t.Failed() {
		t.Logf("the test cluster's logs:\n%s", c.Logs(4))
	}
}
