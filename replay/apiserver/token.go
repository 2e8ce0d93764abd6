package apiserver

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// newToken returns a secret of 130 random bits.
func newToken() string { return rand.Text() }

// guard lets only clients through that know the token, as kube-apiserver does with
// --anonymous-auth=false: whatever the path, every other client gets the same 401.
type guard struct {
	sum  [sha256.Size]byte
	next http.Handler
}

func newGuard(token string, next http.Handler) *guard {
	return &guard{sha256.Sum256([]byte(token)), next}
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	// Hashes have one length, and how much of them agrees tells nothing.
	sum := sha256.Sum256([]byte(bearer(req)))
	if subtle.ConstantTimeCompare(sum[:], g.sum[:]) != 1 {
		w.Header().Set("Cache-Control", "no-cache, private")
		if req.ProtoMajor == 2 {
			// endpoints/filters/authentication.go of k8s.io/apiserver: no open
			// connections for unknown clients.
			w.Header().Set("Connection", "close")
		}
		refuse(w, req, apierrors.NewUnauthorized("Unauthorized"))
		return
	}
	// Nothing after needs it.
	req.Header.Del("Authorization")
	g.next.ServeHTTP(w, req)
}

// bearer is the token of a request, found as authentication/request/bearertoken of
// k8s.io/apiserver finds it.
func bearer(req *http.Request) string {
	parts := strings.SplitN(strings.TrimSpace(req.Header.Get("Authorization")), " ", 3)
	if len(parts) < 2 || !strings.EqualFold(parts[0], "bearer") {
		return ""
	}
	return parts[1]
}
