package controller

import (
	"context"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// PodController makes a provider follow the pods in the API, and the pods' statuses in the API follow the provider.
//
// Three queues carry the work, each with its own workers and limiter: pods from the API to the provider, statuses from
// the provider to the API, and the removal of deleted pods from the API. A pod is identified by its UID everywhere; the
// provider is asked by namespace and name, so a name is worked on by one worker at a time. What fails is tried again with
// back-off; what was given up, or was missed, is found by a look at all pods (see [PodController.Relook]).
//
// A deleted pod leaves the API as soon as the provider says that none of its containers runs, as with a real kubelet; if
// it never says so, when the pod's grace period and a margin are over since it took the deletion.
//
// It never binds, creates or evicts a pod, and writes nothing of a pod but its status.
type PodController struct {
	cfg     settings
	client  PodsGetter[PodClient]
	lister  corev1listers.PodLister
	clock   clock.WithTicker
	filter  PodEventFilterFunc
	env     *environment // nil if environments aren't resolved
	getter  PodUIDGetter // nil if the provider is asked by name
	store   *podStore
	early   *earlyReports
	trouble *errorReporter

	provider PodLifecycleHandler // the caller's, traced, or the poller around it

	pods     *queue // by namespace/name: from the API to the provider
	statuses *queue // by namespace/name/UID: from the provider to the API
	removals *queue // by namespace/name/UID: out of the API

	ran   atomic.Bool
	ready chan struct{}
	done  chan struct{}
	err   error // read after done is closed
}

// NewPodController checks the configuration and makes a controller; it does nothing before Run. What is missing is an
// [InvalidInputf] error.
func NewPodController[P PodClient](cfg PodControllerConfig[P]) (*PodController, error) {
	return newPodController(cfg.settings())
}

func newPodController(cfg settings) (*PodController, error) {
	for _, required := range []struct {
		field   string
		missing bool
	}{
		{"PodClient", cfg.PodClient == nil},
		{"EventRecorder", cfg.EventRecorder == nil},
		{"PodInformer", cfg.PodInformer == nil},
		{"ConfigMapInformer", cfg.ConfigMapInformer == nil && !cfg.SkipEnvironment},
		{"SecretInformer", cfg.SecretInformer == nil && !cfg.SkipEnvironment},
		{"ServiceInformer", cfg.ServiceInformer == nil && !cfg.SkipEnvironment},
		{"Provider", cfg.Provider == nil},
	} {
		if required.missing {
			return nil, InvalidInputf("new pod controller: %s is missing: set it in the configuration", required.field)
		}
	}
	for _, interval := range []struct {
		field string
		d     time.Duration
	}{{"RelookInterval", cfg.RelookInterval}, {"PodPollInterval", cfg.PodPollInterval}} {
		if interval.d < 0 {
			return nil, InvalidInputf("new pod controller: %s is %v: want more than 0, or 0 for the default", interval.field, interval.d)
		}
	}
	pc := &PodController{
		cfg: cfg, client: cfg.PodClient, lister: cfg.PodInformer.Lister(), clock: cfg.Clock,
		filter: cfg.PodEventFilterFunc, provider: traced{cfg.Provider, cfg.Tracer}, store: newPodStore(), early: &earlyReports{},
		ready: make(chan struct{}), done: make(chan struct{}),
	}
	if pc.clock == nil {
		pc.clock = clock.RealClock{}
	}
	if pc.filter == nil {
		pc.filter = func(context.Context, *corev1.Pod) bool { return true }
	}
	if getter, ok := cfg.Provider.(PodUIDGetter); ok {
		pc.getter = tracedGetter{getter, cfg.Tracer}
	}
	pc.trouble = newErrorReporter(cfg.ErrorHandler)
	if !cfg.SkipEnvironment {
		pc.env = newEnvironment(cfg)
	}
	pc.pods = pc.newQueue("pods for the provider", "SyncPod", cfg.SyncPodsFromKubernetesRateLimiter,
		cfg.SyncPodsFromKubernetesShouldRetryFunc, pc.syncPod)
	pc.statuses = pc.newQueue("statuses from the provider", "SyncStatus", cfg.SyncPodStatusFromProviderRateLimiter,
		cfg.SyncPodStatusFromProviderShouldRetryFunc, pc.syncStatus)
	pc.removals = pc.newQueue("removals from the API", "RemovePod", cfg.DeletePodsFromKubernetesRateLimiter,
		cfg.DeletePodsFromKubernetesShouldRetryFunc, pc.removePod)
	return pc, nil
}

// newQueue makes one of the three queues. Its work is traced as the operation.
func (pc *PodController) newQueue(name, operation string, limiter workqueue.TypedRateLimiter[any], retry ShouldRetryFunc,
	work func(context.Context, string) error,
) *queue {
	if limiter == nil {
		limiter = pc.cfg.RateLimiter
	}
	if limiter == nil {
		limiter = NewPodRateLimiter()
	}
	if retry == nil {
		retry = DefaultRetryFunc
	}
	q := newQueue(name, pc.clock, limiter, retry, func(ctx context.Context, key string) error {
		return pc.cfg.Tracer.do(ctx, ofKey(operation, key), func(ctx context.Context) error { return work(ctx, key) })
	})
	q.gaveUp = func(ctx context.Context, key string, err error) { pc.trouble.gaveUp(ctx, name, key, err) }
	return q
}

// Ready is closed when Run has started everything: the caches are full, every pod in them is known, and the provider was
// told to end each of its pods that the API doesn't know. It stays open if the start fails.
func (pc *PodController) Ready() <-chan struct{} { return pc.ready }

// Done is closed when Run has returned.
func (pc *PodController) Done() <-chan struct{} { return pc.done }

// Err is the error that Run has returned; nil before Done is closed.
func (pc *PodController) Err() error {
	select {
	case <-pc.done:
		return pc.err
	default:
		return nil
	}
}

// orDefault is d, or fallback where d is 0.
func orDefault(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return d
}
