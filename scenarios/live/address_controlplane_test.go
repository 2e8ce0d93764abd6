//go:build controlplane

package live_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/scenarios/live"
)

// An API server that takes InternalIP before all others, as that of kubeadm and kind
// (k8s.io/kubernetes, cmd/kubeadm/app/phases/controlplane/manifests.go), reaches the
// kubelets by the address that it was told; the scenario's own stays after it.
func TestKubeletAddress(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	kubeadm, err := localcluster.Start(ctx, localcluster.Options{Speed: speed, Flags: map[string]map[string]string{
		localcluster.APIServer: {"kubelet-preferred-address-types": "InternalIP,ExternalIP,Hostname"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := kubeadm.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c, err := kubernetes.NewForConfig(kubeadm.Config())
	if err != nil {
		t.Fatal(err)
	}
	lived(ctx, t, c)
	h := handsOn(t, kubeadm.KubeconfigPath())
	f := written(t, growth)
	const host = "127.0.0.2"
	s := raise(ctx, t, kubeadm.Config(), f, live.Speed(speed), live.KnownCluster(), live.Keep(), live.KubeletAddress(host), live.KubeletClients(kubeadm.Config().CAData))
	pods, err := c.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := pods.Items[0]
	if pod.Spec.NodeName == theirs || pod.Spec.NodeSelector[live.Label] != "growth" {
		t.Errorf("pod %s is on %s, with node selector %v: want it to stay on the scenario's nodes", pod.Name, pod.Spec.NodeName, pod.Spec.NodeSelector)
	}
	if out, err := h.command(ctx, "logs", "-n", pod.Namespace, pod.Name).CombinedOutput(); err != nil || !strings.Contains(string(out), pod.Name) {
		t.Errorf("logs: %v\n%s", err, out)
	}
	if out, err := h.command(ctx, "exec", "-n", pod.Namespace, pod.Name, "--", "echo", "hello").CombinedOutput(); err != nil || string(out) != "hello\n" {
		t.Errorf("exec: %v\n%s", err, out)
	}
	until(ctx, t, "kubectl top works", func() (bool, error) {
		out, err := h.command(ctx, "top", "nodes").CombinedOutput()
		return err == nil && strings.Contains(string(out), pod.Spec.NodeName), err
	})
	service, err := c.CoreV1().Services("kube-system").Get(ctx, "nodesim-metrics", metav1.GetOptions{})
	if err != nil || service.Spec.ExternalName != host {
		t.Errorf("the service of kubectl top is at %q, %v: want %s", service.Spec.ExternalName, err, host)
	}
	first := insides(ctx, t, c, pod.Spec.NodeName)
	if len(first) != 2 || first[0] != host || !strings.HasPrefix(first[1], "10.") {
		t.Errorf("InternalIP %v: want %s, and the scenario's", first, host)
	}
	s.end()
	<-s.done

	// A run that resumes it where the default does leaves the scenario's address alone.
	s = raise(ctx, t, kubeadm.Config(), f, live.Speed(speed), live.KnownCluster())
	until(ctx, t, "the address is gone", func() (bool, error) {
		return slices.Equal(insides(ctx, t, c, pod.Spec.NodeName), first[1:]), nil
	})
	s.end()
	<-s.done
	nodes, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 1 || nodes.Items[0].Name != theirs {
		t.Errorf("in the end there are %d nodes, %v: want %s alone", len(nodes.Items), err, theirs)
	}
	sets, err := c.AppsV1().DaemonSets("").List(ctx, metav1.ListOptions{})
	if err != nil || len(sets.Items) != 1 || sets.Items[0].Labels[live.Label] != "" || sets.Items[0].Generation != 1 {
		t.Errorf("in the end there are the DaemonSets %v, %v: want theirs alone, as it was", sets.Items, err)
	}
}

// theirs is a node that no live run has made.
const theirs = "kind-control-plane"

// lived makes a cluster one that has a life of its own: a node, and the kube-proxy
// that kubeadm brings (k8s.io/kubernetes, cmd/kubeadm/app/phases/addons/proxy).
func lived(ctx context.Context, t *testing.T, c kubernetes.Interface) {
	t.Helper()
	if _, err := c.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: theirs}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"k8s-app": "kube-proxy"}
	proxy := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-proxy", Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				HostNetwork: true, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers: []corev1.Container{{Name: "kube-proxy", Image: "registry.k8s.io/kube-proxy:v1.34.0"}},
			}},
		},
	}
	if _, err := c.AppsV1().DaemonSets("kube-system").Create(ctx, proxy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// insides are a node's addresses of type InternalIP.
func insides(ctx context.Context, t *testing.T, c kubernetes.Interface, node string) (all []string) {
	t.Helper()
	n, err := c.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			all = append(all, a.Address)
		}
	}
	return all
}
