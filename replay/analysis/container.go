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
			p.containers = append(p.containers, container{name: t.name, image: t.image, resources: string(t.resources)})
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

func (p *pod) container(name string) *container {
	for i := range p.containers {
		if p.containers[i].name == name {
			return &p.containers[i]
		}
	}
	return nil
}
