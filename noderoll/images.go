package noderoll

import "container/heap"

// imageCount counts the nodes of each image, and knows which image has most of
// them at any time: a change costs the logarithm of the number of images.
// Of two with as many, it is the one that sorts first. Nodes without an image
// don't count.
type imageCount struct {
	at   map[string]*countedImage
	heap imageHeap
}

type countedImage struct {
	name  string
	nodes int
	place int // in the heap
}

// add counts nodes of an image in, or out where by is negative.
func (c *imageCount) add(image string, by int) {
	if image == "" {
		return
	}
	i := c.at[image]
	if i == nil {
		if c.at == nil {
			c.at = make(map[string]*countedImage)
		}
		i = &countedImage{name: image}
		c.at[image] = i
		heap.Push(&c.heap, i)
	}
	if i.nodes += by; i.nodes == 0 {
		heap.Remove(&c.heap, i.place)
		delete(c.at, image)
		return
	}
	heap.Fix(&c.heap, i.place)
}

// most is the image of most nodes, "" where there is none.
func (c *imageCount) most() string {
	if len(c.heap) == 0 {
		return ""
	}
	return c.heap[0].name
}

type imageHeap []*countedImage

func (h imageHeap) Len() int { return len(h) }

func (h imageHeap) Less(i, j int) bool {
	return h[i].nodes > h[j].nodes || h[i].nodes == h[j].nodes && h[i].name < h[j].name
}

func (h imageHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push is for container/heap.
func (h *imageHeap) Push(x any) {
	i := x.(*countedImage)
	i.place = len(*h)
	*h = append(*h, i)
}

// Pop is for container/heap.
func (h *imageHeap) Pop() any {
	last := len(*h) - 1
	i := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return i
}

// countImage counts a view of a node in (1) or out (-1), over all pools.
func (s *State) countImage(v *NodeView, by int) {
	s.count.add(v, by)
	if v.OnTarget {
		s.young.add(v.Image, by)
	} else {
		s.old.add(v.Image, by)
	}
}

// Images are the image of most nodes off target, and of most on it; "" where
// there is none.
func (s *State) Images() (old, young string) { return s.old.most(), s.young.most() }
