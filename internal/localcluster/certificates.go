package localcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nodesim/nodesim/internal/certs"
)

// An authority signs the certificates of one control plane. It lives as long as Start: its key is written nowhere.
type authority struct {
	folder string
	*certs.Certificate
	text []byte // PEM
}

// newAuthority makes an authority of its own and writes NAME.crt.
func newAuthority(folder, name string) (*authority, error) {
	c, err := certs.New(x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}, nil, time.Now(), nil)
	if err != nil {
		return nil, err
	}
	a := &authority{folder, c, c.PEM()}
	return a, os.WriteFile(filepath.Join(folder, name+".crt"), a.text, 0o644)
}

// A pair is a certificate and its key, as PEM.
type pair struct{ certificate, key []byte }

// issue signs a certificate and writes it as FILE.crt and FILE.key. With hosts it is a server's, without a client's.
func (a *authority) issue(file string, subject pkix.Name, hosts ...string) (pair, error) {
	usage := x509.ExtKeyUsageClientAuth
	if len(hosts) > 0 {
		usage = x509.ExtKeyUsageServerAuth
	}
	c, err := certs.New(x509.Certificate{
		Subject: subject, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}, hosts, time.Now(), a.Certificate)
	if err != nil {
		return pair{}, fmt.Errorf("certificate of %s: %w", file, err)
	}
	p := pair{certificate: c.PEM()}
	if p.key, err = keyText(c.Key); err != nil {
		return pair{}, err
	}
	if err := os.WriteFile(filepath.Join(a.folder, file+".crt"), p.certificate, 0o644); err != nil {
		return pair{}, err
	}
	return p, os.WriteFile(filepath.Join(a.folder, file+".key"), p.key, 0o600)
}

// writeKey writes the key that signs the tokens of service accounts.
func writeKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	text, err := keyText(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func keyText(key *ecdsa.PrivateKey) ([]byte, error) {
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}), nil
}
