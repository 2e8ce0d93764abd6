package live

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/version"
)

// UnreachableError says that what was asked for its version, the first question of
// all, didn't answer as a Kubernetes API server does.
type UnreachableError struct {
	Server string
	Err    error
}

// Error implements error.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("cluster %s: %s: want %s", e.Server, e.found(), e.wanted())
}

// Unwrap is the client's error.
func (e *UnreachableError) Unwrap() error { return e.Err }

// found is the client's error without what it repeats of the address, and without
// the advice that follows in further lines.
func (e *UnreachableError) found() string {
	err := e.Err
	var get *url.Error
	if errors.As(err, &get) {
		err = get.Err
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message == "unknown" {
		return fmt.Sprintf("found status %d", status.Status().Code)
	}
	text, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return text
}

// wanted is the remedy.
func (e *UnreachableError) wanted() string {
	var (
		name      *net.DNSError
		dial      *net.OpError
		plain     tls.RecordHeaderError
		unknown   x509.UnknownAuthorityError
		elsewhere x509.HostnameError
		invalid   x509.CertificateInvalidError
		status    apierrors.APIStatus
		timed     net.Error
	)
	switch err := e.Err; {
	case errors.As(err, &status):
		return wantedAt(int(status.Status().Code), strings.HasPrefix(e.Server, "http://"))
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return "http:// in its address, since it speaks no TLS"
	case errors.As(err, &unknown):
		return "the certificate authority of that cluster in the kubeconfig: this is that of another"
	case errors.As(err, &elsewhere):
		return "an address that is in its certificate, or tls-server-name in the kubeconfig"
	case errors.As(err, &invalid):
		return "certificates that hold now, and a clock that is right"
	case errors.As(err, &dial) && dial.Op == "proxyconnect":
		return "a proxy that runs, or none (HTTPS_PROXY, proxy-url in the kubeconfig)"
	case errors.As(err, &name):
		return "the name of a host that is known here"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "an API server that runs there, or the address of one that does"
	case errors.Is(err, errForeign):
		return "the address of one"
	case errors.As(err, &timed) && timed.Timeout(), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "an API server that answers within " + attemptMost.String() + ", and a way there that no firewall bars"
	}
	return "a kubeconfig that leads to an API server"
}

// wantedAt is the remedy where something has answered.
func wantedAt(code int, plain bool) string {
	switch {
	case code == http.StatusBadRequest && plain:
		return "https:// in its address"
	case code == http.StatusUnauthorized:
		return "credentials that it takes: those of the kubeconfig are missing, of another cluster, or have expired"
	case code == http.StatusForbidden:
		return "a user who may get /version, as all do by default (ClusterRole system:public-info-viewer)"
	case code >= http.StatusInternalServerError, code == http.StatusTooManyRequests:
		return "an API server that is well: try again later"
	}
	return "the address of a Kubernetes API server"
}

// errForeign says that what answers is something else.
var errForeign = errors.New("what answers there is no Kubernetes API server")

// checkVersion says what is wrong with an answer to the question for the version.
func checkVersion(text []byte) error {
	var v version.Info
	if json.Unmarshal(text, &v) != nil || v.Major == "" {
		return errForeign
	}
	return nil
}
