package certs_test

import (
	"errors"
	"testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/certs"
)

type issuer struct {
	certificate, key string
	err              error
}

func (i issuer) Issue() ([]byte, []byte, error) { return []byte(i.certificate), []byte(i.key), i.err }

func TestCreateCert(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		factory *certs.CertificateFactory
		want    string
	}{
		"a pair":      {certs.NewCertificateFactory(issuer{"cert", "key", nil}), "cert key"},
		"no factory":  {nil, " "},
		"zero value":  {&certs.CertificateFactory{}, " "},
		"no issuer":   {certs.NewCertificateFactory(nil), " "},
		"no key":      {certs.NewCertificateFactory(issuer{"cert", "", nil}), ""},
		"a bad issue": {certs.NewCertificateFactory(issuer{"cert", "key", refused}), ""},
	} {
		certificate, key, err := c.factory.CreateCert()
		got := certificate + " " + key
		if (err == nil) != (c.want != "") || err == nil && got != c.want {
			t.Errorf("%s: found %q, %v, want %q", name, got, err, c.want)
		}
	}
}
