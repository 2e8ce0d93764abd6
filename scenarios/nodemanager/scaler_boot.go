package nodemanager

import (
	"math/rand/v2"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// nodeFor makes a node for a pod, or nil where the cloud is known to have none.
func (p *plan) nodeFor(pod *api.Pod) *api.Node {
	spot := pod.Spec.Spot.Policy == api.SpotAlways
	resources := pod.Spec.Resources
	zone := pod.Spec.Placement.AvailabilityZone
	if p.unavailable(place{pod.Spec.InstanceType, spot, resources.PrivateIPOnly, zone}) {
		return nil
	}
	if !p.config.FixedSizeVolume || resources.VolumeSize == "" {
		resources.VolumeSize = p.config.DefaultVolumeSize
	}
	node := p.newNode()
	node.Spec = api.NodeSpec{
		InstanceType: pod.Spec.InstanceType, BootImage: p.config.BootImage, Spot: spot, Resources: resources,
		Placement: pod.Spec.Placement,
	}
	node.Status.BoundPodName = pod.Name
	return node
}

// fillPools keeps free nodes for the standby pools and starts what is missing.
func (p *plan) fillPools() {
	type pool struct {
		instanceType string
		spot         bool
	}
	free := map[pool][]*candidate{}
	for _, c := range p.nodes {
		if spec := &c.node.Spec; !c.needed && spec.Resources.VolumeSize == p.config.DefaultVolumeSize {
			k := pool{spec.InstanceType, spec.Spot}
			free[k] = append(free[k], c)
		}
	}
	for _, spec := range p.config.Standby {
		k := pool{spec.InstanceType, spec.Spot}
		keep := min(spec.Count, len(free[k]))
		for _, c := range free[k][:keep] {
			c.needed = true
		}
		free[k] = free[k][keep:]
		missing := spec.Count - keep
		if missing == 0 || p.unavailable(place{instanceType: spec.InstanceType, spot: spec.Spot}) ||
			p.boots.pausing(bootKind{spec.InstanceType, spec.Spot}, p.now) {
			continue
		}
		for range missing {
			node := p.newNode()
			node.Spec = api.NodeSpec{
				InstanceType: spec.InstanceType, BootImage: p.config.BootImage, Spot: spec.Spot,
				Resources: api.ResourceSpec{VolumeSize: p.config.DefaultVolumeSize},
			}
			p.changes.Start = append(p.changes.Start, node)
		}
	}
}

// unavailable asks once for each place.
func (p *plan) unavailable(at place) bool {
	if p.config.Unavailable == nil {
		return false
	}
	answer, asked := p.refused[at]
	if !asked {
		answer = p.config.Unavailable(at.instanceType, at.spot, at.privateIPOnly, at.zone, p.now)
		p.refused[at] = answer
	}
	return answer
}

func (p *plan) newNode() *api.Node {
	node := api.NewNode(p.names.next())
	node.CreationTimestamp = p.now
	return node
}

// namer makes names for new nodes that no node of the plan has.
type namer struct {
	chance *rand.PCG
	taken  map[string]struct{}
}

func newNamer(seed, sequence uint64) *namer {
	return &namer{chance: rand.NewPCG(seed, sequence), taken: map[string]struct{}{}}
}

// take reserves a name, and says whether it was free.
func (n *namer) take(name string) bool {
	_, taken := n.taken[name]
	n.taken[name] = struct{}{}
	return !taken
}

// next returns "node-" and twelve letters and digits, without those that are easily mistaken: 60 bits of chance.
func (n *namer) next() string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	for {
		name := [17]byte{'n', 'o', 'd', 'e', '-'}
		bits := n.chance.Uint64()
		for i := 5; i < len(name); i++ {
			name[i] = alphabet[bits%32]
			bits /= 32
		}
		if n.take(string(name[:])) {
			return string(name[:])
		}
	}
}
