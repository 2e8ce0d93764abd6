package simcluster_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
)

var schemes atomic.Int32

// A kubeconfig leads to a cluster in memory by a scheme of its own: client-go takes net/http's default transport for every
// URL without TLS (k8s.io/client-go/transport/cache.go). docs/simcluster.md says so.
func TestKubeconfig(t *testing.T) {
	c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 2}))
	scheme := fmt.Sprintf("sim%d", schemes.Add(1)) // each is taken once in a process
	http.DefaultTransport.(*http.Transport).RegisterProtocol(scheme, c.RESTConfig().Transport)
	config, err := clientcmd.RESTConfigFromKubeConfig(fmt.Appendf(nil, `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %s://cluster}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, scheme))
	if err != nil {
		t.Fatal(err)
	}
	k, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := k.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("%d nodes, %v", len(list.Items), err)
	}
}
