//go:build controlplane

package shell_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/internal/shell"
	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// kubectlFixture is a cluster with one virtual node, one pod on it that is said to run, and a kubectl.
type kubectlFixture struct {
	name       string
	cluster    *testcluster.Cluster
	client     kubernetes.Interface
	scripted   *shell.Scripted
	server     *api.Server
	streams    atomic.Int32 // commands and logs under way
	protocols  sync.Map     // that requests have asked for
	kubectlBin string
	home       string
	env        []string
}

// play prepares the fixture; the namespace, the node and the pod have the given name.
func play(t *testing.T, cluster *testcluster.Cluster, name string, o api.ServeOptions, declared ...string) *kubectlFixture {
	t.Helper()
	s := &kubectlFixture{name: name, cluster: cluster, client: cluster.Client(), home: t.TempDir()}
	var err error
	if s.kubectlBin, err = assets.Find("kubectl"); err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(s.home, "kubeconfig")
	if err := testcluster.WriteKubeconfig(kubeconfig, cluster.Config()); err != nil {
		t.Fatal(err)
	}
	s.env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+s.home, "TERM=xterm")
	s.scripted = &shell.Scripted{Pods: s, Nodes: s.nodes, Heartbeat: time.Second}
	config := s.scripted.Config()
	config.GetContainerLogs = func(ctx context.Context, namespace, pod, container string, o api.ContainerLogOpts) (io.ReadCloser, error) {
		log, err := s.scripted.Logs(ctx, namespace, pod, container, o)
		if err != nil {
			return nil, err
		}
		s.streams.Add(1)
		return &counted{log, &s.streams}, nil
	}
	config.RunInContainer = func(ctx context.Context, namespace, pod, container string, cmd []string, attach api.AttachIO) error {
		s.streams.Add(1)
		defer s.streams.Add(-1)
		return s.scripted.Exec(ctx, namespace, pod, container, cmd, attach)
	}
	if len(declared) == 0 {
		s.server, err = api.Serve(context.Background(), config, o)
	} else { // the same, and looked at
		config.StreamIdleTimeout = time.Hour
		s.server, err = api.Listen(context.Background(), s.listenTo(api.PodHandler(config, false)), o)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
		defer cancel()
		if err := s.server.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	s.create(t, name, declared)
	return s
}

func (s *kubectlFixture) listenTo(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, list := range r.Header["Sec-Websocket-Protocol"] {
			for one := range strings.SplitSeq(list, ",") {
				s.protocols.Store(strings.TrimSpace(one), true)
			}
		}
		h.ServeHTTP(w, r)
	})
}

// spoke says whether a request has asked for a protocol of WebSocket.
func (s *kubectlFixture) spoke(protocol string) bool {
	_, ok := s.protocols.Load(protocol)
	return ok
}

type counted struct {
	io.ReadCloser
	open *atomic.Int32
}

func (c *counted) Close() error {
	c.open.Add(-1)
	return c.ReadCloser.Close()
}

func (s *kubectlFixture) create(t *testing.T, name string, declared []string) {
	t.Helper()
	ctx := t.Context()
	namespaces, nodes, pods := s.client.CoreV1().Namespaces(), s.client.CoreV1().Nodes(), s.client.CoreV1().Pods(name)
	if _, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi")}
	node, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"group": name}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node.Status = corev1.NodeStatus{
		Capacity: room, Allocatable: room, DaemonEndpoints: s.server.Endpoints(), Addresses: []corev1.NodeAddress{s.server.NodeAddress()},
		DeclaredFeatures: declared,
	}
	if _, err := nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: "app", Image: "shop/web:1.2", Stdin: true, TTY: true, Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("100Mi")},
		}}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	started := metav1.NewTime(time.Now().Add(-time.Minute).Truncate(time.Second))
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &started,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(started.Add(time.Second))}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app", Image: "shop/web:1.2", Ready: true, ContainerID: "nodesim://1",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		}},
	}
	if _, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// GetPod implements shell.Pods.
func (s *kubectlFixture) GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	return s.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
}

// GetPods implements shell.Pods.
func (s *kubectlFixture) GetPods(ctx context.Context) ([]*corev1.Pod, error) {
	list, err := s.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var all []*corev1.Pod
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, nil
}

func (s *kubectlFixture) nodes(ctx context.Context) ([]*corev1.Node, error) {
	list, err := s.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var all []*corev1.Node
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, nil
}

// command is a kubectl that isn't started yet; it ends with the test at the latest.
func (s *kubectlFixture) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, s.kubectlBin, args...)
	cmd.Env, cmd.Dir = s.env, s.home
	return cmd
}

// kubectl runs kubectl to its end.
func (s *kubectlFixture) kubectl(t *testing.T, stdin string, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := s.command(t, args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &o, &e
	err := cmd.Run()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// idle waits until no command and no log is under way any more.
func (s *kubectlFixture) idle(t *testing.T) {
	t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.NewTimer(15*time.Second)
	defer tick.Stop()
	defer late.Stop()
	for s.streams.Load() > 0 {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("found %d streams open, want none after their clients", s.streams.Load())
		}
	}
}

// anonymous asks the listener for its pods without a certificate and returns the status.
func anonymous(t *testing.T, s *kubectlFixture) int {
	t.Helper()
	authorities := x509.NewCertPool()
	authorities.AddCert(s.server.Certificate())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Get("https://" + s.server.Address() + "/pods")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}
