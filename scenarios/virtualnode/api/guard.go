package api

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
)

// guard lets in whom the options name: by certificate or by token, as a kubelet's authenticators do, in that order
// (k8s.io/kubernetes, cmd/kubelet/app/auth.go).
func guard(h http.Handler, o ServeOptions) (http.Handler, error) {
	var authorities *x509.CertPool
	if len(o.ClientCA) > 0 {
		authorities = x509.NewCertPool()
		if !authorities.AppendCertsFromPEM(o.ClientCA) {
			return nil, errors.New("client authorities: found no certificate, want one or more in PEM")
		}
	}
	if authorities == nil && o.CheckToken == nil {
		return h, nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !byCertificate(r, authorities) && !byToken(r, o.CheckToken) {
			writeText(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		h.ServeHTTP(w, r)
	}), nil
}

func byCertificate(r *http.Request, authorities *x509.CertPool) bool {
	if authorities == nil || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return false
	}
	between := x509.NewCertPool()
	for _, c := range r.TLS.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := r.TLS.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: authorities, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err == nil
}

func byToken(r *http.Request, check func(context.Context, string) error) bool {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return check != nil && ok && strings.EqualFold(scheme, "Bearer") && token != "" && check(r.Context(), token) == nil
}
