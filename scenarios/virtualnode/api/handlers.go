package api

import (
	"net/http"
	"time"
)

// The handlers of single routes, for a mux of your own. Those of a pod read the path's parts namespace, pod and, but for
// port-forward, container with [http.Request.PathValue]: register them under a pattern with these names, or set them with
// SetPathValue in another router. A function that is nil answers 501. Names and signatures are those of Virtual
// Kubelet's package node/api.

// ContainerExecHandlerConfig holds the settings of [HandleContainerExec] and [HandleContainerAttach]; see the fields
// of these names in [PodHandlerConfig].
type ContainerExecHandlerConfig struct {
	StreamIdleTimeout     time.Duration
	StreamCreationTimeout time.Duration
}

// A ContainerExecHandlerOption sets one of them.
type ContainerExecHandlerOption func(*ContainerExecHandlerConfig)

// WithExecStreamIdleTimeout sets how long a stream may be without a byte; 0 is 30 s.
func WithExecStreamIdleTimeout(dur time.Duration) ContainerExecHandlerOption {
	return func(c *ContainerExecHandlerConfig) { c.StreamIdleTimeout = dur }
}

// WithExecStreamCreationTimeout sets how long a client may take to open its streams; 0 is 30 s.
func WithExecStreamCreationTimeout(dur time.Duration) ContainerExecHandlerOption {
	return func(c *ContainerExecHandlerConfig) { c.StreamCreationTimeout = dur }
}

// HandleContainerExec handles /exec/{namespace}/{pod}/{container}.
func HandleContainerExec(h ContainerExecHandlerFunc, opts ...ContainerExecHandlerOption) http.HandlerFunc {
	return execHandler(withExec(PodHandlerConfig{RunInContainer: h}, opts)).ServeHTTP
}

// HandleContainerAttach handles /attach/{namespace}/{pod}/{container}.
func HandleContainerAttach(h ContainerAttachHandlerFunc, opts ...ContainerExecHandlerOption) http.HandlerFunc {
	return attachHandler(withExec(PodHandlerConfig{AttachToContainer: h}, opts)).ServeHTTP
}

func withExec(p PodHandlerConfig, opts []ContainerExecHandlerOption) PodHandlerConfig {
	var c ContainerExecHandlerConfig
	for _, opt := range opts {
		opt(&c)
	}
	p.StreamIdleTimeout, p.StreamCreationTimeout = c.StreamIdleTimeout, c.StreamCreationTimeout
	return p.withDefaults()
}

// PortForwardHandlerConfig holds the settings of [HandlePortForward]; see the fields of these names in
// [PodHandlerConfig].
type PortForwardHandlerConfig struct {
	StreamIdleTimeout     time.Duration
	StreamCreationTimeout time.Duration
}

// A PortForwardHandlerOption sets one of them.
type PortForwardHandlerOption func(*PortForwardHandlerConfig)

// WithPortForwardStreamIdleTimeout sets how long a stream may be without a byte; 0 is 30 s.
func WithPortForwardStreamIdleTimeout(dur time.Duration) PortForwardHandlerOption {
	return func(c *PortForwardHandlerConfig) { c.StreamIdleTimeout = dur }
}

// WithPortForwardCreationTimeout sets how long a client may take to open its streams; 0 is 30 s.
func WithPortForwardCreationTimeout(dur time.Duration) PortForwardHandlerOption {
	return func(c *PortForwardHandlerConfig) { c.StreamCreationTimeout = dur }
}

// HandlePortForward handles /portForward/{namespace}/{pod}.
func HandlePortForward(h PortForwardHandlerFunc, opts ...PortForwardHandlerOption) http.HandlerFunc {
	var c PortForwardHandlerConfig
	for _, opt := range opts {
		opt(&c)
	}
	p := PodHandlerConfig{PortForward: h, StreamIdleTimeout: c.StreamIdleTimeout, StreamCreationTimeout: c.StreamCreationTimeout}
	return portForwardHandler(p.withDefaults()).ServeHTTP
}

// HandleContainerLogs handles /containerLogs/{namespace}/{pod}/{container}.
func HandleContainerLogs(h ContainerLogsHandlerFunc) http.HandlerFunc {
	return containerLogs(h).ServeHTTP
}

// HandleRunningPods handles /runningpods/, and any other path of a list of pods.
func HandleRunningPods(getPods PodListerFunc) http.HandlerFunc {
	return listPods("running pods", getPods).ServeHTTP
}

// HandlePodStatsSummary handles /stats/summary.
func HandlePodStatsSummary(h PodStatsSummaryHandlerFunc) http.HandlerFunc {
	return statsSummary(h).ServeHTTP
}

// HandlePodMetricsResource handles /metrics/resource.
func HandlePodMetricsResource(h PodMetricsResourceHandlerFunc) http.HandlerFunc {
	return metricsResource(h).ServeHTTP
}
