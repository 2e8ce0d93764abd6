package standby

import (
	"context"
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	plancloud "github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/nodeclient"
)

// provider is the simulated provider as nodemanager asks for it. It implements cloud.CloudClient, and
// nodeclient.ItzoClientFactoryer: what agents say of their nodes is what their kubelets say.
type provider struct{ *Manager }

// StartNode launches an instance of the group that the node's type names.
func (p provider) StartNode(ctx context.Context, n *api.Node, _ string) (*plancloud.StartNodeResult, error) {
	g := p.env.Cloud.Group(n.Spec.InstanceType)
	if g == nil {
		return nil, fmt.Errorf("group %q: there is none", n.Spec.InstanceType)
	}
	if !p.sleep(ctx, p.env.Draw(&p.chance, p.cfg.Kubelets.Timings(g).CapacityRequest)) {
		return nil, ctx.Err()
	}
	if len(g.Instances()) >= g.Max { // others of the same plan have filled it
		return nil, fmt.Errorf("group %s has its largest size, %d", g.Name, g.Max)
	}
	zone := n.Spec.Placement.AvailabilityZone
	i, err := p.env.Cloud.Launch(g, zone, g.Template)
	if err != nil {
		return nil, &plancloud.NoCapacityError{AZ: zone, OriginalError: err.Error()}
	}
	return &plancloud.StartNodeResult{InstanceID: i.ID, AvailabilityZone: i.Zone}, nil
}

// StartSpotNode is StartNode: the group says on which market its instances are bought.
func (p provider) StartSpotNode(ctx context.Context, n *api.Node, metadata string) (*plancloud.StartNodeResult, error) {
	return p.StartNode(ctx, n, metadata)
}

// StopInstance terminates an instance.
func (p provider) StopInstance(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if i := p.env.Cloud.Instance(id); i != nil {
		p.env.Cloud.Terminate(i, true)
	}
	return nil
}

// WaitForRunning waits for an instance's machine.
func (p provider) WaitForRunning(ctx context.Context, n *api.Node) ([]api.NetworkAddress, error) {
	i := p.env.Cloud.Instance(n.Status.InstanceID)
	if i == nil {
		return nil, fmt.Errorf("instance %s: there is none", n.Status.InstanceID)
	}
	p.turns.Wait(func() bool { return i.State != cloud.Pending || ctx.Err() != nil })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case i.State != cloud.Running:
		return nil, fmt.Errorf("instance %s is %s", i.ID, i.State)
	}
	return address(i), nil
}

// GetImageID isn't asked: the template of a group has the image.
func (p provider) GetImageID(context.Context, plancloud.BootImageSpec) (string, error) {
	return "", errors.ErrUnsupported
}

// address is that of an instance, by which its agent is found: the name of its node.
func address(i *cloud.Instance) []api.NetworkAddress {
	return []api.NetworkAddress{{Type: api.PrivateIP, Address: i.Name}}
}

// GetClient returns the agent of a node.
func (p provider) GetClient(addresses []api.NetworkAddress) nodeclient.ItzoClient {
	return agent{p.Manager, addresses[0].Address}
}

// DeleteClient has nothing to drop.
func (p provider) DeleteClient([]api.NetworkAddress) {}

type agent struct {
	*Manager
	node string
}

// Healthcheck reports whether the node could take a pod.
func (a agent) Healthcheck(ctx context.Context) error {
	n := a.env.API.Node(a.node)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case n == nil:
		return fmt.Errorf("node %s: it isn't registered", a.node)
	case !n.Ready():
		return fmt.Errorf("node %s: it isn't Ready", a.node)
	}
	for i := range n.Taints {
		if key := n.Taints[i].Key; kubelet.IsStartupTaint(key) || key == component.TaintUnreachable {
			return fmt.Errorf("node %s: it has the taint %s", a.node, key)
		}
	}
	return nil
}

// GetFile isn't asked: no logs are kept.
func (a agent) GetFile(context.Context, string, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}
