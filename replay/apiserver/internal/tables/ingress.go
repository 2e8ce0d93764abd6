package tables

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"
)

func ingresses() *Printer {
	return typed(ingressCells,
		nameColumn(),
		text("Class", "The name of the IngressClass resource that should be used for additional configuration"),
		text("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
		text("Address", "Address is a list containing ingress points for the load-balancer"),
		text("Ports", "Ports of TLS configurations that open"),
		ageColumn(),
	)
}

func ingressCells(ingress *networkingv1.Ingress, now time.Time) []any {
	ports := "80"
	if len(ingress.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	var addresses []string
	for _, i := range ingress.Status.LoadBalancer.Ingress {
		addresses = append(addresses, cmp.Or(i.IP, i.Hostname))
	}
	return []any{
		ingress.Name, ptr.Deref(ingress.Spec.IngressClassName, none), ingressHosts(ingress.Spec.Rules),
		strings.Join(distinct(addresses), ","), ports, since(ingress.CreationTimestamp, now),
	}
}

// ingressHosts are the first hosts that rules name. A rule after those is counted as more, with a host or without, and
// the number of more is that of all rules above three.
func ingressHosts(rules []networkingv1.IngressRule) string {
	var hosts []string
	for _, rule := range rules {
		if len(hosts) == mostEndpoints {
			return fmt.Sprintf("%s + %d more...", strings.Join(hosts, ","), len(rules)-mostEndpoints)
		}
		if rule.Host != "" {
			hosts = append(hosts, rule.Host)
		}
	}
	return cmp.Or(strings.Join(hosts, ","), "*")
}

func ingressClasses() *Printer {
	return typed(ingressClassCells,
		nameColumn(),
		text("Controller", "Controller that is responsible for handling this class"),
		text("Parameters", "A reference to a resource with additional parameters"),
		ageColumn(),
	)
}

func ingressClassCells(class *networkingv1.IngressClass, now time.Time) []any {
	name := class.Name
	if class.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
		name += defaultMark
	}
	parameters := none
	if p := class.Spec.Parameters; p != nil {
		parameters = p.Kind
		if p.APIGroup != nil {
			parameters += "." + *p.APIGroup
		}
		parameters += "/" + p.Name
	}
	return []any{name, class.Spec.Controller, parameters, since(class.CreationTimestamp, now)}
}
