package apiserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestKubeconfig(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, _ := demo(t)
	l, _ := listening(t, s)
	chosen := filepath.Join(t.TempDir(), "config")
	for _, path := range []string{"", chosen, chosen} {
		k, err := l.WriteKubeconfig(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(k.Path); err != nil || info.Mode().Perm() != 0o600 || !filepath.IsAbs(k.Path) {
			t.Fatalf("%s: %v, %v", k.Path, info, err)
		}
		written, err := clientcmd.LoadFromFile(k.Path)
		if err != nil || written.CurrentContext != "nodesim-demo" {
			t.Fatalf("context %q, %v", written.CurrentContext, err)
		}
		config, err := clientcmd.BuildConfigFromFlags("", k.Path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		clients, err := kubernetes.NewForConfigAndClient(config, c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
		utilnet.CloseIdleConnectionsFor(c.Transport) // a graceful end waits a second for clients to leave
		if path == "" {
			if err := k.Remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(k.Path); !os.IsNotExist(err) {
				t.Errorf("%s is still there: %v", k.Path, err)
			}
			if err := k.Remove(); err != nil {
				t.Errorf("a second time: %v", err)
			}
		}
	}
	left, err := os.ReadDir(filepath.Dir(chosen))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want the kubeconfig alone", left, err)
	}
}

// What others wrote is neither overwritten nor removed.
func TestKubeconfigsOfOthers(t *testing.T) {
	s, _ := demo(t)
	l, err := s.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	path := filepath.Join(t.TempDir(), "config")
	mine, err := l.WriteKubeconfig(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if _, err := other.WriteKubeconfig(path); err != nil {
		t.Fatal(err)
	}
	if err := mine.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("the first one has removed the second one's")
	}
	for _, text := range []string{"", "not yaml: [", "apiVersion: v1\nkind: Config\nclusters: [{name: prod, cluster: {server: https://prod}}]\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.WriteKubeconfig(path); err == nil || !strings.Contains(err.Error(), "is there already, and not from a replay: want another file") {
			t.Errorf("over %q: %v", text, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q is now %q, %v", text, got, err)
		}
	}
	if _, err := l.WriteKubeconfig(filepath.Join(path, "below")); err == nil {
		t.Error("a file below a file")
	}
	if _, err := l.WriteKubeconfig(filepath.Dir(path)); err == nil {
		t.Error("a folder")
	}
}

// A file that leads to a server which still answers stays as it is; after its
// end another server may have it.
func TestALivingServersKubeconfigStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	s, _ := demo(t)
	first, end := listening(t, s)
	if _, err := first.WriteKubeconfig(path); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := demo(t)
	second, _ := listening(t, other)
	if _, err := second.WriteKubeconfig(path); err == nil || !strings.Contains(err.Error(), first.URL()) {
		t.Errorf("found %v, want that %s still answers", err, first.URL())
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed: %v", err)
	}
	end()
	if _, err := second.WriteKubeconfig(path); err != nil {
		t.Error(err)
	}
}
