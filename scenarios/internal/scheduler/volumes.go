package scheduler

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// ClaimName names a PersistentVolumeClaim.
type ClaimName struct{ Namespace, Name string }

// reasonVolumes is that of the filter NodeVolumeLimits
// (pkg/scheduler/framework/plugins/nodevolumelimits/utils.go).
const reasonVolumes = "node(s) exceed max volume count"

// limitOfVolumes begins the name under which a node may list among its resources how many volumes of a driver it takes
// (ResourceAttachableVolumesPrefix of k8s.io/api/core/v1), as kubelets did before CSINodes said it.
const limitOfVolumes = "attachable-volumes-"

// EachClaim calls a function with each claim of a pod, once.
func EachClaim(p *kube.Pod, f func(ClaimName)) {
	if p.Claim == "" {
		return
	}
	f(ClaimName{p.Namespace, p.Claim})
	for i, name := range p.OtherClaims {
		if name != p.Claim && !slices.Contains(p.OtherClaims[:i], name) {
			f(ClaimName{p.Namespace, name})
		}
	}
}

// Volume tells of a claim whose volume is there, and can be reached from the nodes of a zone; "" is from all.
func (s *Scheduler) Volume(claim ClaimName, zone string) {
	s.claims[claim] = s.zoneNumber(zone)
}

// VolumeLimit tells how many volumes a node takes, as its CSINode says; a negative number is no limit.
func (s *Scheduler) VolumeLimit(node string, most int) {
	if s.volumeLimits == nil {
		s.volumeLimits = map[string]int{}
	}
	if s.volumeLimits[node] = most; most < 0 {
		delete(s.volumeLimits, node)
	}
	if n := s.nodes[node]; n != nil {
		s.limitVolumes(n)
		s.version++
		s.opened(n)
	}
}

// limitVolumes notes how many volumes a node takes.
func (s *Scheduler) limitVolumes(n *schedNode) {
	n.mostVolumes = math.MaxInt
	if most, told := s.volumeLimits[n.node.Name]; told {
		n.mostVolumes = most
	} else {
		for _, of := range n.node.Allocatable {
			if strings.HasPrefix(of.Key, limitOfVolumes) {
				if most, err := strconv.Atoi(of.Value); err == nil {
					n.mostVolumes = min(n.mostVolumes, most)
				}
			}
		}
	}
	s.volumesLimited = s.volumesLimited || n.mostVolumes < math.MaxInt
}

// mounts has a pod use its volumes on a node, or no longer. Several pods may use one.
func (n *schedNode) mounts(p *kube.Pod, by int) {
	EachClaim(p, func(k ClaimName) {
		if n.volumes == nil {
			n.volumes = map[ClaimName]int{}
		}
		if n.volumes[k] += by; n.volumes[k] == 0 {
			delete(n.volumes, k)
		}
	})
}

// exceeds reports whether a node would have more volumes than it takes: those of the simulation are all of one driver.
func (n *schedNode) exceeds(p *kube.Pod) bool {
	if n.mostVolumes == math.MaxInt {
		return false
	}
	fresh := 0
	EachClaim(p, func(k ClaimName) {
		if n.volumes[k] == 0 {
			fresh++
		}
	})
	return fresh > 0 && len(n.volumes)+fresh > n.mostVolumes
}

// binds notes in which zone the volumes of a pod's claims are from now on.
func (s *Scheduler) binds(p *kube.Pod, n *schedNode) {
	if n.group.zone == 0 {
		return
	}
	EachClaim(p, func(k ClaimName) {
		if _, known := s.claims[k]; !known {
			s.claims[k] = n.group.zone
		}
	})
}

// elsewhere reports whether a volume of a pod lies in another zone.
func (s *Scheduler) elsewhere(p *kube.Pod, g *NodeGroup) (is bool) {
	EachClaim(p, func(k ClaimName) {
		zone := s.claims[k]
		is = is || zone != 0 && zone != g.zone
	})
	return is
}
