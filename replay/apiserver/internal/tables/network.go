package tables

import (
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func networkPolicies() *Printer {
	return typed(func(p *networkingv1.NetworkPolicy, now time.Time) []any {
		return []any{p.Name, metav1.FormatLabelSelector(&p.Spec.PodSelector), since(p.CreationTimestamp, now)}
	}, nameColumn(), text("Pod-Selector", doc(networkingv1.NetworkPolicySpec{}, "podSelector")), ageColumn())
}

func serviceCIDRs() *Printer {
	return typed(func(c *networkingv1.ServiceCIDR, now time.Time) []any {
		return []any{c.Name, strings.Join(c.Spec.CIDRs, ","), since(c.CreationTimestamp, now)}
	}, nameColumn(), text("CIDRs", doc(networkingv1.ServiceCIDRSpec{}, "cidrs")), ageColumn())
}

// ipAddresses has an age in its rows that no column announces, as in the API server.
func ipAddresses() *Printer {
	return typed(func(a *networkingv1.IPAddress, now time.Time) []any {
		parent := none
		if ref := a.Spec.ParentRef; ref != nil {
			words := []string{strings.ToLower(schema.GroupResource{Group: ref.Group, Resource: ref.Resource}.String())}
			if ref.Namespace != "" {
				words = append(words, ref.Namespace)
			}
			parent = strings.Join(append(words, ref.Name), "/")
		}
		return []any{a.Name, parent, since(a.CreationTimestamp, now)}
	}, nameColumn(), text("ParentRef", doc(networkingv1.IPAddressSpec{}, "parentRef")))
}
