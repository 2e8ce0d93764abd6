package simcluster_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/timeline"
)

// The tape leads to the objects that the cluster has, as far as a tape may have them, after more patches of a node than may follow each other and more text than is
// kept uncompressed.
func TestTheTapeLeadsToTheCluster(t *testing.T) {
	c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
	k := clients(t, c)
	node := firstNode(t, k)
	for i := range 200 {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"n":"<%d>"}}}`, i)
		if _, err := k.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, drained := range []bool{true, false} {
		if err := c.RunFor(t.Context(), 12*time.Hour); err != nil {
			t.Fatal(err)
		}
		pause := func() {
			if err := c.RunFor(t.Context(), 5*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		drain(t, k, node, pause) // of nothing, the second time
		pause()
		p, err := replay.NewPlayer(c.Tape())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Seek(t.Context(), replay.End); err != nil {
			t.Fatal(err)
		}
		for _, resource := range []string{"nodes", "pods", "namespaces", "events", "serviceaccounts"} {
			gvr := schema.GroupVersionResource{Version: "v1", Resource: resource}
			want, got := decoded(t, c.Player().Cluster(), gvr), decoded(t, p.Cluster(), gvr)
			if len(want) == 0 && (drained || resource != "events") {
				t.Errorf("no %s in the cluster", resource)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-cluster +tape):\n%s", resource, diff)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// decoded holds the objects of a resource.
func decoded(t testing.TB, c *replay.Cluster, gvr schema.GroupVersionResource) map[string]any {
	t.Helper()
	list, err := c.List(gvr, metav1.NamespaceAll, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]any{}
	for _, o := range list.Items {
		kept, err := timeline.FullRedaction().Redact(timeline.Resource{Group: gvr.Group, Resource: gvr.Resource}, o.Raw())
		if err != nil {
			t.Fatal(err)
		}
		var content any
		if err := json.Unmarshal(kept, &content); err != nil {
			t.Fatal(err)
		}
		objects[o.Namespace()+"/"+o.Name()] = content
	}
	return objects
}
