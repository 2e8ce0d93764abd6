package bugs

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/scenarios"
)

// https://github.com/kubernetes-sigs/metrics-server/issues/1876
//
// metrics-server had series for nodes that were gone: it made one for each kubelet that it asked, and never took one
// away. With every roll there are more, and an alert on the age of the last answer never ends.
//
// Mended (pull/1877 there) by taking away, after each list of nodes that succeeded, what isn't on it. In surge six
// nodes are replaced, and six more come and go.
func TestMetricsServer1876(t *testing.T) {
	shows(t, scrape, "series of nodes that are gone: 12", "series of nodes that are gone: 0")
}

func scrape(t *testing.T, mended bool) string {
	roll := fakeclient.ForTest(t, scenarios.Source("surge"))
	series, there := map[string]bool{}, map[string]bool{}
	for at := time.Duration(0); at < 2*time.Hour; at += time.Minute {
		roll.PlayTo(at)
		list, err := roll.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		clear(there)
		for _, n := range list.Items {
			there[n.Name], series[n.Name] = true, true
		}
		for name := range series {
			if mended && !there[name] {
				delete(series, name)
			}
		}
	}
	return fmt.Sprint("series of nodes that are gone: ", len(series)-len(there))
}
