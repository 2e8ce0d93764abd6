package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// Who shows no certificate of the authorities is told nothing; where there are none,
// nobody is told what is in pods.
func TestWhoMayComeToKubelets(t *testing.T) {
	served := api.PodHandlerConfig{
		GetPods: func(context.Context) ([]*corev1.Pod, error) { return nil, nil },
		GetPodsFromKubernetes: func(context.Context) ([]*corev1.Pod, error) {
			return []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}}}, nil
		},
		GetContainerLogs: func(context.Context, string, string, string, api.ContainerLogOpts) (io.ReadCloser, error) {
			return http.NoBody, nil
		},
	}
	for what, c := range map[string]struct {
		authorities []byte
		logs, pods  int
	}{
		"no authority is known":        {nil, http.StatusOK, http.StatusNotImplemented},
		"a certificate is to be shown": {someAuthority(t), http.StatusUnauthorized, http.StatusUnauthorized},
	} {
		t.Run(what, func(t *testing.T) {
			p, err := New(&rest.Config{}, file(t), KubeletClients(c.authorities))
			if err != nil {
				t.Fatal(err)
			}
			server, _, err := p.serve(t.Context(), served)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := server.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			for path, want := range map[string]int{"/containerLogs/shop/web-0/app": c.logs, "/pods": c.pods} {
				if got := strangerGets(t, server, path); got != want {
					t.Errorf("GET %s: %d, want %d", path, got, want)
				}
			}
		})
	}
}

// someAuthority is one that has signed nothing but itself.
func someAuthority(t *testing.T) []byte {
	t.Helper()
	server, err := api.Serve(t.Context(), api.PodHandlerConfig{}, api.ServeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// strangerGets is the status of the answer to one who shows no certificate.
func strangerGets(t *testing.T, server *api.Server, path string) int {
	t.Helper()
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+server.Address()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}
