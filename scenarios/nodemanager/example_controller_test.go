package nodemanager_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
	"github.com/nodesim/nodesim/scenarios/nodemanager/nodeclient"
	"github.com/nodesim/nodesim/scenarios/nodemanager/registry"
)

// promptCloud starts every instance at once, and its agents are always well.
type promptCloud struct{}

func (promptCloud) StartNode(context.Context, *api.Node, string) (*cloud.StartNodeResult, error) {
	return &cloud.StartNodeResult{InstanceID: "i-1", AvailabilityZone: "eu-1a"}, nil
}

func (c promptCloud) StartSpotNode(ctx context.Context, n *api.Node, m string) (*cloud.StartNodeResult, error) {
	return c.StartNode(ctx, n, m)
}
func (promptCloud) StopInstance(context.Context, string) error { return nil }
func (promptCloud) WaitForRunning(context.Context, *api.Node) ([]api.NetworkAddress, error) {
	return []api.NetworkAddress{{Type: api.PrivateIP, Address: "10.0.0.1"}}, nil
}
func (promptCloud) GetImageID(context.Context, cloud.BootImageSpec) (string, error) { return "", nil }
func (c promptCloud) GetClient([]api.NetworkAddress) nodeclient.ItzoClient          { return c }
func (promptCloud) DeleteClient([]api.NetworkAddress)                               {}
func (promptCloud) Healthcheck(context.Context) error                               { return nil }
func (promptCloud) GetFile(context.Context, string, int) ([]byte, error)            { return nil, nil }

// A pod waits, gets a node of its own, and leaves it.
func ExampleNodeController() {
	system := events.NewEventSystem(clock.RealClock{})
	purged := make(chan struct{})
	system.RegisterHandler("", func(e events.Event) {
		fmt.Println(e.Type, e.Node.Spec.Placement.AvailabilityZone)
		if e.Type == events.NodePurged {
			close(purged)
		}
	})
	pods := &registry.PodRegistry{}
	nodes := registry.NewNodeRegistry(clock.RealClock{}, system)
	controller := &nodemanager.NodeController{
		Config: nodemanager.NodeControllerConfig{
			PoolInterval: 300 * time.Millisecond, HeartbeatInterval: 2 * time.Millisecond, ReaperInterval: time.Millisecond,
		},
		NodeRegistry: nodes, PodReader: pods, NodeDispenser: nodemanager.NewNodeDispenser(), Events: system,
		NodeScaler:  nodemanager.NewBindingNodeScaler(nodes, nil, nil, "", false),
		CloudClient: promptCloud{}, NodeClientFactory: promptCloud{},
	}

	pod := api.Pod{ObjectMeta: api.ObjectMeta{Name: "web"}}
	pod.Spec.InstanceType, pod.Spec.Spot.Policy = "m5.large", api.SpotNever
	pod.Status.Phase = api.PodWaiting
	pods.Put(&pod)

	quit := make(chan struct{})
	var wg sync.WaitGroup
	controller.Start(quit, &wg)
	reply := controller.NodeDispenser.RequestNode(pod) // waits for the first plan
	for reply.Node == nil {                            // the node boots
		reply = controller.NodeDispenser.RequestNode(pod)
	}
	fmt.Println(reply.Node.Status.Phase, "for", reply.Node.Status.BoundPodName)
	pods.Delete("web")
	controller.NodeDispenser.ReturnNode(reply.Node.Name, false)
	<-purged
	close(quit)
	wg.Wait()
	// Output:
	// node-created eu-1a
	// node-running eu-1a
	// Claimed for web
	// node-cleaning eu-1a
	// node-purged eu-1a
}
