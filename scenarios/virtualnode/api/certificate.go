package api

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"time"

	"github.com/nodesim/nodesim/internal/certs"
)

// selfSigned makes a key and a certificate of its own for an address, good for a year, as a kubelet makes one
// (k8s.io/client-go, util/cert/cert.go, GenerateSelfSignedCertKey).
func selfSigned(ip net.IP, names []string) (*tls.Certificate, error) {
	c, err := certs.New(x509.Certificate{
		Subject:               pkix.Name{CommonName: "nodesim virtual nodes"},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true, // of itself, so that it can be in a caBundle
		IPAddresses:           []net.IP{ip},
		DNSNames:              []string{"localhost"},
	}, names, time.Now(), nil)
	if err != nil {
		return nil, fmt.Errorf("make a serving certificate: %w", err)
	}
	shown := c.TLS()
	return &shown, nil
}
