package writes

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nodesim/nodesim/internal/rawjson"
)

var services = corev1.SchemeGroupVersion.WithResource("services")

// serviceRange is where the addresses of Services are (kubeadm's --service-cluster-ip-range).
var serviceRange = netip.MustParsePrefix("10.96.0.0/12")

// The ports of nodes that Services have (--service-node-port-range of kube-apiserver).
const (
	firstNodePort = 30000
	nodePorts     = 2768
)

// allocate gives a Service its addresses and ports, and a changed one those that it had
// (kubernetes/pkg/registry/core/service/storage). The cluster has one family of addresses.
func (w *write) allocate(u unstructured.Unstructured, live *object) error {
	s, err := as[corev1.Service](u)
	if err != nil {
		return err
	}
	was := &corev1.Service{}
	if live != nil {
		if was, err = as[corev1.Service](live.Unstructured); err != nil {
			return err
		}
	}
	if s.Spec.ClusterIP != "" && len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	} else if s.Spec.ClusterIP == "" && len(s.Spec.ClusterIPs) > 0 {
		s.Spec.ClusterIP = s.Spec.ClusterIPs[0]
	}
	if live != nil {
		retain(s, was)
	}
	var wrong field.ErrorList
	if s.Spec.Type != corev1.ServiceTypeExternalName {
		families(s, was)
		if wrong = w.address(s, was); len(wrong) == 0 {
			wrong = w.ports(s, was)
		}
	}
	if err := w.kind.invalid(s.Name, wrong); err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&s.Spec)
	u.Object["spec"] = content
	return err
}

// external reports whether a Service is reached from outside (ExternallyAccessible of kubernetes/pkg/api/v1/service).
func external(s *corev1.Service) bool {
	return onNodes(s) || s.Spec.Type == corev1.ServiceTypeClusterIP && len(s.Spec.ExternalIPs) > 0
}

func onNodes(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer
}

func hasAddress(s *corev1.Service) bool { return s.Spec.Type != corev1.ServiceTypeExternalName }

// retain is patchAllocatedValues of storage.go and dropTypeDependentFields of strategy.go there.
func retain(s, was *corev1.Service) {
	spec, old := &s.Spec, &was.Spec
	switch {
	case hasAddress(was) && hasAddress(s) && spec.ClusterIP == "":
		spec.ClusterIP, spec.ClusterIPs = old.ClusterIP, old.ClusterIPs
	case hasAddress(was) && !hasAddress(s) && (spec.ClusterIP == "" || spec.ClusterIP == old.ClusterIP):
		spec.ClusterIP, spec.ClusterIPs, spec.IPFamilies, spec.IPFamilyPolicy = "", nil, nil, nil
	}
	if onNodes(was) && onNodes(s) {
		for i := range spec.Ports {
			p := &spec.Ports[i]
			at := slices.IndexFunc(old.Ports, func(o corev1.ServicePort) bool { return o.Name == p.Name })
			if p.NodePort == 0 && at >= 0 && !slices.ContainsFunc(spec.Ports, func(o corev1.ServicePort) bool { return o.NodePort == old.Ports[at].NodePort }) {
				p.NodePort = old.Ports[at].NodePort
			}
		}
	}
	same := slices.EqualFunc(spec.Ports, old.Ports, func(a, b corev1.ServicePort) bool { return a.NodePort == b.NodePort })
	if onNodes(was) && !onNodes(s) && same {
		for i := range spec.Ports {
			spec.Ports[i].NodePort = 0
		}
	}
	if old.Type == corev1.ServiceTypeLoadBalancer && spec.Type != old.Type {
		spec.AllocateLoadBalancerNodePorts = nil
	}
	if external(was) && !external(s) && spec.ExternalTrafficPolicy == old.ExternalTrafficPolicy {
		spec.ExternalTrafficPolicy = ""
	}
}

// families is initIPFamilyFields of alloc.go there.
func families(s, was *corev1.Service) {
	spec := &s.Spec
	selectorless := spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0
	if spec.IPFamilyPolicy == nil {
		policy := corev1.IPFamilyPolicySingleStack
		if was.Spec.IPFamilyPolicy != nil {
			policy = *was.Spec.IPFamilyPolicy
		} else if selectorless {
			policy = corev1.IPFamilyPolicyRequireDualStack
		}
		spec.IPFamilyPolicy = &policy
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = slices.Clone(was.Spec.IPFamilies)
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
		if selectorless && *spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack {
			spec.IPFamilies = append(spec.IPFamilies, corev1.IPv6Protocol)
		}
	}
}

// address finds a Service's address, or says what is wrong with the one that it asks for.
func (w *write) address(s, was *corev1.Service) field.ErrorList {
	path := field.NewPath("spec", "clusterIPs")
	if old := was.Spec.ClusterIP; old != "" {
		if s.Spec.ClusterIP != old {
			return field.ErrorList{field.Invalid(path.Index(0), s.Spec.ClusterIPs, "may not change once set")}
		}
		return nil
	}
	if s.Spec.ClusterIP == corev1.ClusterIPNone {
		return nil
	}
	taken := map[string]bool{}
	w.others(s, func(spec []byte) {
		for ip := range rawjson.Elements(rawjson.Get(spec, "clusterIPs")) {
			if ip, is := rawjson.Unquote(ip); is {
				taken[ip] = true
			}
		}
	})
	if asked := s.Spec.ClusterIP; asked != "" {
		ip, err := netip.ParseAddr(asked)
		var why string
		switch {
		case err != nil:
			return field.ErrorList{field.Invalid(path.Index(0), asked, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")}
		case !serviceRange.Contains(ip):
			why = "the provided network does not match the current range"
		case taken[asked]:
			why = "provided IP is already allocated"
		default:
			return nil
		}
		return field.ErrorList{field.Invalid(path, s.Spec.ClusterIPs, fmt.Sprintf("failed to allocate IP %s: %s", asked, why))}
	}
	const size = 1<<20 - 2
	for at := pick(s, "address", size); ; at = (at + 1) % size {
		n := uint32(10)<<24 | uint32(96)<<16 + at + 1
		ip := netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}).String()
		if !taken[ip] {
			s.Spec.ClusterIP, s.Spec.ClusterIPs = ip, []string{ip}
			return nil
		}
		if len(taken) >= size {
			return field.ErrorList{field.Invalid(path, s.Spec.ClusterIPs, "failed to allocate IP: range is full")}
		}
	}
}

// ports finds the ports that a Service has on nodes.
func (w *write) ports(s, was *corev1.Service) field.ErrorList {
	if !onNodes(s) || s.Spec.AllocateLoadBalancerNodePorts != nil && !*s.Spec.AllocateLoadBalancerNodePorts {
		return nil
	}
	taken := map[int32]bool{}
	w.others(s, func(spec []byte) {
		for port := range rawjson.Elements(rawjson.Get(spec, "ports")) {
			if n, err := strconv.ParseInt(string(rawjson.Get(port, "nodePort")), 10, 32); err == nil {
				taken[int32(n)] = true
			}
		}
	})
	own, used := map[int32]int32{}, maps.Clone(taken) // TCP and UDP of one port share that on the nodes (initNodePorts of alloc.go there)
	for i := range s.Spec.Ports {
		if p := &s.Spec.Ports[i]; p.NodePort != 0 {
			own[p.Port], used[p.NodePort] = p.NodePort, true
		}
	}
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if p.NodePort == 0 {
			p.NodePort = own[p.Port]
		}
		path := field.NewPath("spec", "ports").Index(i).Child("nodePort")
		had := slices.ContainsFunc(was.Spec.Ports, func(o corev1.ServicePort) bool { return o.NodePort == p.NodePort })
		switch {
		case p.NodePort == 0:
			at := pick(s, fmt.Sprint("port ", i), nodePorts)
			for range nodePorts {
				if p.NodePort = firstNodePort + int32(at); !used[p.NodePort] {
					break
				}
				at, p.NodePort = (at+1)%nodePorts, 0
			}
			if p.NodePort == 0 {
				return field.ErrorList{field.Invalid(path, 0, "failed to allocate a nodePort: range is full")}
			}
		case had:
		case p.NodePort < firstNodePort || p.NodePort >= firstNodePort+nodePorts:
			return field.ErrorList{field.Invalid(path, p.NodePort, fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %d-%d", firstNodePort, firstNodePort+nodePorts-1))}
		case taken[p.NodePort]: // by another Service
			return field.ErrorList{field.Invalid(path, p.NodePort, "provided port is already allocated")}
		}
		own[p.Port], used[p.NodePort] = p.NodePort, true
	}
	return nil
}

// others calls f for the text of the spec of all other Services: to decode them takes longer than all else.
func (w *write) others(s *corev1.Service, f func(spec []byte)) {
	l, err := w.handler.cluster.ListUnfaulted(services, "", metav1.ListOptions{})
	if err != nil {
		return // the cluster has none
	}
	for _, o := range l.Items {
		if o.Namespace() != s.Namespace || o.Name() != s.Name {
			f(rawjson.Get(o.Raw(), "spec"))
		}
	}
}

// pick is a number below n that depends on the Service alone, where a server takes a random one.
func pick(s *corev1.Service, what string, n uint32) uint32 {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, s.Namespace, "/", s.Name, "/", s.UID, " ", what) // a hash takes everything
	return h.Sum32() % n
}
