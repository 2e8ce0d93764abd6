package apiserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"time"
)

// How long a certificate is good: from an hour ago, for clients whose clocks are
// late, to beyond any replay.
const (
	goodBefore = time.Hour
	goodFor    = 365 * 24 * time.Hour
)

// newCertificate makes a certificate for a server at these names and addresses,
// and the authority that has signed it, as PEM. Both live in memory alone; the
// authority's key is forgotten, so nothing else will ever be signed by it.
func newCertificate(hosts []string, now time.Time) (serving tls.Certificate, authority []byte, err error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return serving, nil, fmt.Errorf("make a certificate: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return serving, nil, fmt.Errorf("make a certificate: %w", err)
	}
	ca := template("nodesim replay authority", now)
	ca.IsCA, ca.BasicConstraintsValid, ca.MaxPathLenZero = true, true, true
	ca.KeyUsage = x509.KeyUsageCertSign
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return serving, nil, fmt.Errorf("make a certificate: %w", err)
	}
	if ca, err = x509.ParseCertificate(caDER); err != nil {
		return serving, nil, fmt.Errorf("make a certificate: %w", err)
	}
	leaf := template("nodesim replay", now)
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return serving, nil, fmt.Errorf("make a certificate: %w", err)
	}
	var text bytes.Buffer
	if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: caDER}); err != nil {
		return serving, nil, fmt.Errorf("make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der, caDER}, PrivateKey: key}, text.Bytes(), nil
}

func template(name string, now time.Time) *x509.Certificate {
	// 128 random bits, as RFC 5280 wants serial numbers to be unique and the
	// CA/Browser Forum unpredictable; the highest bit is clear.
	var serial [16]byte
	_, _ = rand.Read(serial[:]) // never fails: see crypto/rand
	serial[0] &= 0x7f
	return &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial[:]),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-goodBefore), NotAfter: now.Add(goodFor),
	}
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
