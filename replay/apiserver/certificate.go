package apiserver

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"os"
	"slices"
	"time"

	"github.com/nodesim/nodesim/internal/certs"
)

// newCertificate makes a certificate for a server at these names and addresses,
// and the authority that has signed it, as PEM. Both live in memory alone; the
// authority's key is forgotten, so nothing else will ever be signed by it.
func newCertificate(hosts []string, now time.Time) (serving tls.Certificate, authority []byte, err error) {
	ca, err := certs.New(x509.Certificate{
		Subject: pkix.Name{CommonName: "nodesim replay authority"},
		IsCA:    true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, now, nil)
	if err != nil {
		return serving, nil, err
	}
	leaf, err := certs.New(x509.Certificate{
		Subject:  pkix.Name{CommonName: "nodesim replay"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, hosts, now, ca)
	if err != nil {
		return serving, nil, err
	}
	return leaf.TLS(ca), ca.PEM(), nil
}

// names returns what a server that listens on a host can be called: loopback's names
// always, and where it listens everywhere, all addresses of the machine.
func names(host string) []string {
	all := []string{"localhost", "127.0.0.1", "::1"}
	add := func(name string) {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		add(host)
		return all
	}
	// What can't be found out is left out: loopback works anyway.
	if name, err := os.Hostname(); err == nil {
		add(name)
	}
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok {
			add(n.IP.String())
		}
	}
	return all
}
