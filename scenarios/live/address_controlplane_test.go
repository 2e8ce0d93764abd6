//go:build controlplane

package live_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/controlplane"
	"github.com/nodesim/nodesim/scenarios/live"
)

// An API server that takes InternalIP before all others, as that of kubeadm and kind
// (k8s.io/kubernetes, cmd/kubeadm/app/phases/controlplane/manifests.go), reaches the
// kubelets by the address that it was told; the scenario's own stays behind it.
func TestKubeletAddress(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	kubeadm, err := controlplane.Start(ctx, controlplane.Options{Speed: speed, Flags: map[string]map[string]string{
		controlplane.APIServer: {"kubelet-preferred-address-types": "InternalIP,ExternalIP,Hostname"},
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
	h := handsOn(t, kubeadm.KubeconfigPath())
	f := scenario(t, "minimal")
	const host = "127.0.0.2"
	s := raise(ctx, t, kubeadm.Config(), f, live.Speed(1), live.Keep(), live.KubeletAddress(host))
	pods, err := c.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := pods.Items[0]
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

	// Who goes on with it where the default does leaves the scenario's address alone.
	s = raise(ctx, t, kubeadm.Config(), f, live.Speed(1))
	until(ctx, t, "the address is gone", func() (bool, error) {
		return slices.Equal(insides(ctx, t, c, pod.Spec.NodeName), first[1:]), nil
	})
	s.end()
	<-s.done
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
