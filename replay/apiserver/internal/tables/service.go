package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func serviceCells(service *corev1.Service, now time.Time) []any {
	spec := &service.Spec
	spec.Type = corev1.ServiceType(cmp.Or(string(spec.Type), string(corev1.ServiceTypeClusterIP)))
	clusterIP := cmp.Or(spec.ClusterIP, none)
	if len(spec.ClusterIPs) > 0 {
		clusterIP = spec.ClusterIPs[0]
	}
	return []any{
		service.Name, string(spec.Type), clusterIP, externalIPs(service), cmp.Or(servicePorts(spec.Ports), none),
		since(service.CreationTimestamp, now), labels.FormatLabels(spec.Selector),
	}
}

// externalIPs is where the service is reached from outside; <pending> until its load balancer has an address.
func externalIPs(service *corev1.Service) string {
	switch spec := &service.Spec; spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return cmp.Or(strings.Join(spec.ExternalIPs, ","), none)
	case corev1.ServiceTypeLoadBalancer:
		var ingress []string
		for _, i := range service.Status.LoadBalancer.Ingress {
			ingress = append(ingress, cmp.Or(i.IP, i.Hostname))
		}
		return cmp.Or(strings.Join(append(distinct(ingress), spec.ExternalIPs...), ","), "<pending>")
	case corev1.ServiceTypeExternalName:
		return spec.ExternalName
	default:
		return unknown
	}
}

// distinct are the words that aren't empty, sorted, each once.
func distinct(words []string) []string {
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	slices.Sort(words)
	return slices.Compact(words)
}

func servicePorts(ports []corev1.ServicePort) string {
	var words []string
	for _, p := range ports {
		number := fmt.Sprint(p.Port)
		if p.NodePort > 0 {
			number = fmt.Sprintf("%d:%d", p.Port, p.NodePort)
		}
		words = append(words, number+"/"+cmp.Or(string(p.Protocol), string(corev1.ProtocolTCP)))
	}
	return strings.Join(words, ",")
}
