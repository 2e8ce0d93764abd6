package roll

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// podMember is a pod of a workload that is rolled.
type podMember struct {
	pod *kube.Pod
	at  place
	// touched says that the roll has written it, done that its change is complete.
	touched, done bool
	ran           []string // the containers that ran when it was done, or a restart was told
}

// position is the pod's place in the set.
func (m *podMember) position(r *PodRoller) place {
	p := m.pod
	switch {
	case p.Gone() || p.Terminating() || p.Terminal():
		return away
	case !p.Ready() || m.touched && !m.done:
		return open
	case !r.outdated(p.Template):
		return settled
	case m.touched: // it has gone back
		return open
	}
	return waiting
}

// outdated reports whether a template isn't as it shall be.
func (r *PodRoller) outdated(t *kube.Template) bool {
	for _, c := range t.Containers {
		was := c
		if r.put(&c); c != was {
			return true
		}
	}
	return false
}

// marked notes the containers that run in the pod: its change is complete.
func (m *podMember) marked() {
	m.done = true
	m.ran = m.ran[:0]
	for c := range m.pod.Containers {
		m.ran = append(m.ran, m.pod.Containers[c].ContainerID)
	}
}

// restarted reports whether another container runs in the pod than when it was
// marked.
func (m *podMember) restarted() bool {
	for c := range m.pod.Containers {
		if id := m.pod.Containers[c].ContainerID; m.done && c < len(m.ran) && id != "" && id != m.ran[c] {
			return true
		}
	}
	return false
}

// object is the pod as a client reads it.
func (m *podMember) object(pod *corev1.Pod) error {
	if err := json.Unmarshal(m.pod.JSON(), pod); err != nil {
		return fmt.Errorf("pod %s/%s: read its state: %w", m.pod.Namespace, m.pod.Name, err)
	}
	pod.Namespace, pod.Name, pod.UID = m.pod.Namespace, m.pod.Name, types.UID(m.pod.UID)
	return nil
}

// variant is a template with something put in.
type variant struct {
	of   *kube.Template
	what string
}

// write writes what a change has made of a pod: labels, annotations, and the
// images and resources of its containers.
func (r *PodRoller) write(m *podMember, next *corev1.Pod) {
	template := m.pod.Template
	if what := specOf(next); what != specOfTemplate(template) {
		key := variant{template.Origin(), what}
		if r.variants[key] == nil {
			r.variants[key] = template.Variant(func(c *kube.ContainerSpec) { takeSpec(c, next) })
		}
		template = r.variants[key]
	}
	m.touched = true
	labels, annotations := pairsOf(m.pod.Labels, next.Labels), pairsOf(m.pod.Annotations, next.Annotations)
	r.env.API.UpdatePod(m.pod, func(p *kube.Pod) {
		p.Labels, p.Annotations = labels, annotations
		if p.Template != template {
			p.Template = template
			if p.Generation > 0 {
				p.Generation++
			}
		}
	})
}

// pairsOf are the pairs of a map: the old ones where nothing differs.
func pairsOf(old kube.Pairs, now map[string]string) kube.Pairs {
	same := len(old) == len(now)
	for _, p := range old {
		value, ok := now[p.Key]
		same = same && ok && value == p.Value
	}
	if same {
		return old
	}
	all := make([]kube.Pair, 0, len(now))
	for k, v := range now {
		all = append(all, kube.Pair{Key: k, Value: v})
	}
	return kube.PairsOf(all...)
}

// takeSpec takes over what may change of a container.
func takeSpec(c *kube.ContainerSpec, pod *corev1.Pod) {
	for i := range pod.Spec.Containers {
		is := &pod.Spec.Containers[i]
		if is.Name != c.Name {
			continue
		}
		c.Image = is.Image
		c.CPU, c.Memory = is.Resources.Requests.Cpu().MilliValue(), is.Resources.Requests.Memory().Value()
		c.CPULimit, c.MemoryLimit = is.Resources.Limits.Cpu().MilliValue(), is.Resources.Limits.Memory().Value()
	}
}

// specOf returns the mutable part of a pod's spec, as a text; specOfTemplate that of a template.
func specOf(pod *corev1.Pod) string {
	specs := make([]kube.ContainerSpec, len(pod.Spec.Containers))
	for i := range specs {
		specs[i].Name = pod.Spec.Containers[i].Name
		takeSpec(&specs[i], pod)
	}
	return specOfTemplate(&kube.Template{Containers: specs})
}

func specOfTemplate(t *kube.Template) string {
	var b []byte
	for i := range t.Containers {
		c := &t.Containers[i]
		b = fmt.Appendf(b, "%s %s %v\n", c.Name, c.Image, c.Resources())
	}
	return string(b)
}
