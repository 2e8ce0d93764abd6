//go:build controlplane

package shell_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/internal/metrics"
	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

func (s *kubectlFixture) source() metrics.Source {
	return metrics.Source{Summaries: s.scripted.Summaries, Nodes: s.nodes, Pods: s.GetPods}
}

// register makes metrics known and waits until the API server reaches them.
func (s *kubectlFixture) register(t *testing.T, o metrics.Options) *metrics.Registration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	r, err := metrics.Register(context.Background(), s.cluster.Config(), s.source(), o)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(s.cluster.Config())
	if err != nil {
		t.Fatal(errors.Join(err, r.Close(ctx)))
	}
	if err := available(ctx, client.Resource(apiServices)); err != nil {
		t.Fatal(errors.Join(err, r.Close(ctx)))
	}
	return r
}

func (s *kubectlFixture) close(t *testing.T, r *metrics.Registration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestKubectlTop(t *testing.T) {
	s := play(t, testcluster.Shared(t), "top", api.ServeOptions{})
	r := s.register(t, metrics.Options{})
	for command, want := range map[string]string{
		"top node":                    `^NAME +CPU\(cores\).*\n(.+\n)*top +\d+m +\d+% +\d+Mi +\d+% *\n`,
		"top node -l group=top":       `^NAME.*\ntop .*\n$`,
		"top pod -n top":              `^NAME.*\nweb-0 +\d+m +\d+Mi *\n$`,
		"top pod -n top web-0":        `^NAME.*\nweb-0 +\d+m +\d+Mi *\n$`,
		"top pod -A -l app=web":       `(?m)^top +web-0 `,
		"top pod -n top --containers": `^POD.*\nweb-0 +app +\d+m +\d+Mi *\n$`,
	} {
		out, errs, code := s.kubectl(t, "", strings.Fields(command)...)
		if !regexp.MustCompile(want).MatchString(out) || code != 0 {
			t.Errorf("kubectl %s: exit %d\n%s%s\nwant %s", command, code, out, errs, want)
		}
	}
	s.close(t, r)
	client, err := dynamic.NewForConfig(s.cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(apiServices).Get(t.Context(), "v1beta1.metrics.k8s.io", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("APIService after Close: %v, want none", err)
	}
	if _, err := s.client.CoreV1().Services("kube-system").Get(t.Context(), "nodesim-metrics", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Service after Close: %v, want none", err)
	}
}

// What an earlier run left is taken over; somebody else's is left alone.
func TestRegisterAgain(t *testing.T) {
	s := play(t, testcluster.Shared(t), "again", api.ServeOptions{})
	left := s.register(t, metrics.Options{}) // as if killed: closed only at the end
	r := s.register(t, metrics.Options{})
	s.close(t, r)
	s.close(t, left) // finds nothing of its own any more

	client, err := dynamic.NewForConfig(s.cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := client.Resource(apiServices).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1beta1.metrics.k8s.io"},
		"spec": map[string]any{
			"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "kube-system", "name": "metrics-server"},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = metrics.Register(t.Context(), s.cluster.Config(), s.source(), metrics.Options{})
	taken := (*metrics.TakenError)(nil)
	if !errors.As(err, &taken) || taken.By != "kube-system/metrics-server" {
		t.Errorf("register beside another: %v, want it to name kube-system/metrics-server", err)
	}
	now, err := client.Resource(apiServices).Get(t.Context(), "v1beta1.metrics.k8s.io", metav1.GetOptions{})
	if err != nil || now.GetUID() != foreign.GetUID() || now.GetLabels() != nil {
		t.Errorf("the other APIService: %v, labels %v, %v", now.GetUID(), now.GetLabels(), err)
	}
	if _, err := s.client.CoreV1().Services("kube-system").Get(t.Context(), "nodesim-metrics", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Service: %v, want none", err)
	}
	if err := metrics.Unregister(t.Context(), client, metrics.Options{}); err != nil {
		t.Errorf("unregister beside another: %v", err)
	}
	if err := client.Resource(apiServices).Delete(t.Context(), "v1beta1.metrics.k8s.io", metav1.DeleteOptions{}); err != nil {
		t.Errorf("the other APIService is gone: %v", err)
	}
}

// A refusing transport answers the first deletion with an error of the server's.
type refusing struct {
	http.RoundTripper
	refused *atomic.Bool
}

func (r refusing) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method == http.MethodDelete && !r.refused.Swap(true) {
		return nil, errors.New("connection lost")
	}
	return r.RoundTripper.RoundTrip(q)
}

func (r refusing) WrappedRoundTripper() http.RoundTripper { return r.RoundTripper }

// What couldn't be removed is removed at the next call, and what a process that was killed has left by another process.
func TestUnregister(t *testing.T) {
	s := play(t, testcluster.Shared(t), "unregister", api.ServeOptions{})
	client, err := dynamic.NewForConfig(s.cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	exist := func(want bool) {
		t.Helper()
		_, api := client.Resource(apiServices).Get(t.Context(), "v1beta1.metrics.k8s.io", metav1.GetOptions{})
		_, service := s.client.CoreV1().Services("kube-system").Get(t.Context(), "nodesim-metrics", metav1.GetOptions{})
		if (api == nil) != want || (service == nil) != want {
			t.Errorf("APIService: %v, Service: %v; want that they are there: %t", api, service, want)
		}
	}
	config := s.cluster.Config()
	var refused atomic.Bool
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return refusing{rt, &refused} })
	r, err := metrics.Register(t.Context(), config, s.source(), metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "connection lost") {
		t.Errorf("close while the server is away: %v", err)
	}
	exist(true)
	if err := r.Close(t.Context()); err != nil {
		t.Errorf("close again: %v", err)
	}
	exist(false)
	killed, err := metrics.Register(t.Context(), s.cluster.Config(), s.source(), metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	exist(true)
	for range 2 {
		if err := metrics.Unregister(t.Context(), client, metrics.Options{}); err != nil {
			t.Errorf("unregister: %v", err)
		}
		exist(false)
	}
	s.close(t, killed)
}

// An API server that has certificates as a client shows them, and both listeners can demand them. To a node that
// declares it can, this one passes kubectl's WebSockets through instead of speaking SPDY
// (k8s.io/kubernetes, pkg/registry/core/pod/rest/subresources.go).
func TestCertificatesAndWebSockets(t *testing.T) {
	folder := t.TempDir()
	authority := signClient(t, folder)
	cert, key := filepath.Join(folder, "client.pem"), filepath.Join(folder, "client.key")
	cluster := testcluster.New(t, testcluster.Options{APIServer: map[string]string{
		"kubelet-client-certificate": cert, "kubelet-client-key": key,
		"proxy-client-cert-file": cert, "proxy-client-key-file": key,
	}})
	s := play(t, cluster, "certs", api.ServeOptions{ClientCA: authority}, "ExtendWebSocketsToKubelet")
	if out, errs, code := s.kubectl(t, "through\n", "-n", "certs", "exec", "-i", "web-0", "--", "sh", "-c", "cat; exit 9"); out != "through\n" || code != 9 {
		t.Errorf("exec: exit %d, %q %q", code, out, errs)
	}
	s.converse(t)
	s.forward(t)
	for _, protocol := range []string{"v5.channel.k8s.io", "SPDY/3.1+portforward.k8s.io"} {
		if !s.spoke(protocol) {
			t.Errorf("found no request in %s, want the API server to pass it on", protocol)
		}
	}
	if out, errs, code := s.kubectl(t, "", "-n", "certs", "logs", "--tail=1", "web-0"); !strings.HasPrefix(out, "heartbeat ") || code != 0 {
		t.Errorf("logs: exit %d, %q %q", code, out, errs)
	}
	r := s.register(t, metrics.Options{ClientCA: authority})
	if out, errs, code := s.kubectl(t, "", "-n", "certs", "top", "pod"); !strings.Contains(out, "web-0") || code != 0 {
		t.Errorf("top: exit %d, %q %q", code, out, errs)
	}
	s.close(t, r)
	if got := anonymous(t, s); got != 401 {
		t.Errorf("without a certificate: %d, want 401", got)
	}
}

// signClient writes a client's certificate and key, and returns the authority that signed it.
func signClient(t *testing.T, folder string) (authority []byte) {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	sign := func(form, parent *x509.Certificate, public *ecdsa.PrivateKey, by *ecdsa.PrivateKey) []byte {
		form.NotBefore, form.NotAfter = time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, form, parent, public.Public(), by)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	caKey, leafKey := key(), key()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, IsCA: true, BasicConstraintsValid: true}
	authority = sign(ca, ca, caKey, caKey)
	leaf := sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, leafKey, caKey)
	der, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"client.pem": leaf, "client.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return authority
}
