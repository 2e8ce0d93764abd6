package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

func TestKubeletAddressOption(t *testing.T) {
	for _, c := range []struct {
		address, listen string // listen "-" is the default
		at, want        string // of the listener, of the error
	}{
		{"", "-", "127.0.0.1:0", ""},
		{"172.18.0.1", "-", "172.18.0.1:0", ""},
		{"fd00::1", "-", "[fd00::1]:0", ""},
		{"172.18.0.1", ":10250", ":10250", ""},
		{"172.18.0.1", "", "", ""},
		{"", "", "", ""},
		{"host.docker.internal", "-", "", `kubelet address "host.docker.internal": want the IP address`},
		{"0.0.0.0", "-", "", `kubelet address "0.0.0.0": want the IP address`},
		{"", ":10250", "", `listen at ":10250": all addresses of this machine`},
		{"", "[::]:10250", "", `listen at "[::]:10250": all addresses of this machine`},
	} {
		opts := []Option{KubeletAddress(c.address)}
		if c.listen != "-" {
			opts = append(opts, ListenAt(c.listen))
		}
		p, err := New(&rest.Config{}, file(t), opts...)
		switch {
		case c.want == "" && (err != nil || p.listen != c.at):
			t.Errorf("address %q, listen %q: %v, want it to listen at %q", c.address, c.listen, err, c.at)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("address %q, listen %q: error %v, want %q", c.address, c.listen, err, c.want)
		}
	}
}

// An address that isn't this machine's own is one of a network that translates
// addresses: the listener is at all of them, and its certificate is good for it.
func TestListenElsewhere(t *testing.T) {
	const outside = "192.0.2.1" // no handler's (RFC 5737)
	p, err := New(&rest.Config{}, file(t), KubeletAddress(outside))
	if err != nil {
		t.Fatal(err)
	}
	server, at, err := p.serve(context.Background(), api.PodHandlerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if freePort(at) != elsewhere {
		t.Errorf("it listens at %s, want %s", at, elsewhere)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", server.Port()), &tls.Config{RootCAs: trusted, ServerName: outside})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// Marking is done with each post of a node, and undone before another live run
// resumes it.
func TestMark(t *testing.T) {
	server, err := api.Serve(context.Background(), api.PodHandlerConfig{}, api.ServeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	own := []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.4"}, {Type: corev1.NodeInternalDNS, Address: "ip-10-0-0-4"}}
	node := &corev1.Node{Status: corev1.NodeStatus{Addresses: append(slices.Clone(own), corev1.NodeAddress{Type: corev1.NodeHostName, Address: "ip-10-0-0-4"})}}
	host := net.IPv4(172, 18, 0, 1).String()
	for range 2 {
		(&kubeletServer{server: server, host: host, inside: true}).mark(node)
		want := append([]corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}}, own...)
		if want = append(want, corev1.NodeAddress{Type: corev1.NodeHostName, Address: host}); !slices.Equal(node.Status.Addresses, want) {
			t.Errorf("addresses %v, want %v", node.Status.Addresses, want)
		}
		if node.Annotations[AddressAnnotation] != host || node.Status.DaemonEndpoints.KubeletEndpoint.Port != server.Port() {
			t.Errorf("annotations %v, endpoints %v", node.Annotations, node.Status.DaemonEndpoints)
		}
	}
	unmark(node)
	(&kubeletServer{server: server, host: "127.0.0.1"}).mark(node)
	want := append(slices.Clone(own), corev1.NodeAddress{Type: corev1.NodeHostName, Address: "127.0.0.1"})
	if !slices.Equal(node.Status.Addresses, want) || len(node.Annotations) > 0 {
		t.Errorf("taken over: addresses %v, annotations %v: want %v and none", node.Status.Addresses, node.Annotations, want)
	}
}

// file is the smallest of the shipped scenarios.
func file(t *testing.T) *scenarios.File {
	t.Helper()
	found, err := scenarios.Find("minimal")
	if err != nil {
		t.Fatal(err)
	}
	f, err := found.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
