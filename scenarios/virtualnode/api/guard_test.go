package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// clientOf makes a certificate for a client, and the authority that signed it.
func clientOf(t *testing.T) (certificate tls.Certificate, authority []byte) {
	t.Helper()
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	root, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: ca.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, ca, key.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root})
}

func TestWhoIsLetIn(t *testing.T) {
	good, authority := clientOf(t)
	bad, _ := clientOf(t)
	_, config := serve(t, everything(), ServeOptions{ClientCA: authority, CheckToken: func(_ context.Context, token string) error {
		if token != "secret" {
			return errors.New("unknown token")
		}
		return nil
	}})
	for name, c := range map[string]struct {
		certificate *tls.Certificate
		header      string
		status      int
	}{
		"nobody":              {nil, "", 401},
		"certificate":         {&good, "", 200},
		"foreign certificate": {&bad, "", 401},
		"token":               {nil, "Bearer secret", 200},
		"wrong token":         {nil, "Bearer guess", 401},
		"empty token":         {nil, "Bearer ", 401},
		"other scheme":        {nil, "Basic secret", 401},
		"either will do":      {&bad, "bearer secret", 200},
	} {
		if got := status(t, config, c.certificate, c.header); got != c.status {
			t.Errorf("%s: %d, want %d", name, got, c.status)
		}
	}
	if _, err := Serve(t.Context(), everything(), ServeOptions{ClientCA: []byte("no PEM")}); err == nil {
		t.Error("a server without authorities to believe has started")
	}
}

func status(t *testing.T, config *rest.Config, certificate *tls.Certificate, header string) int {
	t.Helper()
	secure, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	if certificate != nil {
		secure.Certificates = []tls.Certificate{*certificate}
	}
	transport := &http.Transport{TLSClientConfig: secure}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), "GET", config.Host+"/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != "" {
		request.Header.Set("Authorization", header)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestWhatNodesSay(t *testing.T) {
	s, _ := serve(t, everything(), ServeOptions{})
	if s.Port() == 0 || s.Endpoints().KubeletEndpoint.Port != s.Port() || s.NodeAddress().Address != "127.0.0.1" {
		t.Errorf("port %d, endpoints %+v, address %+v", s.Port(), s.Endpoints(), s.NodeAddress())
	}
	if _, err := Serve(t.Context(), everything(), ServeOptions{Address: s.Address()}); err == nil {
		t.Error("two servers listen on one port")
	}
}
