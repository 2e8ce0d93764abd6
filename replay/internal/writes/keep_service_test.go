package writes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TCP and UDP of one port share the port on the nodes, given or not.
func TestNodePortOfTwoProtocols(t *testing.T) {
	w := &write{handler: keeping(t).Handler}
	for _, given := range []int32{0, 30053} {
		s := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{
			{Name: "tcp", Protocol: corev1.ProtocolTCP, Port: 53, NodePort: given},
			{Name: "udp", Protocol: corev1.ProtocolUDP, Port: 53, NodePort: given},
			{Name: "metrics", Protocol: corev1.ProtocolTCP, Port: 9153},
		}}}
		if errs := w.ports(s, &corev1.Service{}); len(errs) > 0 {
			t.Fatalf("given %d: %v", given, errs)
		}
		p := s.Spec.Ports
		if p[0].NodePort != p[1].NodePort || p[0].NodePort == p[2].NodePort || p[2].NodePort == 0 || given > 0 && p[0].NodePort != given {
			t.Errorf("given %d: found %d, %d and %d, want the first two alike", given, p[0].NodePort, p[1].NodePort, p[2].NodePort)
		}
	}
}

// A create has the name of its object in the body.
func TestNameOfACreate(t *testing.T) {
	for want, r := range map[string]Request{
		"c": ask(Create, "configmaps/team", `{"metadata":{"name":"c"}}`),
		"d": ask(Delete, "configmaps/team/d", ""),
		"":  ask(Create, "configmaps/team", `not JSON`),
	} {
		if got := r.called(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
