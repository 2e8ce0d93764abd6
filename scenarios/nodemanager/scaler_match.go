package nodemanager

import (
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// volumes are the sizes that a pod accepts where volumes are fixed: its own, and the default if it doesn't say.
func volumes(pod *api.Pod, config *ScalerConfig) []string {
	size := pod.Spec.Resources.VolumeSize
	if size == "" && config.DefaultVolumeSize != "" {
		return []string{"", config.DefaultVolumeSize}
	}
	return []string{size}
}

// shape is what a node and its pod have to agree in. volume is empty unless volumes are fixed.
type shape struct {
	instanceType  string
	spot          bool
	privateIPOnly bool
	volume        string
}

// kindOf is what a node has to agree in with a pod, and poolOf what it has to with a standby pool.
func (c *ScalerConfig) kindOf(spec *api.NodeSpec) shape {
	s := shape{instanceType: spec.InstanceType, spot: spec.Spot, privateIPOnly: spec.Resources.PrivateIPOnly}
	if c.FixedSizeVolume {
		s.volume = spec.Resources.VolumeSize
	}
	return s
}

func poolOf(spec *api.NodeSpec) shape {
	return shape{instanceType: spec.InstanceType, spot: spec.Spot, volume: spec.Resources.VolumeSize}
}

// kindsFor are the kinds of nodes that serve a pod; none for a policy that no node suits.
func (c *ScalerConfig) kindsFor(pod *api.Pod) []shape {
	s := shape{instanceType: pod.Spec.InstanceType, privateIPOnly: pod.Spec.Resources.PrivateIPOnly}
	switch pod.Spec.Spot.Policy {
	case api.SpotAlways:
		s.spot = true
	case api.SpotNever:
	default:
		return nil
	}
	if !c.FixedSizeVolume {
		return []shape{s}
	}
	var kinds []shape
	for _, s.volume = range volumes(pod, c) {
		kinds = append(kinds, s)
	}
	return kinds
}
