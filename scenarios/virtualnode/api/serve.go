package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// ServeOptions say how to listen. The zero value listens on a free port of 127.0.0.1 and lets everybody in.
type ServeOptions struct {
	// Address is host:port; "" is 127.0.0.1:0.
	Address string

	// Certificate is the server's certificate; nil makes a key and a certificate for the address, in memory, as a
	// kubelet does by default. kube-apiserver looks at it only with --kubelet-certificate-authority.
	Certificate *tls.Certificate
	// Names are further DNS names, or IP addresses, of a certificate that is made.
	Names []string

	// ClientCA, in PEM, lets in clients with a certificate of one of these authorities, for kube-apiserver that of
	// --kubelet-client-certificate. CheckToken lets in clients with a bearer token that it returns no error for. Where
	// either is set, everybody else is answered with 401.
	ClientCA   []byte
	CheckToken func(ctx context.Context, token string) error

	// Debug also serves /runningpods/.
	Debug bool
}

// kubeletIdleTimeout is a kubelet's default of streamingConnectionIdleTimeout.
const kubeletIdleTimeout = 4 * time.Hour

// Serve listens and serves a kubelet's routes over TLS until [Server.Close], or until the context ends, which cuts
// streams off; Close must be called in any case. One server does for any number of nodes: a request names the pod.
// A StreamIdleTimeout of 0 is four hours here, as with a kubelet.
//
// Each Node that is reached through the server has to say so in its status: [Server.Endpoints] and [Server.NodeAddress].
func Serve(ctx context.Context, p PodHandlerConfig, o ServeOptions) (*Server, error) {
	if p.StreamIdleTimeout == 0 {
		p.StreamIdleTimeout = kubeletIdleTimeout
	}
	return Listen(ctx, PodHandler(p, o.Debug), o)
}

// Listen is [Serve] for a handler of any kind.
func Listen(ctx context.Context, h http.Handler, o ServeOptions) (*Server, error) {
	address := o.Address
	if address == "" {
		address = "127.0.0.1:0"
	}
	h, err := guard(h, o)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for the API server: %w", err)
	}
	s := &Server{address: listener.Addr().(*net.TCPAddr), served: make(chan struct{})}
	certificate := o.Certificate
	if certificate == nil {
		if certificate, err = selfSigned(s.address.IP, o.Names); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	s.certificate = certificate
	ctx, s.cancel = context.WithCancel(ctx)
	s.http = &http.Server{
		Handler:           s.counted(h),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       90 * time.Second, // the rest as in k8s.io/kubernetes, pkg/kubelet/server/server.go
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          log.New(quietly{}, "", 0),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*certificate}, ClientAuth: tls.RequestClientCert,
		},
	}
	s.conns.open = map[net.Conn]bool{}
	go func() {
		defer close(s.served)
		_ = s.http.ServeTLS(s.conns.watch(listener), "", "") // ends with ErrServerClosed
	}()
	return s, nil
}

// A Server is a running listener. Its methods are safe for concurrent use.
type Server struct {
	address     *net.TCPAddr
	certificate *tls.Certificate
	http        *http.Server
	cancel      context.CancelFunc
	served      chan struct{}
	conns       connections

	mu       sync.Mutex
	closing  bool
	handlers sync.WaitGroup
}

// Address is host:port, with the port that was found.
func (s *Server) Address() string { return s.address.String() }

// Port is the port.
func (s *Server) Port() int32 { return int32(s.address.Port) }

// Endpoints returns the status.daemonEndpoints of a Node.
func (s *Server) Endpoints() corev1.NodeDaemonEndpoints {
	return corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: s.Port()}}
}

// NodeAddress is the address to put into status.addresses of a Node. kube-apiserver prefers an address of type
// Hostname or InternalDNS to this one (--kubelet-preferred-address-types), so that the Node must have neither, unless
// they lead here too.
func (s *Server) NodeAddress() corev1.NodeAddress {
	return corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: s.address.IP.String()}
}

// Certificate is the server's certificate, in DER.
func (s *Server) Certificate() *x509.Certificate { return s.certificate.Leaf }

// Close ends the server: it accepts nothing more, ends the contexts of all requests and streams, and waits for them.
// When ctx ends, the connections that are left are cut; a function that still runs then is reported after a second.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.cancel()
	err := s.http.Shutdown(ctx)
	<-s.served
	done := make(chan struct{})
	go func() {
		s.handlers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	s.conns.cut()
	select {
	case <-done:
	case <-time.After(time.Second):
		return errors.Join(err, errors.New("close the kubelet's API: found requests that go on, want their functions to obey their contexts"))
	}
	if err != nil {
		return fmt.Errorf("close the kubelet's API: %w", errors.Join(err, s.http.Close()))
	}
	return nil
}

// counted counts the requests under way, streams included, which net/http doesn't wait for.
func (s *Server) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.closing {
			s.mu.Unlock()
			writeText(w, http.StatusServiceUnavailable, "the node is closing")
			return
		}
		s.handlers.Add(1)
		s.mu.Unlock()
		defer s.handlers.Done()
		h.ServeHTTP(w, r)
	})
}

// quietly logs what net/http has to say of clients, such as failed handshakes, at a level that is hidden by default.
type quietly struct{}

func (quietly) Write(p []byte) (int, error) {
	klog.V(2).InfoS("Kubelet API", "message", string(p))
	return len(p), nil
}
