package spec

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A Container is one that the pods of a workload have besides their first: a proxy, an agent, a log shipper. Kubelets
// start the containers in the order of the file.
type Container struct {
	// Name of the container, a DNS-1123 label; no other one of the pods has the same, and the first one has the
	// workload's.
	Name string `yaml:"name" need:"true" form:"label"`
	// Image of the container. Default: registry.example/NAME:1.0.0.
	Image string `yaml:"image" form:"image"`
	// ImageSize is the size of the image's pull on a node without it, in bytes.
	ImageSize resource.Quantity `yaml:"imageSize" default:"60Mi" max:"100Gi"`
	// Requests of the container; a pod requests the sum of its containers'.
	Requests Requests `yaml:"requests"`
	// Stop is the time from SIGTERM to the container's exit; never: it exits by SIGKILL when the grace period is over.
	Stop Dist `yaml:"stop" default:"{median: 2s, p95: 12s}" form:"stop"`
	// Ready is the time from the container's start until it is ready.
	Ready Dist `yaml:"ready" default:"{median: 3s, p95: 8s}"`
}

// MaxContainers bounds the containers of a pod.
const MaxContainers = 16

// containers refuses two containers of a name in a pod, and more than a simulation is made for.
func (c *checker) containers(w *Workload, path string) *Error {
	if n := len(w.Containers) + 1; n > MaxContainers {
		return c.bad(path+".containers", fmt.Sprintf("%d containers with the first", n), fmt.Sprintf("at most %d", MaxContainers))
	}
	seen := map[string]bool{w.Name: true}
	for i := range w.Containers {
		name := w.Containers[i].Name
		if seen[name] {
			return c.bad(fmt.Sprintf("%s.containers[%d].name", path, i), fmt.Sprintf("%q for the second time", name), "another name; the first container has the workload's")
		}
		seen[name] = true
	}
	return nil
}

// containerNamed refuses the name of a container that a workload's pods don't have. An empty one is the first.
func (c *checker) containerNamed(path string, w *Workload, name string) *Error {
	known := []string{w.Name}
	for i := range w.Containers {
		known = append(known, w.Containers[i].Name)
	}
	if w.PodSpec != nil {
		known = nil
		for i := range w.PodSpec.Containers {
			known = append(known, w.PodSpec.Containers[i].Name)
		}
	}
	for _, one := range known {
		if name == "" || name == one {
			return nil
		}
	}
	return c.unknown(path, "container", name, known)
}
