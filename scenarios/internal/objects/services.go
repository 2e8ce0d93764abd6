package objects

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// services are the controllers that say where the pods of a Service are: in its Endpoints (pkg/controller/endpoint) and
// in its EndpointSlices (pkg/controller/endpointslice, k8s.io/endpointslice). Both answer at once here.
type services struct {
	*Objects
	stream      model.Stream
	byName      map[[2]string]*service
	inNamespace map[string][]*service
	writing     bool // a slice
}

// service is a Service with what the controllers have written of it.
type service struct {
	*corev1.Service
	selector kube.Pairs // nil where somebody else says where its pods are
	gone     bool
	wait     *loop.Timer
	slices   []*slice

	// What the controllers answer to, as the annotation endpoints.kubernetes.io/last-change-trigger-time says.
	known bool
	ready map[string]time.Time // since when the pods are ready or not, by name
}

func newServices(s *Objects) *services {
	c := &services{Objects: s, stream: s.Env.Stream("endpoints-controller"), byName: map[[2]string]*service{}, inNamespace: map[string][]*service{}}
	s.Env.API.WatchPods(c.podChanged)
	return c
}

func (c *services) seen(change kube.Change, x *Object) {
	switch x.resource {
	case "services":
		c.sawService(change, x)
	case "endpoints", "endpointslices.discovery.k8s.io":
		if change == kube.Deleted {
			c.lost(x)
		} else if x.Resource.Group != "" && !c.writing {
			c.sawSlice(x)
		}
	}
}

func (c *services) sawService(change kube.Change, x *Object) {
	id := [2]string{x.Namespace, x.Name}
	s := c.byName[id]
	if change == kube.Deleted {
		if s != nil {
			s.gone = true
			delete(c.byName, id)
			c.inNamespace[x.Namespace] = slices.DeleteFunc(slices.Clone(c.inNamespace[x.Namespace]), func(o *service) bool { return o == s })
			c.soon(s)
		}
		return
	}
	api := &corev1.Service{}
	if json.Unmarshal(x.text, api) != nil {
		return // what the API server takes can be read
	}
	if s == nil {
		s = &service{ready: map[string]time.Time{}}
		c.byName[id] = s
		c.inNamespace[x.Namespace] = append(c.inNamespace[x.Namespace], s)
	}
	s.Service, s.selector = api, nil
	s.Namespace, s.Name = x.Namespace, x.Name
	for k, v := range api.Spec.Selector {
		s.selector = s.selector.With(k, v)
	}
	if api.Spec.Type == corev1.ServiceTypeExternalName {
		s.selector = nil
	}
	if len(s.selector) > 0 {
		c.soon(s)
	}
}

// lost has Endpoints and EndpointSlices that somebody has deleted written again.
func (c *services) lost(x *Object) {
	for _, s := range c.inNamespace[x.Namespace] {
		i := slices.IndexFunc(s.slices, func(l *slice) bool { return l.Name == x.Name })
		if x.Resource.Group != "" && i >= 0 {
			s.slices = slices.Delete(s.slices, i, i+1)
			c.soon(s)
		} else if x.Resource.Group == "" && s.Name == x.Name && len(s.selector) > 0 {
			c.soon(s)
		}
	}
}

func (c *services) podChanged(change kube.Change, old, p *kube.Pod) {
	all := c.inNamespace[p.Namespace]
	if len(all) == 0 {
		return
	}
	// As podEndpointsChanged of k8s.io/endpointslice/util/controller_utils.go.
	if change == kube.Modified && old.PodIP == p.PodIP && old.Ready() == p.Ready() && !old.Terminating() && !p.Terminating() && slices.Equal(old.Labels, p.Labels) {
		return
	}
	for _, s := range all {
		if len(s.selector) > 0 && (p.Labels.Holds(s.selector) || old != nil && old.Labels.Holds(s.selector)) {
			c.soon(s)
		}
	}
}

func (c *services) soon(s *service) {
	if !s.wait.Pending() {
		s.wait = c.Env.Timer(c.Env.Draw(&c.stream, c.Env.Timings.ControllerReact), func() { c.sync(s) })
	}
}

// sync writes where the pods are. What belongs to a Service that is gone is collected, but for its Endpoints, which
// nothing owns.
func (c *services) sync(s *service) {
	switch {
	case s.gone:
		if x := c.Get("endpoints", s.Namespace, s.Name); x != nil && c.byName[[2]string{s.Namespace, s.Name}] == nil {
			c.Delete(x, "Background")
		}
		return
	case len(s.selector) == 0 || c.Terminating(s.Namespace):
		return
	}
	pods := c.selected(s)
	trigger, places := s.trigger(pods), c.places(s, pods)
	c.writeEndpoints(s, places, trigger)
	c.writeSlices(s, places, trigger)
}

// place is where a pod of a Service is.
type place struct {
	pod   *kube.Pod
	facts *facts
	zone  string
	ports []corev1.EndpointPort
}

// selected are the pods that a Service selects, in the order of their creation.
func (c *services) selected(s *service) (pods []*kube.Pod) {
	for _, p := range c.Env.API.Pods() {
		if p.Namespace == s.Namespace && p.Labels.Holds(s.selector) {
			pods = append(pods, p)
		}
	}
	slices.SortFunc(pods, func(a, b *kube.Pod) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.Name, b.Name))
	})
	return pods
}

// places are those of the pods that can be reached.
func (c *services) places(s *service, pods []*kube.Pod) (all []place) {
	for _, p := range pods {
		if p.Terminal() || p.PodIP == "" {
			continue
		}
		at := place{pod: p, facts: &facts{}}
		if x := c.Get("pods", p.Namespace, p.Name); x != nil && x.facts != nil {
			at.facts = x.facts
		}
		if n := c.Env.API.Node(p.NodeName); n != nil {
			at.zone = n.Labels.Get(corev1.LabelTopologyZone)
		} else if !s.Spec.PublishNotReadyAddresses {
			continue
		}
		for i := range s.Spec.Ports {
			port := &s.Spec.Ports[i]
			if number := at.facts.find(port); number > 0 {
				at.ports = append(at.ports, corev1.EndpointPort{Name: port.Name, Port: number, Protocol: port.Protocol, AppProtocol: port.AppProtocol})
			}
		}
		all = append(all, at)
	}
	return all
}

// trigger is the moment of the change that is answered: ComputeEndpointLastChangeTriggerTime of
// k8s.io/endpointslice/util/trigger_time_tracker.go.
func (s *service) trigger(pods []*kube.Pod) (at time.Time) {
	ready := map[string]time.Time{}
	for _, p := range pods {
		c := p.Conditions.Get(string(corev1.PodReady))
		if c == nil {
			continue
		}
		since := c.Transition.Second().Time().UTC()
		ready[p.Name] = since
		if since.After(s.ready[p.Name]) && (at.IsZero() || since.Before(at)) {
			at = since
		}
	}
	s.ready = ready
	if !s.known {
		s.known = true
		return s.CreationTimestamp.UTC()
	}
	return at
}

// find returns the number of a Service's port in a pod, or 0 (FindPort of k8s.io/endpointslice/utils.go).
func (f *facts) find(port *corev1.ServicePort) int32 {
	if port.TargetPort.Type == intstr.Int {
		return port.TargetPort.IntVal
	}
	for _, p := range f.ports {
		protocol := p.Protocol
		if protocol == "" {
			protocol = corev1.ProtocolTCP
		}
		if p.Name == port.TargetPort.StrVal && protocol == port.Protocol {
			return p.ContainerPort
		}
	}
	return 0
}

func headless(s *corev1.Service) bool {
	return s.Spec.ClusterIP == "" || s.Spec.ClusterIP == corev1.ClusterIPNone
}

// reference is a place's pod.
func (p *place) reference() *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: "Pod", Namespace: p.pod.Namespace, Name: p.pod.Name, UID: types.UID(p.pod.UID)}
}

// host is a place's hostname, where the Service has it.
func (p *place) host(s *service) string {
	if p.facts.subdomain != s.Name {
		return ""
	}
	return p.facts.hostname
}

// key tells apart sets of ports.
func key(ports []corev1.EndpointPort) string { return string(marshal(ports)) }
