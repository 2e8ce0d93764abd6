package scheduler

import (
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// The score of ImageLocality: a node is better that has the images of a pod already
// (pkg/scheduler/framework/plugins/imagelocality/image_locality.go). Images that the status of no node lists don't count,
// as those that pods of scenarios have pulled.

// The sizes from which images of a pod count, and up to which those of a container do.
const (
	leastImages  = 23 << 20
	mostOfImages = 1000 << 20
)

// nodeImage is an image that nodes have: the size is what the first of them says (addNodeImageStates of
// pkg/scheduler/backend/cache/cache.go).
type nodeImage struct {
	bytes int64
	nodes int
}

// countImages counts a node that has images, or has them no longer.
func (s *Scheduler) countImages(list []kube.Image, by int) {
	for i := range list {
		for _, name := range list[i].Names {
			one := s.images[name]
			if one == nil {
				one = &nodeImage{bytes: list[i].Bytes}
				s.images[name] = one
			}
			if one.nodes += by; one.nodes <= 0 {
				delete(s.images, name)
			}
		}
	}
}

// imagesOf are the images of a template's containers, with the tag that counts where there is none.
func imagesOf(t *kube.Template) (names []string) {
	for _, list := range [...][]kube.ContainerSpec{t.Init(), t.Containers} {
		for i := range list {
			name := list[i].Image
			if strings.LastIndexByte(name, ':') <= strings.LastIndexByte(name, '/') {
				name += ":latest"
			}
			names = append(names, name)
		}
	}
	return names
}

// preferImages adds what speaks for each spot by its images.
func (s *Scheduler) preferImages(spots []feasibleNode, c *podClass) {
	if len(s.images) == 0 {
		return
	}
	known := false
	for _, name := range c.images {
		known = known || s.images[name] != nil
	}
	if !known {
		return
	}
	all := float64(len(s.nodes))
	for i := range spots {
		sum := int64(0)
		for _, name := range c.images {
			if one := s.images[name]; one != nil && hasImage(spots[i].node.node, name) {
				spread := float64(one.nodes) / all
				sum += int64(float64(one.bytes) * spread)
			}
		}
		most := int64(mostOfImages * len(c.images))
		sum = min(max(sum, leastImages), most)
		spots[i].score += weightImages * (100 * (sum - leastImages) / (most - leastImages))
	}
}

func hasImage(n *kube.Node, name string) bool {
	for i := range n.Images {
		for _, one := range n.Images[i].Names {
			if one == name {
				return true
			}
		}
	}
	return false
}
