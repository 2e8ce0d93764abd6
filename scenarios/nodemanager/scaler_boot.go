package nodemanager

import (
	"math/rand/v2"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// placeOf is what the availability of a pod's node depends on.
func placeOf(pod *api.Pod) place {
	return place{
		pod.Spec.InstanceType, pod.Spec.Spot.Policy == api.SpotAlways, pod.Spec.Resources.PrivateIPOnly,
		pod.Spec.Placement.AvailabilityZone,
	}
}

// nodeFor makes a node for a pod.
func (p *plan) nodeFor(pod *api.Pod) *api.Node {
	resources := pod.Spec.Resources
	if !p.config.FixedSizeVolume || resources.VolumeSize == "" {
		resources.VolumeSize = p.config.DefaultVolumeSize
	}
	node := p.newNode()
	node.Spec = api.NodeSpec{
		InstanceType: pod.Spec.InstanceType, BootImage: p.config.BootImage, Spot: pod.Spec.Spot.Policy == api.SpotAlways,
		Resources: resources, Placement: pod.Spec.Placement,
	}
	node.Status.BoundPodName = pod.Name
	return node
}

// standbyNode makes a node for a standby pool.
func (p *plan) standbyNode(spec *StandbyNodeSpec) *api.Node {
	node := p.newNode()
	node.Spec = api.NodeSpec{
		InstanceType: spec.InstanceType, BootImage: p.config.BootImage, Spot: spec.Spot,
		Resources: api.ResourceSpec{VolumeSize: p.config.DefaultVolumeSize},
	}
	return node
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

// next returns "node-" and twelve letters and digits, without those that are easily mistaken: 60 random bits.
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
