package api

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"
)

// selfSigned makes a key and a certificate of its own for an address, good for a year, as a kubelet makes one
// (k8s.io/client-go, util/cert/cert.go, GenerateSelfSignedCertKey).
func selfSigned(ip net.IP, names []string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a serving certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serving certificate: %w", err)
	}
	form := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "nodesim virtual nodes"},
		NotBefore:             time.Now().Add(-time.Hour), // for a client whose clock is slow
		NotAfter:              time.Now().AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true, // of itself, so that it can be in a caBundle
		IPAddresses:           []net.IP{ip},
		DNSNames:              []string{"localhost"},
	}
	for _, name := range names {
		if other := net.ParseIP(name); other != nil {
			form.IPAddresses = append(form.IPAddresses, other)
		} else {
			form.DNSNames = append(form.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a serving certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make a serving certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
