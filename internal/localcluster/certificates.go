package localcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// An authority signs the certificates of one control plane. It lives as long as Start: its key is written nowhere.
type authority struct {
	folder      string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	text        []byte // PEM
}

// validity is longer than any throwaway cluster lives.
const validity = 365 * 24 * time.Hour

// newAuthority makes an authority of its own and writes NAME.crt.
func newAuthority(folder, name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &authority{folder: folder, key: key, certificate: &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}}
	if err := dated(a.certificate); err != nil {
		return nil, err
	}
	raw, err := x509.CreateCertificate(rand.Reader, a.certificate, a.certificate, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	if a.certificate, err = x509.ParseCertificate(raw); err != nil {
		return nil, err
	}
	a.text = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	return a, os.WriteFile(filepath.Join(folder, name+".crt"), a.text, 0o644)
}

// A pair is a certificate and its key, as PEM.
type pair struct{ certificate, key []byte }

// issue signs a certificate and writes it as FILE.crt and FILE.key. With hosts it is a server's, without a client's.
func (a *authority) issue(file string, subject pkix.Name, hosts ...string) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	form := &x509.Certificate{
		Subject: subject, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if len(hosts) > 0 {
		form.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			form.IPAddresses = append(form.IPAddresses, ip)
		} else {
			form.DNSNames = append(form.DNSNames, host)
		}
	}
	if err := dated(form); err != nil {
		return pair{}, err
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return pair{}, fmt.Errorf("certificate of %s: %w", file, err)
	}
	p := pair{certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})}
	if p.key, err = keyText(key); err != nil {
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

// dated gives a certificate its number and its time, an hour of which is past: clocks are set back.
func dated(form *x509.Certificate) (err error) {
	form.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	now := time.Now()
	form.NotBefore, form.NotAfter = now.Add(-time.Hour), now.Add(validity)
	return err
}
