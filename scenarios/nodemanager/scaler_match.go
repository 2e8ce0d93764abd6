package nodemanager

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// fits says whether a free node serves a pod: equal types, equal PrivateIPOnly, the market that the pod's policy wants,
// the pod's zone if it names one, and a volume of the right size where volumes are fixed.
func fits(node *api.Node, pod *api.Pod, config *ScalerConfig) bool {
	zone := pod.Spec.Placement.AvailabilityZone
	return node.Spec.InstanceType == pod.Spec.InstanceType &&
		node.Spec.Resources.PrivateIPOnly == pod.Spec.Resources.PrivateIPOnly &&
		marketFits(node.Spec.Spot, pod.Spec.Spot.Policy) &&
		(zone == "" || zone == node.Spec.Placement.AvailabilityZone) &&
		(!config.FixedSizeVolume || slices.Contains(
			volumes(pod, config), node.Spec.Resources.VolumeSize))
}

// marketFits says whether a policy is content with a node of the spot market, or with one that isn't.
func marketFits(spot bool, policy api.SpotPolicy) bool {
	return policy == api.SpotAlways && spot || policy == api.SpotNever && !spot
}

// volumes are the sizes that a pod accepts where volumes are fixed: its own, and the default if it doesn't say.
func volumes(pod *api.Pod, config *ScalerConfig) []string {
	size := pod.Spec.Resources.VolumeSize
	if size == "" && config.DefaultVolumeSize != "" {
		return []string{"", config.DefaultVolumeSize}
	}
	return []string{size}
}

// freeNodes finds the first free node by name that fits a pod, without looking at those that can't.
type freeNodes struct {
	fixedVolumes bool
	anywhere     map[shape][]*candidate
	inZone       map[zonedShape][]*candidate
}

// shape is what a node and its pod have to agree in. volume is empty unless volumes are fixed.
type shape struct {
	instanceType  string
	spot          bool
	privateIPOnly bool
	volume        string
}

type zonedShape struct {
	shape
	zone string
}

// newFreeNodes sorts candidates that aren't needed into lists by shape; they come by name and stay so.
func newFreeNodes(nodes []*candidate, fixedVolumes bool) *freeNodes {
	f := &freeNodes{
		fixedVolumes: fixedVolumes,
		anywhere:     map[shape][]*candidate{}, inZone: map[zonedShape][]*candidate{},
	}
	for _, c := range nodes {
		if c.needed {
			continue
		}
		spec := &c.node.Spec
		s := shape{instanceType: spec.InstanceType, spot: spec.Spot, privateIPOnly: spec.Resources.PrivateIPOnly}
		if fixedVolumes {
			s.volume = spec.Resources.VolumeSize
		}
		f.anywhere[s] = append(f.anywhere[s], c)
		z := zonedShape{s, spec.Placement.AvailabilityZone}
		f.inZone[z] = append(f.inZone[z], c)
	}
	return f
}

// take returns the first node that fits the pod, or nil. The caller binds it, which takes it out of all lists.
func (f *freeNodes) take(pod *api.Pod, config *ScalerConfig) *candidate {
	s := shape{instanceType: pod.Spec.InstanceType, privateIPOnly: pod.Spec.Resources.PrivateIPOnly}
	switch pod.Spec.Spot.Policy {
	case api.SpotAlways:
		s.spot = true
	case api.SpotNever:
	default:
		return nil
	}
	if !f.fixedVolumes {
		return f.first(s, pod.Spec.Placement.AvailabilityZone)
	}
	var best *candidate
	for _, s.volume = range volumes(pod, config) {
		c := f.first(s, pod.Spec.Placement.AvailabilityZone)
		if best == nil || c != nil && c.node.Name < best.node.Name {
			best = c
		}
	}
	return best
}

// first returns the first node of a list that is still free, and forgets those before it.
func (f *freeNodes) first(s shape, zone string) *candidate {
	if zone == "" {
		f.anywhere[s] = skipNeeded(f.anywhere[s])
		return head(f.anywhere[s])
	}
	z := zonedShape{s, zone}
	f.inZone[z] = skipNeeded(f.inZone[z])
	return head(f.inZone[z])
}

func skipNeeded(list []*candidate) []*candidate {
	for len(list) > 0 && list[0].needed {
		list = list[1:]
	}
	return list
}

func head(list []*candidate) *candidate {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}
