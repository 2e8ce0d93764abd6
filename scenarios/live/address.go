package live

import (
	"fmt"
	"net"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

const (
	// loopback is where kubelets are answered for by default.
	loopback = "127.0.0.1:0"
	// elsewhere is where they are when the address that was asked for isn't one of
	// this machine's own: all that it has.
	elsewhere = ":0"
)

// AddressAnnotation is on nodes that have an InternalIP of [KubeletAddress], and
// says which it is: the other one is the scenario's.
const AddressAnnotation = "nodesim.dev/kubelet-address"

// KubeletAddress is the IP address by which the API server reaches this machine,
// for one that isn't on it, and for one that takes InternalIP before Hostname
// (--kubelet-preferred-address-types), as kubeadm and kind have it. All nodes get it
// as their first InternalIP and as their Hostname; the scenario's own InternalIP
// comes second. kubectl top is asked there too, where it is an IPv4 address.
//
// It is listened at that address, unless [ListenAt] says where, or at all addresses
// of this machine where that one isn't its own: one of a network that translates
// addresses. Who may come is said by [KubeletClients].
func KubeletAddress(ip string) Option { return func(p *Runner) { p.host = ip } }

// address checks where it is listened, and by which address that is reached.
func (p *Runner) address() error {
	if p.host != "" {
		ip := net.ParseIP(p.host)
		if ip == nil || ip.IsUnspecified() || ip.IsMulticast() {
			return fmt.Errorf("kubelet address %q: want the IP address by which the API server reaches this machine", p.host)
		}
		p.host = ip.String()
		if p.listen == loopback {
			p.listen = net.JoinHostPort(p.host, "0")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(p.listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return fmt.Errorf("listen at %q: all addresses of this machine: want the one by which the API server reaches it too, as the kubelet address", p.listen)
	}
	return nil
}

// freePort is a free port of the same host.
func freePort(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address // no listener can have it
	}
	return net.JoinHostPort(host, "0")
}

// mark says in a node's status where its kubelet is reached: the port, and the host as the address of type Hostname.
// kube-apiserver takes that before all others (--kubelet-preferred-address-types is
// Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP by default), so that InternalIP stays the scenario's. An
// address given in the options comes before it: of several of a type the first is taken (k8s.io/kubernetes,
// pkg/util/node/node.go, GetPreferredNodeAddress).
func (f *kubeletServer) mark(node *corev1.Node) {
	if f == nil || f.server == nil {
		return
	}
	node.Status.DaemonEndpoints = f.server.Endpoints()
	addresses := slices.DeleteFunc(slices.Clone(node.Status.Addresses), func(a corev1.NodeAddress) bool {
		return a.Type == corev1.NodeHostName || a.Type == corev1.NodeInternalIP && a.Address == f.host
	})
	if f.inside {
		addresses = slices.Insert(addresses, 0, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: f.host})
		if node.Annotations == nil {
			node.Annotations = map[string]string{}
		}
		node.Annotations[AddressAnnotation] = f.host
	}
	node.Status.Addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: f.host})
}

// unmark removes from a node of an earlier live run what mark has put there before the scenario's own address.
func unmark(node *corev1.Node) {
	host, is := node.Annotations[AddressAnnotation]
	if !is {
		return
	}
	delete(node.Annotations, AddressAnnotation)
	node.Status.Addresses = slices.DeleteFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool {
		return a.Type == corev1.NodeInternalIP && a.Address == host
	})
}
