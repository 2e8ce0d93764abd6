package bugs

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// https://github.com/coreos/container-linux-update-operator/issues/138
//
// A node that an administrator had cordoned took pods again as soon as the pod of the update agent on it started anew.
// The agent cordons its node before it reboots it, and uncordoned it at every start.
//
// Mended (pull/176 there) by an annotation that says whose cordon it is. The simulated machine reboots; the second
// start of the agent has no reboot before it.
func TestContainerLinuxUpdateOperator138(t *testing.T) {
	shows(t, restartAgent,
		"after its own reboot: schedulable, after the administrator's cordon: schedulable",
		"after its own reboot: schedulable, after the administrator's cordon: cordoned")
}

// updateAgent runs on a node.
type updateAgent struct {
	kube   kubernetes.Interface
	node   string
	mended bool
}

const ours = "agent-made-unschedulable"

// prepare is what it does before it reboots the machine.
func (a *updateAgent) prepare(ctx context.Context) error {
	return a.patch(ctx, fmt.Sprintf(`{"metadata":{"annotations":{%q:"true"}},"spec":{"unschedulable":true}}`, ours))
}

// start is what it does when its pod starts.
func (a *updateAgent) start(ctx context.Context) error {
	n, err := a.kube.CoreV1().Nodes().Get(ctx, a.node, metav1.GetOptions{})
	if err != nil || a.mended && n.Annotations[ours] == "" {
		return err
	}
	return a.patch(ctx, fmt.Sprintf(`{"metadata":{"annotations":{%q:null}},"spec":{"unschedulable":null}}`, ours))
}

func (a *updateAgent) patch(ctx context.Context, patch string) error {
	_, err := a.kube.CoreV1().Nodes().Patch(ctx, a.node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func restartAgent(t *testing.T, mended bool) string {
	c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")))
	c.Start()
	a := &updateAgent{c.Kube, c.Nodes()[0].Name, mended}
	state := func(err error) string {
		if err != nil {
			t.Fatal(err)
		}
		if nodeNamed(t, c, a.node).Spec.Unschedulable {
			return "cordoned"
		}
		return "schedulable"
	}
	if got := state(a.prepare(t.Context())); got != "cordoned" {
		t.Fatalf("before its reboot the node is %s", got)
	}
	if err := c.Do(spec.Fault{Reboot: &spec.Victims{Node: a.node}}); err != nil {
		t.Fatal(err)
	}
	for _, ready := range []bool{false, true} {
		c.Eventually(10*time.Minute, "the node to reboot", func() bool { return isReady(nodeNamed(t, c, a.node)) == ready })
	}
	own := state(a.start(t.Context()))
	if err := cordon(t.Context(), c.Kube, a.node, true); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("after its own reboot: %s, after the administrator's cordon: %s", own, state(a.start(t.Context())))
}
