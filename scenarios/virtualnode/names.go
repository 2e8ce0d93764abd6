package virtualnode

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordclientset "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/virtualnode/controller"
)

// Defaults, and bounds.
const (
	// DefaultRenewIntervalFraction is the part of a lease's duration after which it is renewed, as a kubelet has it
	// (k8s.io/kubernetes, pkg/kubelet/kubelet.go, nodeLeaseRenewIntervalFraction).
	DefaultRenewIntervalFraction = controller.DefaultRenewIntervalFraction
	// DefaultLeaseDuration is the duration of a lease in seconds, as a kubelet has it (nodeLeaseDurationSeconds;
	// k8s.io/kubernetes, pkg/kubelet/apis/config/v1beta1/defaults.go).
	DefaultLeaseDuration = controller.DefaultLeaseDuration
	// DefaultPingInterval is the pause between two pings of a provider.
	DefaultPingInterval = controller.DefaultPingInterval
	// DefaultStatusUpdateInterval is the pause between two updates of the status of a node with a lease.
	DefaultStatusUpdateInterval = controller.DefaultStatusUpdateInterval
	// DefaultPingTimeout bounds a Ping.
	DefaultPingTimeout = controller.DefaultPingTimeout
	// DefaultJitter is the part of an interval by which a pause may be longer, as a kubelet has it (k8s.io/kubernetes,
	// pkg/kubelet/kubelet.go, Run).
	DefaultJitter = controller.DefaultJitter
	// DefaultRelookInterval is the interval at which a PodController looks at all pods again.
	DefaultRelookInterval = controller.DefaultRelookInterval
	// DefaultDeletionMargin bounds how long after the end of its grace period a deleted pod may stay in the API when
	// the provider doesn't say that its containers have ended.
	DefaultDeletionMargin = controller.DefaultDeletionMargin
	// DefaultPodPollInterval is the interval at which a provider without [PodNotifier] is asked for the statuses of
	// its pods.
	DefaultPodPollInterval = controller.DefaultPodPollInterval
	// MaxRetries is the number of times in a row that a pod may fail in one queue under [DefaultRetryFunc] before the
	// queue gives it up.
	MaxRetries = controller.MaxRetries
)

// ErrConflictingLeaseControllerConfiguration is wrapped by the error of NewNodeController where leases are configured
// more than once.
var ErrConflictingLeaseControllerConfiguration = controller.ErrConflictingLeaseControllerConfiguration

// The controllers, and what they are configured with. Package controller has the same for clients of other types.
type (
	// PodControllerConfig configures a PodController. One controller serves the pods of one virtual node, or of many.
	PodControllerConfig = controller.PodControllerConfig[corev1client.PodInterface]
	// ConfigMapInformer is a cache of config maps.
	ConfigMapInformer = controller.ConfigMapInformer
	// ErrorHandler is asked about an error; nil from it means that the error is handled and that continuing, or one
	// more try, makes sense.
	ErrorHandler = controller.ErrorHandler
	// MockProvider runs pods without containers.
	MockProvider = controller.MockProvider
	// NaiveNodeProvider is a node that always lives and never changes.
	NaiveNodeProvider = controller.NaiveNodeProvider
	// NaiveNodeProviderV2 is a node that always lives and changes when UpdateStatus says so.
	NaiveNodeProviderV2 = controller.NaiveNodeProviderV2
	// NodeController keeps one Node object alive.
	NodeController = controller.NodeController
	// NodeControllerOpt changes a NodeController that is being made.
	NodeControllerOpt = controller.NodeControllerOpt
	// NodeProvider replaces a node's kubelet.
	NodeProvider = controller.NodeProvider
	// Operation is the subject of a span.
	Operation = controller.Operation
	// PodController makes a provider follow the pods in the API, and the pods' statuses in the API follow the provider.
	PodController = controller.PodController
	// PodEventFilterFunc says whether a pod is the controller's.
	PodEventFilterFunc = controller.PodEventFilterFunc
	// PodInformer is a cache of pods.
	PodInformer = controller.PodInformer
	// PodLifecycleHandler runs the pods.
	PodLifecycleHandler = controller.PodLifecycleHandler
	// PodNotifier is implemented by a provider that reports statuses by itself.
	PodNotifier = controller.PodNotifier
	// PodUIDGetter may be implemented by a provider where two pods of one namespace and name can run at once.
	PodUIDGetter = controller.PodUIDGetter
	// RequestLimit bounds how many of the nodes that share it register at once, and how many renew their leases at once.
	RequestLimit = controller.RequestLimit
	// SecretInformer is a cache of secrets.
	SecretInformer = controller.SecretInformer
	// ServiceInformer is a cache of services.
	ServiceInformer = controller.ServiceInformer
	// ShouldRetryFunc decides after a failure whether the work is tried again.
	ShouldRetryFunc = controller.ShouldRetryFunc
	// Tracer begins a span. It returns the context that carries the span and the function that ends it.
	Tracer = controller.Tracer
)

// AsInvalidInput gives err the type of [InvalidInputf] and leaves its text; nil stays nil.
func AsInvalidInput(err error) error {
	return controller.AsInvalidInput(err)
}

// AsNotFound gives err the type of [NotFoundf] and leaves its text; nil stays nil.
func AsNotFound(err error) error {
	return controller.AsNotFound(err)
}

// DefaultRetryFunc leaves the delay to the limiter and gives up at the [MaxRetries]th failure in a row.
func DefaultRetryFunc(ctx context.Context, key string, timesTried int, originallyAdded time.Time, err error) (*time.Duration, error) {
	return controller.DefaultRetryFunc(ctx, key, timesTried, originallyAdded, err)
}

// FilterPodsForNodeName takes in the pods that are bound to the node of that name.
func FilterPodsForNodeName(name string) PodEventFilterFunc {
	return controller.FilterPodsForNodeName(name)
}

// InvalidInputf is an error that says that the caller's arguments are wrong.
func InvalidInputf(format string, args ...any) error {
	return controller.InvalidInputf(format, args...)
}

// IsInvalidInput says whether err, or an error that it wraps, has a method InvalidInput() bool that returns true; see
// [IsNotFound] for how wrapped errors are found.
func IsInvalidInput(err error) bool {
	return controller.IsInvalidInput(err)
}

// IsNotFound says whether err, or an error that it wraps, has a method NotFound() bool that returns true.
func IsNotFound(err error) bool {
	return controller.IsNotFound(err)
}

// LeaveOutApplied takes the texts away from a node in which a controller has noted what it applied last.
func LeaveOutApplied(node *corev1.Node) {
	controller.LeaveOutApplied(node)
}

// MergeTaints returns the live taints of a node without those that were applied and are wanted no more, with the
// wanted ones at the end where they were missing, and whether that differs from live.
func MergeTaints(live, wanted, applied []corev1.Taint) (merged []corev1.Taint, changed bool) {
	return controller.MergeTaints(live, wanted, applied)
}

// NewMockProvider is an empty provider whose pods start and end at the clock's time; nil is the wall clock.
func NewMockProvider(c clock.PassiveClock) *MockProvider {
	return controller.NewMockProvider(c)
}

// NewNaiveNodeProvider returns a provider that hands the nodes of UpdateStatus to its controller.
func NewNaiveNodeProvider() *NaiveNodeProviderV2 {
	return controller.NewNaiveNodeProvider()
}

// NewNodeController returns a controller of the given node, of which it keeps a copy.
func NewNodeController(p NodeProvider, node *corev1.Node, nodes corev1client.NodeInterface, opts ...NodeControllerOpt) (*NodeController, error) {
	return controller.NewNodeController(p, node, nodes, opts...)
}

// NewPodController checks the configuration and makes a controller; it does nothing before Run. What is missing is an
// [InvalidInputf] error.
func NewPodController(cfg PodControllerConfig) (*PodController, error) {
	return controller.NewPodController(cfg)
}

// NewPodRateLimiter is the limiter of a queue that is given none.
func NewPodRateLimiter() workqueue.TypedRateLimiter[any] {
	return controller.NewPodRateLimiter()
}

// NewRequestLimit returns a limit of so many registrations, and of so many renewals. It panics where one isn't above 0.
func NewRequestLimit(registrations, renewals int) *RequestLimit {
	return controller.NewRequestLimit(registrations, renewals)
}

// NotFoundf is an error that says that what was asked for doesn't exist.
func NotFoundf(format string, args ...any) error {
	return controller.NotFoundf(format, args...)
}

// PodFilters takes in a pod that any of the filters takes in; without filters, none.
func PodFilters(filters ...PodEventFilterFunc) PodEventFilterFunc {
	return controller.PodFilters(filters...)
}

// PodInformerFilter makes an informer list and watch only the pods that are bound to one node (the field
// spec.nodeName, which the API server indexes).
func PodInformerFilter(node string) func(*metav1.ListOptions) {
	return controller.PodInformerFilter(node)
}

// WithNodeClock sets the clock by which intervals, timeouts and heartbeats go.
func WithNodeClock(c clock.WithDelayedExecution) NodeControllerOpt {
	return controller.WithNodeClock(c)
}

// WithNodeEnableLeaseV1 gives the node a lease of that duration, renewed after a quarter of it in whole seconds; 0
// means DefaultLeaseDuration, and less than 4 s is an error, since no interval is left.
func WithNodeEnableLeaseV1(client coordclientset.LeaseInterface, leaseDurationSeconds int32) NodeControllerOpt {
	return controller.WithNodeEnableLeaseV1(client, leaseDurationSeconds)
}

// WithNodeEnableLeaseV1WithRenewInterval gives the node a lease of that duration, renewed at that interval, which must
// be shorter; a duration of 0 means DefaultLeaseDuration.
func WithNodeEnableLeaseV1WithRenewInterval(client coordclientset.LeaseInterface, leaseDurationSeconds int32, interval time.Duration) NodeControllerOpt {
	return controller.WithNodeEnableLeaseV1WithRenewInterval(client, leaseDurationSeconds, interval)
}

// WithNodeJitter sets the part of an interval, from 0 to 1, by which each pause may be longer, in place of
// DefaultJitter.
func WithNodeJitter(fraction float64) NodeControllerOpt {
	return controller.WithNodeJitter(fraction)
}

// WithNodeLeaseErrorHandler has h told of each failed renewal of the lease.
func WithNodeLeaseErrorHandler(h ErrorHandler) NodeControllerOpt {
	return controller.WithNodeLeaseErrorHandler(h)
}

// WithNodeLister reads the node from an informer's cache, which many controllers should share, in place of a GET
// before each update of the status.
func WithNodeLister(nodes corelisters.NodeLister) NodeControllerOpt {
	return controller.WithNodeLister(nodes)
}

// WithNodeNotReadyOnPingFailure writes the status while pings fail, with the condition Ready at False, in place of
// writing nothing.
func WithNodeNotReadyOnPingFailure() NodeControllerOpt {
	return controller.WithNodeNotReadyOnPingFailure()
}

// WithNodePingInterval sets the pause between two pings; 0 and less mean DefaultPingInterval.
func WithNodePingInterval(d time.Duration) NodeControllerOpt {
	return controller.WithNodePingInterval(d)
}

// WithNodePingTimeout limits how long a Ping may take, in place of DefaultPingTimeout.
func WithNodePingTimeout(timeout time.Duration) NodeControllerOpt {
	return controller.WithNodePingTimeout(timeout)
}

// WithNodeRequestLimit has the node wait for its turn to register, and to renew its lease, which it shares with all nodes
// of that limit.
func WithNodeRequestLimit(l *RequestLimit) NodeControllerOpt {
	return controller.WithNodeRequestLimit(l)
}

// WithNodeSpecReconciliation keeps the wanted taints on the node, and its providerID where it has none.
func WithNodeSpecReconciliation() NodeControllerOpt {
	return controller.WithNodeSpecReconciliation()
}

// WithNodeStatusReportInterval leaves out an update of the status that would change nothing but heartbeats until d has
// passed since the last one; a change is written at once.
func WithNodeStatusReportInterval(d time.Duration) NodeControllerOpt {
	return controller.WithNodeStatusReportInterval(d)
}

// WithNodeStatusUpdateErrorHandler has h asked when the API server refuses an update of the status (not while Run
// starts, and not about failed pings).
func WithNodeStatusUpdateErrorHandler(h ErrorHandler) NodeControllerOpt {
	return controller.WithNodeStatusUpdateErrorHandler(h)
}

// WithNodeStatusUpdateInterval sets the pause between two updates of the status where the node has a lease; 0 and less
// mean DefaultStatusUpdateInterval.
func WithNodeStatusUpdateInterval(d time.Duration) NodeControllerOpt {
	return controller.WithNodeStatusUpdateInterval(d)
}

// WithNodeTracer begins a span for each Ping, which gets the span's context.
func WithNodeTracer(t Tracer) NodeControllerOpt {
	return controller.WithNodeTracer(t)
}
