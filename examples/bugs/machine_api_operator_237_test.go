package bugs

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// https://github.com/openshift/machine-api-operator/pull/237
//
// The nodelink controller, which annotates nodes with their machine, panicked on nodes of kubemark, which had no
// annotations. A kubelet registers its node with one (initialNode of kubernetes/pkg/kubelet/kubelet_node_status.go).
//
// Mended by making the map. Here a client creates a node that has nothing but a name, beside those of the simulated
// kubelets.
func TestMachineAPIOperator237(t *testing.T) {
	shows(t, linkNodes, "panic: assignment to entry in nil map", "3 nodes are linked")
}

func linkNodes(t *testing.T, mended bool) string {
	c := simtest.New(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 2}))
	c.Start()
	if err := c.Client.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "hollow-1"}}); err != nil {
		t.Fatal(err)
	}
	var p process
	linked := 0
	for _, n := range c.Nodes() {
		p.do(func() {
			if n.Annotations == nil && mended {
				n.Annotations = map[string]string{}
			}
			n.Annotations["machine"] = "openshift-machine-api/" + n.Name
			if err := c.Client.Update(t.Context(), &n); err != nil {
				t.Error(err)
			}
			linked++
		})
	}
	return p.ends(fmt.Sprintf("%d nodes are linked", linked))
}
