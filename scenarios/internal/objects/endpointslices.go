package objects

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	sliceController = "endpointslice-controller.k8s.io"
	// mostEndpoints is how many endpoints a slice holds (--max-endpoints-per-slice of kube-controller-manager).
	mostEndpoints = 100
)

// slice is an EndpointSlice as the controller has written it.
type slice struct {
	*discoveryv1.EndpointSlice
	ports string // its key
	next  []discoveryv1.Endpoint
}

// sawSlice takes over a slice that was there before the controller, or that a client has changed: one with its labels is the
// controller's, but for one that is about to go (syncService of pkg/controller/endpointslice/endpointslice_controller.go).
func (c *services) sawSlice(x *Object) {
	for _, s := range c.inNamespace[x.Namespace] {
		s.slices = slices.DeleteFunc(slices.Clone(s.slices), func(l *slice) bool {
			if l.Name == x.Name {
				c.soon(s)
			}
			return l.Name == x.Name
		})
	}
	api := &discoveryv1.EndpointSlice{}
	if json.Unmarshal(x.text, api) != nil {
		return // what the API server takes can be read
	}
	s := c.byName[[2]string{x.Namespace, api.Labels[discoveryv1.LabelServiceName]}]
	if s == nil || x.Deleting || api.Labels[discoveryv1.LabelManagedBy] != sliceController {
		return
	}
	api.Namespace, api.Name, api.Generation = x.Namespace, x.Name, x.Generation
	var ports []corev1.EndpointPort
	for _, p := range api.Ports {
		ports = append(ports, corev1.EndpointPort{Name: value(p.Name), Port: value(p.Port), Protocol: value(p.Protocol), AppProtocol: p.AppProtocol})
	}
	s.slices = append(s.slices, &slice{EndpointSlice: api, ports: key(ports)})
	if len(s.selector) > 0 {
		c.soon(s)
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// writeSlices writes the EndpointSlices of a Service (reconcileByAddressType and reconcileByPortMapping of
// k8s.io/endpointslice/reconciler.go). An endpoint stays in its slice; a new one comes into one that has room.
func (c *services) writeSlices(s *service, places []place, trigger time.Time) {
	for _, family := range s.Spec.IPFamilies {
		c.writeFamily(s, family, places, trigger)
	}
}

func (c *services) writeFamily(s *service, family corev1.IPFamily, places []place, trigger time.Time) {
	kind := discoveryv1.AddressType(family)
	if kind == discoveryv1.AddressTypeIPv6 {
		places = nil // pods have no such address here
	}
	var order []*portSet
	wanted := map[string]*portSet{}
	for i := range places {
		p := &places[i]
		k := key(p.ports)
		w := wanted[k]
		if w == nil {
			w = &portSet{key: k, ports: p.ports, of: map[types.UID]int{}}
			wanted[k], order = w, append(order, w)
		}
		w.add(p.endpoint(s))
	}
	var own []*slice
	for _, l := range s.slices {
		if l.AddressType == kind {
			own = append(own, l)
			l.keep(wanted[l.ports])
		}
	}
	for _, w := range order {
		for left := w.left(); len(left) > 0; {
			room := roomIn(own, w.key, len(left))
			if room == nil {
				room = &slice{ports: w.key, EndpointSlice: newSlice(s, kind, w.ports)}
				own, s.slices = append(own, room), append(s.slices, room)
			}
			n := min(len(left), mostEndpoints-len(room.next))
			room.next, left = append(room.next, left[:n]...), left[n:]
		}
	}
	if !slices.ContainsFunc(own, func(l *slice) bool { return len(l.next) > 0 }) {
		c.hold(s, own, kind, trigger)
		return
	}
	for _, l := range own {
		c.writeSlice(s, l, trigger)
	}
}

// hold leaves one slice without endpoints and ports, so that the Service has any.
func (c *services) hold(s *service, own []*slice, kind discoveryv1.AddressType, trigger time.Time) {
	for _, l := range own {
		if len(own) > 1 || len(l.Ports) > 0 || l.Name == "" {
			c.dropSlice(s, l)
		} else {
			return
		}
	}
	empty := &slice{ports: key(nil), EndpointSlice: newSlice(s, kind, nil)}
	s.slices = append(s.slices, empty)
	c.createSlice(s, empty, trigger)
}

// portSet is the endpoints with one set of ports that are wanted.
type portSet struct {
	key       string
	ports     []corev1.EndpointPort
	endpoints []discoveryv1.Endpoint
	of        map[types.UID]int // by pod, those that no slice has yet
}

func (w *portSet) add(e discoveryv1.Endpoint) {
	w.of[e.TargetRef.UID] = len(w.endpoints)
	w.endpoints = append(w.endpoints, e)
}

// left are those that no slice has, in their order.
func (w *portSet) left() (some []discoveryv1.Endpoint) {
	for _, i := range slices.Sorted(maps.Values(w.of)) {
		some = append(some, w.endpoints[i])
	}
	return some
}

// keep takes over what is wanted of the endpoints that the slice has.
func (l *slice) keep(w *portSet) {
	l.next = nil
	for i := range l.Endpoints {
		pod := l.Endpoints[i].TargetRef
		if w == nil || pod == nil { // a client's
			continue
		}
		if at, wanted := w.of[pod.UID]; wanted {
			delete(w.of, pod.UID)
			l.next = append(l.next, w.endpoints[at])
		}
	}
}

// roomIn finds a slice for endpoints: one that is written anyway, or the fullest that takes all of them.
func roomIn(own []*slice, ports string, n int) (best *slice) {
	for _, l := range own {
		if l.ports != ports || len(l.next) >= mostEndpoints {
			continue
		}
		changed := len(l.next) != len(l.Endpoints)
		switch {
		case !changed && len(l.next)+n > mostEndpoints:
		case best == nil || changed && len(best.next) == len(best.Endpoints) || len(l.next) > len(best.next):
			best = l
		}
	}
	return best
}

func newSlice(s *service, kind discoveryv1.AddressType, ports []corev1.EndpointPort) *discoveryv1.EndpointSlice {
	yes := true
	out := &discoveryv1.EndpointSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: s.Name + "-", Namespace: s.Namespace,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: s.Name, UID: s.UID, Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		AddressType: kind, // without endpoints and ports they are null, as a server has them
	}
	for i := range ports {
		p := ports[i]
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &p.Port, Protocol: &p.Protocol, AppProtocol: p.AppProtocol})
	}
	return out
}

// sliceLabels are those of the Service, and who writes the slices.
func sliceLabels(s *service) map[string]string {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if delete(labels, corev1.IsHeadlessService); headless(s.Service) {
		labels[corev1.IsHeadlessService] = ""
	}
	labels[discoveryv1.LabelServiceName], labels[discoveryv1.LabelManagedBy] = s.Name, sliceController
	return labels
}

func (c *services) writeSlice(s *service, l *slice, trigger time.Time) {
	labels := sliceLabels(s)
	switch {
	case len(l.next) == 0:
		c.dropSlice(s, l)
		return
	case l.Name == "":
		l.Endpoints = l.next
		c.createSlice(s, l, trigger)
		return
	case maps.Equal(l.Labels, labels) && bytes.Equal(marshal(l.Endpoints), marshal(l.next)):
		return
	}
	x := c.Get("endpointslices", l.Namespace, l.Name)
	if x == nil {
		return // its end comes back here
	}
	l.Endpoints, l.Labels = l.next, labels
	l.Generation++
	c.writing = true
	c.patch(x, marshal(map[string]any{
		"metadata": map[string]any{
			"labels": replacing(x.text, labels, "metadata", "labels"), "generation": l.Generation,
			"annotations": replacing(x.text, annotated(x.text, trigger), "metadata", "annotations"),
		},
		"endpoints": l.Endpoints,
	}))
	c.writing = false
}

func (c *services) createSlice(s *service, l *slice, trigger time.Time) {
	l.Labels, l.Annotations, l.Generation = sliceLabels(s), annotated(nil, trigger), 1
	for l.Name == "" || c.Get("endpointslices", l.Namespace, l.Name) != nil {
		l.Name = string(c.stream.AppendSuffix([]byte(l.GenerateName), 5))
	}
	c.writing = true
	c.create("endpointslices", c.stream.UUID(), l.EndpointSlice)
	c.writing = false
}

func (c *services) dropSlice(s *service, l *slice) {
	s.slices = slices.DeleteFunc(slices.Clone(s.slices), func(o *slice) bool { return o == l })
	if x := c.Get("endpointslices", l.Namespace, l.Name); x != nil {
		c.Delete(x, metav1.DeletePropagationBackground)
	}
}

// endpoint is podToEndpoint of k8s.io/endpointslice/utils.go.
func (p *place) endpoint(s *service) discoveryv1.Endpoint {
	serving, ending := p.pod.Ready(), p.pod.Terminating()
	ready := s.Spec.PublishNotReadyAddresses || serving && !ending
	e := discoveryv1.Endpoint{
		Addresses:  []string{p.pod.PodIP},
		Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &ending},
		TargetRef:  p.reference(),
	}
	if node := p.pod.NodeName; node != "" {
		e.NodeName = &node
	}
	if zone := p.zone; zone != "" {
		e.Zone = &zone
	}
	if host := p.host(s); host != "" {
		e.Hostname = &host
	}
	return e
}
