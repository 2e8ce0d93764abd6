package apiserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

// Listener is a socket on which a Server answers, over TLS, clients that know the
// token. Serve it, or Close it.
type Listener struct {
	server    *Server
	socket    net.Listener
	host      string // for a URL
	token     string
	authority []byte
	serving   tls.Certificate
}

// Loopback is the address that Listen takes for "": a free port, for this machine
// alone.
const Loopback = "127.0.0.1:0"

// Listen opens a socket at an address such as 127.0.0.1:6443; port 0 is a free
// one. Clients are queued until Serve. The certificate and the token are made again
// and are nowhere but in the Listener.
func (s *Server) Listen(address string) (*Listener, error) {
	if address == "" {
		address = Loopback
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		reason := err.Error()
		if a := (*net.AddrError)(nil); errors.As(err, &a) {
			reason = a.Err
		}
		return nil, fmt.Errorf("listen on %q: %s: want HOST:PORT, such as %s", address, reason, Loopback)
	}
	serving, authority, err := newCertificate(names(host), time.Now())
	if err != nil {
		return nil, err
	}
	socket, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on %s: port %s is in use: want another, or 0 for one that is free", address, port)
	}
	if err != nil {
		if o := (*net.OpError)(nil); errors.As(err, &o) {
			err = o.Err
		}
		return nil, fmt.Errorf("listen on %q: %w: want HOST:PORT of this machine, such as %s", address, err, Loopback)
	}
	l := &Listener{server: s, socket: socket, token: newToken(), authority: authority, serving: serving}
	l.host = host
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		l.host = "127.0.0.1"
		if ip != nil && ip.To4() == nil && strings.Contains(host, ":") {
			l.host = "::1"
		}
	}
	return l, nil
}

// URL is where the server is for clients on this machine.
func (l *Listener) URL() string {
	port := l.socket.Addr().(*net.TCPAddr).Port
	return "https://" + net.JoinHostPort(l.host, strconv.Itoa(port))
}

// RESTConfig returns how a client in this process reaches the server over the socket.
func (l *Listener) RESTConfig() *rest.Config {
	return &rest.Config{
		Host: l.URL(), BearerToken: l.token,
		TLSClientConfig: rest.TLSClientConfig{CAData: l.authority},
		QPS:             -1,
	}
}

// Serve answers until the context ends; then open watches end, what else is
// answered is finished, and the socket closes. It returns when nothing of it is
// left, with nil where it ended because the context did. It is called once.
func (l *Listener) Serve(ctx context.Context) error {
	w := newWeb(newGuard(l.token, l.server), l.server.settings.blocked)
	w.server.TLSConfig = &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{l.serving},
		DynamicRecordSizingDisabled: true, // small records are for browsers that show the first bytes early
	}
	return w.serve(ctx, l.socket, func(s net.Listener) error { return w.server.ServeTLS(s, "", "") })
}

// Close closes the socket of a Listener that isn't served.
func (l *Listener) Close() error { return l.socket.Close() }
