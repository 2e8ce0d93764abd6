package apiserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/replay/apiserver"
)

// client speaks one version of HTTP to a Listener, with its token or without.
func client(t *testing.T, l *apiserver.Listener, major int) (*http.Client, string) {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.RESTConfig().CAData)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: major == 2}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, l.RESTConfig().BearerToken
}

func request(t *testing.T, url, authorization string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	return req
}

func TestBothVersionsOfHTTP(t *testing.T) {
	s, _ := demo(t)
	l, _ := listening(t, s)
	for _, major := range []int{1, 2} {
		c, token := client(t, l, major)
		res, err := c.Do(request(t, l.URL()+"/api/v1/nodes", "Bearer "+token))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 200 || res.ProtoMajor != major {
			t.Errorf("%s, %s; want 200 over HTTP/%d", res.Status, res.Proto, major)
		}
	}
}

// Nothing is told to clients that don't know the token: not that a path is there, not
// which server this is.
func TestNothingWithoutTheToken(t *testing.T) {
	reached := ""
	s, _ := demo(t, apiserver.Mount("/nodesim.dev/", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached = r.URL.Path })))
	l, _ := listening(t, s)
	const want = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`
	for _, major := range []int{1, 2} {
		c, token := client(t, l, major)
		for _, path := range []string{
			"/", "/livez", "/readyz", "/healthz", "/version", "/api", "/apis", "/openapi/v3", "/api/v1/nodes", "/api/v1/nodes?watch=1",
			"/api/v1/nodes/ip-10-0-1-12", "/nodesim.dev/v1/status", "/nothing", "/api/v1/nodes?access_token=" + token,
		} {
			for _, authorization := range []string{
				"", "Bearer", "Bearer ", "Bearer  " + token, "Bearer " + token[1:], "Bearer " + token + "x", "Bearer " + strings.ToLower(token),
				"Basic " + token, token, "Bearer expired " + token,
			} {
				res, err := c.Do(request(t, l.URL()+path, authorization))
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if res.StatusCode != 401 || strings.TrimSpace(string(body)) != want {
					t.Fatalf("%s with %q: %s\n%s", path, authorization, res.Status, body)
				}
			}
		}
		if reached != "" {
			t.Errorf("%s was reached without the token", reached)
		}
		for _, authorization := range []string{"Bearer " + token, "bearer " + token, " BEARER " + token + " "} {
			res, err := c.Do(request(t, l.URL()+"/nodesim.dev/v1/status", authorization))
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != 200 || reached != "/nodesim.dev/v1/status" {
				t.Errorf("with %q: %s", authorization, res.Status)
			}
			reached = ""
		}
	}
}

func TestCertificate(t *testing.T) {
	s, _ := demo(t)
	l, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.RESTConfig().CAData)
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(l.URL(), "https://"), &tls.Config{RootCAs: pool, ServerName: name, MinVersion: tls.VersionTLS12})
		if err != nil {
			t.Fatalf("as %s: %v", name, err)
		}
		c := conn.ConnectionState().PeerCertificates[0]
		_ = conn.Close()
		if got := time.Until(c.NotAfter); got < 364*24*time.Hour || got > 365*24*time.Hour {
			t.Errorf("good for another %s, want a year", got)
		}
		if got := time.Since(c.NotBefore); got < time.Hour || got > 2*time.Hour {
			t.Errorf("good since %s ago, want an hour", got)
		}
		if c.PublicKeyAlgorithm != x509.ECDSA || c.IsCA {
			t.Errorf("%s, authority %t: want an ECDSA key of a server", c.PublicKeyAlgorithm, c.IsCA)
		}
	}
	if _, err := tls.Dial("tcp", strings.TrimPrefix(l.URL(), "https://"), &tls.Config{RootCAs: pool, ServerName: "example.com", MinVersion: tls.VersionTLS12}); err == nil {
		t.Error("it calls itself example.com")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	s, _ := demo(t)
	taken, err := s.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	used := strings.TrimPrefix(taken.URL(), "https://")
	_, port, _ := net.SplitHostPort(used)
	for address, want := range map[string]string{
		used:            "listen on " + used + ": port " + port + " is in use: want another, or 0 for one that is free",
		"6443":          `listen on "6443": missing port in address: want HOST:PORT, such as 127.0.0.1:0`,
		"127.0.0.1:99x": `listen on "127.0.0.1:99x": lookup tcp/99x: `,
	} {
		if _, err := s.Listen(address); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", address, err, want)
		}
	}
	everywhere, err := s.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(everywhere.URL(), "https://127.0.0.1:") {
		t.Errorf("everywhere is %s", everywhere.URL())
	}
	_ = everywhere.Close()
}

// What breaks off in the middle doesn't look whole, and the server continues.
func TestHalfAnAnswerIsNone(t *testing.T) {
	s, _ := demo(t, apiserver.Mount("/half/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})))
	l, _ := listening(t, s)
	for _, major := range []int{1, 2} {
		c, token := client(t, l, major)
		res, err := c.Do(request(t, l.URL()+"/half/", "Bearer "+token))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(res.Body); err == nil || string(body) != "half" {
			t.Errorf("HTTP/%d: %q, %v", major, body, err)
		}
		_ = res.Body.Close()
		if res, err = c.Do(request(t, l.URL()+"/version", "Bearer "+token)); err != nil || res.StatusCode != 200 {
			t.Errorf("HTTP/%d, after it: %v", major, err)
		}
		_ = res.Body.Close()
	}
}

func TestRESTConfigIsTheCallers(t *testing.T) {
	s, _ := demo(t)
	a, b := s.RESTConfig(), s.RESTConfig()
	a.UserAgent = "mine"
	if diff := cmp.Diff("", b.UserAgent); diff != "" || a == b {
		t.Errorf("shared: %s", diff)
	}
}
