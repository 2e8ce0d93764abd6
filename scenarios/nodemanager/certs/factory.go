// Package certs asks an authority for the certificates that nodes' agents serve with. In: an Issuer. Out: pairs of
// certificate and key in PEM. The package makes no keys itself.
//
// Its API may still change (docs/stability.md).
package certs

import (
	"errors"
	"fmt"
)

// An Issuer signs certificates. It may be called from any goroutine.
type Issuer interface {
	// Issue returns a certificate for servers of agents, and its key, in PEM.
	Issue() (certificate, key []byte, err error)
}

// CertificateFactory asks an Issuer and checks its answers. A nil factory, the zero value and one with a nil Issuer make
// empty pairs: agents then serve without certificates.
type CertificateFactory struct{ issuer Issuer }

// NewCertificateFactory returns a factory that asks an issuer.
func NewCertificateFactory(i Issuer) *CertificateFactory { return &CertificateFactory{i} }

// CreateCert returns a certificate and its key in PEM. Both are empty where the factory has no Issuer, and neither is
// empty otherwise.
func (f *CertificateFactory) CreateCert() (certificate, key string, err error) {
	if f == nil || f.issuer == nil {
		return "", "", nil
	}
	c, k, err := f.issuer.Issue()
	if err == nil && (len(c) == 0 || len(k) == 0) {
		err = errors.New("the issuer returned an empty certificate or key: want both in PEM")
	}
	if err != nil {
		return "", "", fmt.Errorf("issue a node certificate: %w", err)
	}
	return string(c), string(k), nil
}
