package certs_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/certs"
)

// A certificate is good for its hosts, under its authority alone, for a year.
func TestCertificates(t *testing.T) {
	now := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	authority := func() *certs.Certificate {
		ca, err := certs.New(x509.Certificate{
			Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		}, nil, now, nil)
		if err != nil {
			t.Fatal(err)
		}
		return ca
	}
	ca, other := authority(), authority()
	leaf, err := certs.New(x509.Certificate{
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, []string{"localhost", "127.0.0.1"}, now, ca)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		ca   *certs.Certificate
		at   time.Time
		good bool
	}{
		{"localhost", ca, now.Add(-time.Minute), true},
		{"127.0.0.1", ca, now.AddDate(0, 11, 0), true},
		{"example.com", ca, now, false},
		{"localhost", other, now, false},
		{"localhost", ca, now.AddDate(1, 1, 0), false},
	} {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(c.ca.PEM()) {
			t.Fatal("not PEM")
		}
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: c.name, Roots: roots, CurrentTime: c.at})
		if (err == nil) != c.good {
			t.Errorf("%s at %s: %v, want good %t", c.name, c.at, err, c.good)
		}
	}
	if shown := leaf.TLS(ca); len(shown.Certificate) != 2 || shown.PrivateKey != leaf.Key {
		t.Errorf("a server shows %d certificates", len(shown.Certificate))
	}
	if ca.SerialNumber.Cmp(other.SerialNumber) == 0 {
		t.Error("two certificates have one serial number")
	}
}
