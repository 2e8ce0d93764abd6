package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/scenarios/virtualnode/controller"
)

// podWorkers is the number of pods that are handed to kubelets concurrently.
const podWorkers = 8

// endsLate is longer than any fault lasts: a pod leaves the API when its kubelet says that it has ended, however long the runtime is down.
const endsLate = 240 * time.Hour

// podController is the one controller of all pods on the scenario's nodes. The
// kubelets write the Events of a real one, so that it writes none.
func (r *run) podController(ctx context.Context, held *caches, running *pods) (*controller.PodController, error) {
	c, err := controller.NewPodController(controller.PodControllerConfig[kubeclient.WithStatus[*corev1.Pod, *corev1.PodList]]{
		PodClient: r.clients.kube.CoreV1(), PodInformer: held.pods,
		EventRecorder: &record.FakeRecorder{}, SkipProviderEvents: true,
		Provider: running, SkipEnvironment: true, PodEventFilterFunc: running.takes, DeletionMargin: endsLate,
		ErrorHandler: func(_ context.Context, err error) error { r.warn(err); return nil },
	})
	if err != nil {
		return nil, fmt.Errorf("pods of scenario %s: %w", r.label, err)
	}
	running.relook = func() { c.Relook(ctx) }
	return c, nil
}

// keep runs the NodeController of one node until its context ends or its Node is gone, or another one: a kubelet
// whose Node was deleted doesn't register again until it is restarted (k8s.io/kubernetes,
// pkg/kubelet/kubelet_node_status.go: registration is done once). A foreign Node of that name has to go first, and is
// waited for.
func (ks *kubelets) keep(ctx context.Context, k *kubelet) error {
	for wait := pauseFirst; ; wait = min(2*wait, pauseMost) {
		c, err := ks.controller(k, k.first)
		if err != nil {
			return err
		}
		k.controller.Store(c)
		stop := k.tellCreated(ctx, c)
		err = c.Run(klog.NewContext(ctx, klog.Logger{})) // what there is to say goes to warn
		stop()
		var theirs *foreignError
		switch barred := errors.As(err, &theirs); {
		case err == nil || ctx.Err() != nil || !barred && !passing(err) || k.first == nil: // once a node is registered no error ends Run
			return err
		case !barred:
			ks.warn(fmt.Errorf("%w; trying again", err))
		case k.barred.Load() == nil:
			now := time.Now()
			k.barred.Store(&now)
			ks.warn(fmt.Errorf("%w; waiting for that", err))
		}
		if err := retry.Pause(ctx, clock.RealClock{}, wait); err != nil {
			return err
		}
	}
}

// tellCreated closes created when the controller has found or created its Node. stop
// ends that.
func (k *kubelet) tellCreated(ctx context.Context, c *controller.NodeController) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-c.Ready():
			k.barred.Store(nil)
			k.registered()
			select {
			case <-k.created:
			default:
				close(k.created)
			}
		case <-ctx.Done():
		}
	}()
	return func() { end(); <-told }
}

func (ks *kubelets) controller(k *kubelet, node *corev1.Node) (*controller.NodeController, error) {
	// Four renewals in the life of a lease, and a report thirty renewals apart, as a
	// kubelet's defaults of 10 s, 40 s and 5 min have it.
	lasts := int32(max(1, math.Ceil((4 * ks.renew).Seconds())))
	own := &ownNode{Resource: ks.client.CoreV1().Nodes(), label: node.Labels[Label]}
	return controller.NewNodeController(k, node, own,
		controller.WithNodeEnableLeaseV1WithRenewInterval(ks.client.CoordinationV1().Leases(corev1.NamespaceNodeLease), lasts, ks.renew),
		controller.WithNodePingInterval(ks.renew), // setRenewal says at once when the answer changes
		controller.WithNodeRequestLimit(ks.limit),
		controller.WithNodeStatusUpdateInterval(ks.renew), controller.WithNodeStatusReportInterval(30*ks.renew),
		controller.WithNodeLister(ownCache{ks.nodes, own}),
		controller.WithNodeStatusUpdateErrorHandler(func(_ context.Context, err error) error {
			if apierrors.IsNotFound(err) {
				k.end()
			} else {
				ks.warn(err)
			}
			return err
		}),
		controller.WithNodeLeaseErrorHandler(func(_ context.Context, err error) error {
			if !errors.Is(err, errSilent) {
				ks.warn(err)
			}
			return nil
		}),
	)
}

// barredMost bounds how long the start of a scenario waits for a foreign Node to go that has the name of one of its
// own.
const barredMost = 30 * time.Second

// barred is the error of Nodes of others that have been in the way for too long.
func (ks *kubelets) barred() error {
	ks.mu.RLock()
	defer ks.mu.RUnlock()
	var names []string
	for name, k := range ks.byName {
		if since := k.barred.Load(); since != nil && time.Since(*since) >= barredMost {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("found %s that no live run of this scenario has made under names of its own, such as %s, for %s: want them gone, or another cluster",
		phrase.Count(len(names), "node"), slices.Min(names), barredMost)
}

// nodeGone has a kubelet look whether its Node is there.
func (ks *kubelets) nodeGone(node string) {
	if k := ks.find(node); k != nil {
		if c := k.controller.Load(); c != nil {
			c.Reconcile()
		}
	}
}
