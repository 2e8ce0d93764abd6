package live

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// connected is what a Runner says of a server before it asks anything else.
func connected(t *testing.T, config *rest.Config) string {
	t.Helper()
	p := &Runner{config: config}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c, err := p.connect(ctx)
	if err == nil {
		c.close()
		t.Fatal("no error")
	}
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || unreachable.Server != config.Host {
		t.Errorf("error %v: want an *UnreachableError of %s", err, config.Host)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than a line: %q", err)
	}
	return strings.ReplaceAll(err.Error(), config.Host, "HOST")
}

func answering(t *testing.T, code int, text string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text)) // the client is gone
	}))
	t.Cleanup(s.Close)
	return s
}

// Whatever is wrong with a server is one line that ends in the remedy.
func TestServersThatCannotBeUsed(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := answering(t, 200, "{}")
	proxied := &rest.Config{Host: "https://127.0.0.1:1", Proxy: http.ProxyURL(mustURL(t, "http://"+nobody))}
	for _, c := range []struct {
		name   string
		config *rest.Config
		want   []string // found, and the remedy at the end
	}{
		{"nobody listens", &rest.Config{Host: "https://" + nobody}, []string{"cluster HOST: dial tcp ", "connection refused: want an API server that runs there, or the address of one that does"}},
		{"a host that isn't", &rest.Config{Host: "https://no-such-host.invalid"}, []string{"no-such-host.invalid", ": want the name of a host that is known here"}},
		{"TLS to one without", &rest.Config{Host: "https://" + strings.TrimPrefix(plain.URL, "http://")}, []string{"server gave HTTP response to HTTPS client", ": want http:// in its address, since it speaks no TLS"}},
		{"no TLS to one with", &rest.Config{Host: "http://" + strings.TrimPrefix(secure.URL, "https://")}, []string{": want https:// in its address"}},
		{"another authority", &rest.Config{Host: secure.URL}, []string{"x509: ", ": want the certificate authority of that cluster in the kubeconfig: this is that of another"}},
		{"no authority", &rest.Config{Host: secure.URL, TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x")}}, []string{"PEM", ": want a kubeconfig that leads to an API server"}},
		{"no proxy", proxied, []string{"proxyconnect", ": want a proxy that runs, or none (HTTPS_PROXY, proxy-url in the kubeconfig)"}},
		{"who are you", &rest.Config{Host: answering(t, 401, "").URL}, []string{": want credentials that it takes: those of the kubeconfig are missing, of another cluster, or have expired"}},
		{"not you", &rest.Config{Host: answering(t, 403, "").URL}, []string{": want a user who may get /version, as all do by default (ClusterRole system:public-info-viewer)"}},
		{"ill", &rest.Config{Host: answering(t, 503, "upstream\nis gone").URL}, []string{": want an API server that is well: try again later"}},
		{"a web page", &rest.Config{Host: answering(t, 200, "<html>\nhello").URL}, []string{"cluster HOST: what answers there is no Kubernetes API server: want the address of one"}},
		{"no page", &rest.Config{Host: answering(t, 404, "404 page not found\n").URL}, []string{": want the address of a Kubernetes API server"}},
	} {
		got := connected(t, c.config)
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s\nwant in it: %s", c.name, got, part)
			}
		}
		if !strings.HasSuffix(got, c.want[len(c.want)-1]) {
			t.Errorf("%s: %s\nwant the remedy at its end", c.name, got)
		}
	}
}
