// Package certs makes certificates for servers and clients of this machine, with keys
// that live in memory alone.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// How long a certificate is good: from an hour ago, for clients whose clocks are
// late, for a year, which is beyond any replay and any throwaway cluster.
const (
	goodBefore = time.Hour
	goodFor    = 365 * 24 * time.Hour
)

// Certificate is a certificate and its key.
type Certificate struct {
	*x509.Certificate
	Key *ecdsa.PrivateKey
}

// New completes a form to a certificate with a key of its own: it adds a serial number,
// the time, and names and addresses from hosts. By signs it; without by it signs itself.
func New(form x509.Certificate, hosts []string, now time.Time, by *Certificate) (*Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	// RFC 5280 wants serial numbers to be unique, and the CA/Browser Forum unpredictable.
	if form.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	form.NotBefore, form.NotAfter = now.Add(-goodBefore), now.Add(goodFor)
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			form.IPAddresses = append(form.IPAddresses, ip)
		} else {
			form.DNSNames = append(form.DNSNames, host)
		}
	}
	if by == nil {
		by = &Certificate{&form, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, &form, by.Certificate, key.Public(), by.Key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &Certificate{made, key}, nil
}

// PEM is the certificate as text.
func (c *Certificate) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// TLS is what a server shows: the certificate, and those of the authorities above it.
func (c *Certificate) TLS(above ...*Certificate) tls.Certificate {
	t := tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: c.Key, Leaf: c.Certificate}
	for _, a := range above {
		t.Certificate = append(t.Certificate, a.Raw)
	}
	return t
}
