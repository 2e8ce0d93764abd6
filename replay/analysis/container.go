package analysis

// container is one of a pod's containers. A change of its image, or of resources that it isn't resized to while it runs,
// makes the kubelet replace it, which counts as a restart in its status: the first one after the change is the update's, further
// ones are its own (computePodActions in pkg/kubelet/kuberuntime/kuberuntime_manager.go of Kubernetes, containerChanged
// and computePodResizeAction).
type container struct {
	name, image, resources string
	asked                  bool // another one than runs
	restarts               int
}

// asks takes over what a pod's containers are to be.
func (p *pod) asks(all []containerText) {
	for i := range all {
		t := &all[i]
		c := p.container(t.name)
		if c == nil {
			p.addContainer(container{name: t.name, image: t.image, resources: string(t.resources)})
			continue
		}
		if c.image != t.image || t.resources != nil && c.resources != "" && c.resources != string(t.resources) {
			c.asked = true
		}
		if c.image = t.image; c.resources != string(t.resources) {
			c.resources = string(t.resources)
		}
	}
}

// replaced counts the containers that were replaced because another one was asked for.
func (p *pod) replaced(all []containerText) (count int) {
	for i := range all {
		t := &all[i]
		c := p.container(t.name)
		if c == nil {
			continue
		}
		if t.restarts > c.restarts && c.asked {
			c.asked = false
			count++
		}
		c.restarts = t.restarts
	}
	return count
}

// few is the number of containers up to which they are looked through, and not found by name.
const few = 8

func (p *pod) container(name string) *container {
	if len(p.containers) > few {
		if i, known := p.named[name]; known {
			return &p.containers[i]
		}
		return nil
	}
	for i := range p.containers {
		if p.containers[i].name == name {
			return &p.containers[i]
		}
	}
	return nil
}

func (p *pod) addContainer(c container) {
	p.containers = append(p.containers, c)
	if len(p.containers) <= few {
		return
	}
	if p.named == nil {
		p.named = map[string]int{}
		for i := range p.containers {
			p.named[p.containers[i].name] = i
		}
	}
	p.named[c.name] = len(p.containers) - 1
}
