package bugs

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

// https://github.com/kubernetes/kubernetes/issues/32391
//
// kubectl cordon and uncordon failed, regularly, with "the object has been modified". They read the node, changed it,
// and wrote it as a whole, and the kubelet writes to the same object all the time.
//
// Mended by a patch of the one field. The fault 409 is the write that was faster.
func TestKubernetes32391(t *testing.T) {
	shows(t, cordonOnce, "refused: Conflict; cordoned: false", "cordoned: true")
}

func cordon(ctx context.Context, kube kubernetes.Interface, node string, mended bool) error {
	nodes := kube.CoreV1().Nodes()
	if mended {
		_, err := nodes.Patch(ctx, node, types.StrategicMergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
		return err
	}
	n, err := nodes.Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		return err
	}
	n.Spec.Unschedulable = true
	_, err = nodes.Update(ctx, n, metav1.UpdateOptions{})
	return err
}

func cordonOnce(t *testing.T, mended bool) string {
	c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")), fault.Inject("409:nodes,verb=update,count=1"))
	c.Start()
	name, said := c.Nodes()[0].Name, ""
	if err := cordon(t.Context(), c.Kube, name, mended); err != nil {
		said = fmt.Sprintf("refused: %s; ", apierrors.ReasonForError(err))
	}
	return fmt.Sprintf("%scordoned: %t", said, nodeNamed(t, c, name).Spec.Unschedulable)
}
