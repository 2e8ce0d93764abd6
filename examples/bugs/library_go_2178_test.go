package bugs

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios"
)

// https://github.com/openshift/library-go/pull/2178
//
// A control plane node that was replaced by one of the same name never got its static pods. The operator keeps by the
// name of a node which revision is installed there, and never saw the cluster without that name.
//
// Mended by the UID beside the name. The fault recreate has a node come back under another UID.
func TestLibraryGo2178(t *testing.T) {
	shows(t, installRevisions, "installed on 2 of 3 nodes", "installed on 3 of 3 nodes")
}

// installer keeps the state of nodes by name, and installs what is missing.
type installer struct {
	states    map[string]types.UID // nodes that have it, with the UID that they had
	installed map[types.UID]bool   // what is true
	mended    bool
}

func (i *installer) sync(nodes []corev1.Node) {
	for _, n := range nodes {
		if uid, known := i.states[n.Name]; known && (!i.mended || uid == n.UID) {
			continue
		}
		i.states[n.Name] = n.UID
		i.installed[n.UID] = true
	}
}

func installRevisions(t *testing.T, mended bool) string {
	roll := fakeclient.ForTest(t, scenarios.Source("node-flap"), fault.Inject("recreate:nodes,at=T+10s"))
	i := &installer{map[string]types.UID{}, map[types.UID]bool{}, mended}
	list := func() []corev1.Node {
		l, err := roll.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return l.Items
	}
	i.sync(list())
	roll.Play()
	i.sync(list())
	has := 0
	for _, n := range list() {
		if i.installed[n.UID] {
			has++
		}
	}
	return fmt.Sprintf("installed on %d of %d nodes", has, len(list()))
}
