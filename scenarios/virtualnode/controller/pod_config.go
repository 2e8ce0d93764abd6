package controller

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// Defaults of [PodControllerConfig].
const (
	// DefaultRelookInterval is the interval at which a PodController looks at all pods again.
	DefaultRelookInterval = time.Minute

	// DefaultDeletionMargin bounds how long after the end of its grace period a deleted pod may stay in the API when
	// the provider doesn't say that its containers have ended. A kubelet gives its runtime as long
	// (k8s.io/kubernetes, pkg/kubelet/kuberuntime/kuberuntime_container.go, minimumGracePeriodInSeconds).
	DefaultDeletionMargin = 2 * time.Second

	// DefaultPodPollInterval is the interval at which a provider without [PodNotifier] is asked for the statuses of
	// its pods.
	DefaultPodPollInterval = 5 * time.Second
)

// The caches of a [PodControllerConfig]. Those of client-go's informer factories fit (k8s.io/client-go/informers/core/v1,
// whose interfaces have the same methods), and those of package informer, which links fewer packages.
type (
	// PodInformer is a cache of pods.
	PodInformer interface {
		Informer() cache.SharedIndexInformer
		Lister() corev1listers.PodLister
	}
	// ConfigMapInformer is a cache of config maps.
	ConfigMapInformer interface {
		Informer() cache.SharedIndexInformer
		Lister() corev1listers.ConfigMapLister
	}
	// SecretInformer is a cache of secrets.
	SecretInformer interface {
		Informer() cache.SharedIndexInformer
		Lister() corev1listers.SecretLister
	}
	// ServiceInformer is a cache of services.
	ServiceInformer interface {
		Informer() cache.SharedIndexInformer
		Lister() corev1listers.ServiceLister
	}
)

// PodControllerConfig configures a [PodController]. One controller serves the pods of one virtual node, or of many:
// with a shared informer over all pods and a filter that says which are ours.
type PodControllerConfig[P PodClient] struct {
	// PodClient writes statuses and removes pods. It needs the verbs update on pods/status and delete on pods; where the
	// controller is to say why an informer doesn't fill, also list on pods. Required.
	PodClient PodsGetter[P]

	// PodInformer is the cache of pods. The caller starts it (before Run or during it) and stops it. It may hold more
	// pods than this controller's: see PodEventFilterFunc. Objects in it are never changed. Required.
	PodInformer PodInformer

	// EventRecorder takes the Events ProviderCreateSuccess, ProviderCreateFailed, ProviderUpdateSuccess,
	// ProviderUpdateFailed, ProviderDeleteSuccess and ProviderDeleteFailed, and those about missing config maps and
	// secrets. Required.
	EventRecorder record.EventRecorder

	// SkipProviderEvents leaves the Provider... Events out, for a provider that writes a kubelet's own.
	SkipProviderEvents bool

	// Provider runs the pods. Required.
	Provider PodLifecycleHandler

	// The caches from which environments are resolved. The caller starts and stops them, as PodInformer; Run waits until
	// they are filled, and says which one isn't. Required unless SkipEnvironment is set.
	ConfigMapInformer ConfigMapInformer
	SecretInformer    SecretInformer
	ServiceInformer   ServiceInformer

	// SkipEnvironment hands pods to the provider with their environment as in the API: nothing is read from config
	// maps, secrets and services, whose informers may then be nil.
	SkipEnvironment bool

	// SkipDownwardAPIResolution leaves environment variables of fieldRef and resourceFieldRef as they stand, for a
	// provider that resolves them itself (a pod's IP isn't known before it runs). The others are resolved.
	SkipDownwardAPIResolution bool

	// RateLimiter says how long a pod waits after each failure, in each queue that has no limiter of its own below. A
	// first attempt never waits. Given here, it is shared by the three queues under keys that differ; nil gives each
	// queue its own [NewPodRateLimiter].
	RateLimiter workqueue.RateLimiter //nolint:staticcheck // the field's published type; TypedRateLimiter[any] is the same

	// A limiter per queue: pods from the API to the provider, deletions at the API, statuses from the provider to the API.
	SyncPodsFromKubernetesRateLimiter    workqueue.TypedRateLimiter[any]
	DeletePodsFromKubernetesRateLimiter  workqueue.TypedRateLimiter[any]
	SyncPodStatusFromProviderRateLimiter workqueue.TypedRateLimiter[any]

	// Who decides after each failure, per queue, whether and when it is tried again; nil is [DefaultRetryFunc].
	SyncPodsFromKubernetesShouldRetryFunc    ShouldRetryFunc
	DeletePodsFromKubernetesShouldRetryFunc  ShouldRetryFunc
	SyncPodStatusFromProviderShouldRetryFunc ShouldRetryFunc

	// PodEventFilterFunc says which pods of the informer are this controller's; nil takes all.
	PodEventFilterFunc PodEventFilterFunc

	// RelookInterval is the interval at which all pods are looked at again: what was given up after [MaxRetries]
	// failures is tried again, and what the provider runs without the API's knowledge is deleted. 0 is
	// [DefaultRelookInterval].
	RelookInterval time.Duration

	// DeletionMargin is added to a deleted pod's grace period: 0 is [DefaultDeletionMargin], less than 0 is none.
	DeletionMargin time.Duration

	// PodPollInterval is the interval at which a provider without [PodNotifier] is asked: 0 is
	// [DefaultPodPollInterval].
	PodPollInterval time.Duration

	// ProviderConditions are condition types that the provider owns besides a kubelet's. Those of other types in its
	// statuses are left out, and those of others in the API survive.
	ProviderConditions []corev1.PodConditionType

	// ErrorHandler is told, in one line that names the remedy, of what the API server refuses as forbidden, once for
	// each verb, resource and namespace until it is allowed again; and once of each cache that isn't full ten seconds
	// after Run began to wait for it, as that of an informer that was never started. If it returns an error, Run ends
	// with it. Nil logs the line with the context's logger. Either way the write is tried again with back-off, so a
	// right that is granted later is enough.
	ErrorHandler func(context.Context, error) error

	// Tracer, if set, begins a span for each piece of work and each call of the provider, which gets the span's context.
	Tracer Tracer

	// Clock drives every wait and every time that is written; nil is the wall clock.
	Clock clock.WithTicker
}

// settings are a configuration whose client is any: what a controller keeps.
type settings = PodControllerConfig[PodClient]

// settings returns the configuration itself, of any client.
func (c PodControllerConfig[P]) settings() settings {
	out := settings{
		PodInformer:                              c.PodInformer,
		EventRecorder:                            c.EventRecorder,
		SkipProviderEvents:                       c.SkipProviderEvents,
		Provider:                                 c.Provider,
		ConfigMapInformer:                        c.ConfigMapInformer,
		SecretInformer:                           c.SecretInformer,
		ServiceInformer:                          c.ServiceInformer,
		SkipEnvironment:                          c.SkipEnvironment,
		SkipDownwardAPIResolution:                c.SkipDownwardAPIResolution,
		RateLimiter:                              c.RateLimiter,
		SyncPodsFromKubernetesRateLimiter:        c.SyncPodsFromKubernetesRateLimiter,
		DeletePodsFromKubernetesRateLimiter:      c.DeletePodsFromKubernetesRateLimiter,
		SyncPodStatusFromProviderRateLimiter:     c.SyncPodStatusFromProviderRateLimiter,
		SyncPodsFromKubernetesShouldRetryFunc:    c.SyncPodsFromKubernetesShouldRetryFunc,
		DeletePodsFromKubernetesShouldRetryFunc:  c.DeletePodsFromKubernetesShouldRetryFunc,
		SyncPodStatusFromProviderShouldRetryFunc: c.SyncPodStatusFromProviderShouldRetryFunc,
		PodEventFilterFunc:                       c.PodEventFilterFunc,
		RelookInterval:                           c.RelookInterval,
		DeletionMargin:                           c.DeletionMargin,
		PodPollInterval:                          c.PodPollInterval,
		ProviderConditions:                       c.ProviderConditions,
		ErrorHandler:                             c.ErrorHandler,
		Tracer:                                   c.Tracer,
		Clock:                                    c.Clock,
	}
	if c.PodClient != nil {
		out.PodClient = anyPods[P]{c.PodClient}
	}
	return out
}

// anyPods hands out clients without their own type.
type anyPods[P PodClient] struct{ of PodsGetter[P] }

// Pods implements PodsGetter.
func (a anyPods[P]) Pods(namespace string) PodClient { return a.of.Pods(namespace) }
