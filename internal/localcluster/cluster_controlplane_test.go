//go:build controlplane

package localcluster

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// up starts a control plane for a test, and wants it to leave nothing when it ends.
func up(t *testing.T, o Options) (*ControlPlane, kubernetes.Interface) {
	t.Helper()
	t.Setenv("NODESIM_KEEP", "")
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	web, err := rest.HTTPClientFor(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfigAndClient(c.Config(), web)
	if err != nil {
		t.Fatal(err)
	}
	pids := c.PIDs()
	t.Cleanup(func() {
		utilnet.CloseIdleConnectionsFor(web.Transport)
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(c.group.Path()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder: found %v, want it gone", err)
		}
		for name, pid := range pids {
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("%s: found %v, want it gone", name, err)
			}
		}
	})
	if len(pids) != len(Components()) {
		t.Errorf("found the processes %v, want %v", pids, Components())
	}
	return c, client
}

// within waits for a condition of the cluster.
func within(t *testing.T, limit time.Duration, what string, ok func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		done, err := ok(ctx)
		if done {
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %s (%v)", what, limit, last)
		case <-tick.C:
		}
	}
}

// node makes a Node that is ready, with a kubelet port on loopback.
func node(t *testing.T, client kubernetes.Interface, name string, port int, cordoned bool) {
	t.Helper()
	some := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NodeSpec{Unschedulable: cordoned},
		Status: corev1.NodeStatus{
			Capacity: some, Allocatable: some,
			Conditions:      []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now()}},
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "127.0.0.1"}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(port)}},
		},
	}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// renew has the kubelets of nodes say that they live.
func renew(ctx context.Context, client kubernetes.Interface, nodes ...string) error {
	for _, name := range nodes {
		patch := fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q},"spec":{"renewTime":%q}}`, name, time.Now().UTC().Format(metav1.RFC3339Micro))
		if _, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Patch(ctx, name, types.ApplyPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubelet"}); err != nil {
			return err
		}
	}
	return nil
}

// A deployment's pods are made and bound; the API server comes to their kubelet as itself; when the node falls silent,
// it is noticed and cleared at the speed that was asked for; and all writes are in the audit log, under the names of
// those who wrote.
func TestTheControlPlaneWorks(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.jsonl")
	c, client := up(t, Options{Speed: 50, AuditLog: audit})
	kubelet := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.TLS.PeerCertificates[0].Subject.CommonName, r.URL.Path)
	}))
	kubelet.TLS = mutual(t, c)
	kubelet.StartTLS()
	defer kubelet.Close()

	port := kubelet.Listener.Addr().(*net.TCPAddr).Port
	node(t, client, "node-1", port, false)
	node(t, client, "node-2", port, true) // where all nodes are silent, none is cleared
	replicas, labels := int32(3), map[string]string{"app": "web"}
	if _, err := client.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var pods *corev1.PodList
	within(t, 10*time.Minute, "three pods to be bound", func(ctx context.Context) (bool, error) {
		if err := renew(ctx, client, "node-1", "node-2"); err != nil {
			return false, err
		}
		var err error
		pods, err = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=node-1"})
		return err == nil && len(pods.Items) == 3, err
	})
	pod := pods.Items[0].Name
	log, err := client.CoreV1().Pods("default").GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(t.Context())
	if want := "kube-apiserver-kubelet-client /containerLogs/default/" + pod + "/web"; err != nil || string(log) != want {
		t.Errorf("the kubelet: found %q, %v, want %q", log, err, want)
	}
	for _, toleration := range pods.Items[0].Spec.Tolerations {
		if seconds := toleration.TolerationSeconds; seconds == nil || *seconds != int64(c.pace.Toleration) {
			t.Errorf("found the toleration %+v, want %d s", toleration, c.pace.Toleration)
		}
	}
	within(t, 10*time.Minute, "the pods of the silent node to be deleted", func(ctx context.Context) (bool, error) {
		if err := renew(ctx, client, "node-2"); err != nil {
			return false, err
		}
		old, err := client.CoreV1().Pods("default").Get(ctx, pod, metav1.GetOptions{})
		return err == nil && old.DeletionTimestamp != nil, err
	})
	within(t, 10*time.Minute, "the writes to be in the audit log", func(context.Context) (bool, error) {
		return wrote(t, audit,
			"create deployments by kubernetes-admin",
			"create pods by system:serviceaccount:kube-system:replicaset-controller",
			"create pods/binding by system:kube-scheduler",
			"delete pods by system:serviceaccount:kube-system:node-controller")
	})
}

// mutual returns the TLS of a kubelet that asks for client certificates.
func mutual(t *testing.T, c *ControlPlane) *tls.Config {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(c.Config().CAData) {
		t.Fatal("found no certificate in CAData")
	}
	return &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
}

// wrote reports whether lines such as "delete pods by somebody" are all in an audit log.
func wrote(t *testing.T, file string, wants ...string) (bool, error) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	found := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text[:bytes.LastIndexByte(text, '\n')+1]))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Level, Verb string
			User        struct{ Username string }
			ObjectRef   struct{ Resource, Subresource string }
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v: %s", file, err, lines.Bytes())
		}
		if e.Level != "Metadata" || e.Verb == "get" || e.Verb == "list" || e.Verb == "watch" || e.ObjectRef.Resource == "leases" || e.ObjectRef.Resource == "events" {
			t.Fatalf("found %s, want writes alone, without leases and events", lines.Bytes())
		}
		what := e.ObjectRef.Resource
		if e.ObjectRef.Subresource != "" {
			what += "/" + e.ObjectRef.Subresource
		}
		found[e.Verb+" "+what+" by "+e.User.Username] = true
	}
	for _, want := range wants {
		if !found[want] {
			return false, fmt.Errorf("found no %q", want)
		}
	}
	return true, nil
}

// Two at once don't know each other. A program that ends by itself is told of.
func TestTwoAtOnceAndOneThatBreaks(t *testing.T) {
	first, _ := up(t, Options{Name: "one"})
	second, client := up(t, Options{Name: "two"})
	kubeconfig, err := os.ReadFile(second.KubeconfigPath())
	if err != nil || first.URL() == second.URL() || !strings.Contains(string(kubeconfig), "nodesim-two") {
		t.Errorf("found %s and %s, %v, want two", first.URL(), second.URL(), err)
	}
	if err := first.Err(); err != nil {
		t.Errorf("found %v before anything has happened", err)
	}
	if err := syscall.Kill(first.PIDs()[Scheduler], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.Done():
	case <-t.Context().Done():
	}
	if err := first.Err(); err == nil || !strings.Contains(err.Error(), "kube-scheduler ended by itself, with signal: killed; its log ends with ") {
		t.Errorf("found %v, want the end of kube-scheduler", err)
	}
	if _, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the second: %v", err)
	}
	copied := filepath.Join(t.TempDir(), "kubeconfig")
	if err := second.CopyKubeconfig(copied); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("found %v, %v, want mode 0600", info, err)
	}
	if err := first.CopyKubeconfig(copied); err == nil || !strings.Contains(err.Error(), "is there already: want another file") {
		t.Errorf("over the other's kubeconfig: found %v", err)
	}
}

// The real kube-apiserver says that its port is taken in the lines that an error shows, by which Start knows that it
// has to try another.
func TestAPortThatWasTakenMeanwhile(t *testing.T) {
	nothingLeft(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	_, err = Start(t.Context(), Options{Flags: map[string]map[string]string{APIServer: {"secure-port": port}}})
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver ended by itself") || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("found %v, want the address in use", err)
	}
}
