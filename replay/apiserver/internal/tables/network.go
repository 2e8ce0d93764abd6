package tables

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mostEndpoints is the number of addresses, ports or hosts a cell names before it counts.
const mostEndpoints = 3

type port struct {
	Name string `json:"name"`
	Port *int32 `json:"port"`
}

// endpoints lists every address with every port. Endpoints without subsets are <none>; with subsets of which no address is
// ready, they are empty.
func endpoints(o *object) string {
	subsets := read[[]struct {
		Addresses []struct {
			IP string `json:"ip"`
		} `json:"addresses"`
		Ports []struct {
			Port int32 `json:"port"`
		} `json:"ports"`
	}](o, ".subsets")
	if len(subsets) == 0 {
		return none
	}
	var all []string
	for _, subset := range subsets {
		for _, address := range subset.Addresses {
			if len(subset.Ports) == 0 { // of a headless service
				all = append(all, address.IP)
			}
		}
		for _, port := range subset.Ports {
			for _, address := range subset.Addresses {
				all = append(all, net.JoinHostPort(address.IP, strconv.Itoa(int(port.Port))))
			}
		}
	}
	return firstFew(all, mostEndpoints, ",")
}

// slicePorts shows a port without number as its name, which isn't absent but empty once it is stored.
func slicePorts(o *object) string {
	var words []string
	for _, p := range read[[]port](o, ".ports") {
		word := p.Name
		if p.Port != nil {
			word = strconv.Itoa(int(*p.Port))
		}
		words = append(words, word)
	}
	return cmp.Or(firstFew(words, mostEndpoints, ","), unset)
}

// ingressHosts are the first hosts that rules name. A rule after those is counted as more, with a host or without, and
// the number of more is that of all rules above three.
func ingressHosts(o *object) string {
	var hosts []string
	rules := o.list(".spec.rules[*].host")
	for _, host := range rules {
		if len(hosts) == mostEndpoints {
			return fmt.Sprintf("%s + %d more...", strings.Join(hosts, ","), len(rules)-mostEndpoints)
		}
		if host != "" {
			hosts = append(hosts, host)
		}
	}
	return cmp.Or(strings.Join(hosts, ","), "*")
}

func ingressAddresses(o *object) string {
	var addresses []string
	for _, i := range read[[]networkingv1.IngressLoadBalancerIngress](o, ".status.loadBalancer.ingress") {
		addresses = append(addresses, cmp.Or(i.IP, i.Hostname))
	}
	return strings.Join(distinct(addresses), ",")
}

func ingressPorts(o *object) string {
	if len(o.all(".spec.tls[*]")) > 0 {
		return "80, 443"
	}
	return "80"
}

// parameters is the reference of an IngressClass to a resource.
func parameters(o *object) string {
	p := read[*networkingv1.IngressClassParametersReference](o, ".spec.parameters")
	switch {
	case p == nil:
		return none
	case p.APIGroup != nil:
		return p.Kind + "." + *p.APIGroup + "/" + p.Name
	default:
		return p.Kind + "/" + p.Name
	}
}

// parent is what an IPAddress belongs to.
func parent(o *object) string {
	ref := read[*networkingv1.ParentReference](o, ".spec.parentRef")
	if ref == nil {
		return none
	}
	words := []string{strings.ToLower(schema.GroupResource{Group: ref.Group, Resource: ref.Resource}.String())}
	if ref.Namespace != "" {
		words = append(words, ref.Namespace)
	}
	return strings.Join(append(words, ref.Name), "/")
}
