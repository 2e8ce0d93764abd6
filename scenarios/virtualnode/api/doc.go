// Package api serves the HTTP routes of a kubelet, so that kubectl logs, exec, attach, port-forward and top work on a
// node without one.
//
// In: functions that answer for pods ([PodHandlerConfig]): what a container logged, what a command in it does, what
// listens on a port. Each may be nil. Out: an [http.Handler] with the routes of a kubelet, for a server of your own
// ([PodHandler], [AttachPodRoutes], [AttachPodMetricsRoutes]), the handler of one route for a mux of your own
// ([HandleContainerLogs] and the other Handle functions), or a running TLS listener that a kube-apiserver accepts
// as a kubelet ([Serve]).
//
//	GET       /pods                                          GetPodsFromKubernetes
//	GET       /runningpods/                                  GetPods, only with debug
//	GET       /containerLogs/{namespace}/{pod}/{container}   GetContainerLogs
//	GET POST  /exec/{namespace}/{pod}/{container}            RunInContainer
//	GET POST  /attach/{namespace}/{pod}/{container}          AttachToContainer
//	GET POST  /portForward/{namespace}/{pod}                 PortForward
//	GET       /stats/summary, /stats/summary/                GetStatsSummary, if set
//	GET       /metrics/resource, /metrics/resource/          GetMetricsResource, if set
//
// Elsewhere a slash too many or too few is redirected. A function that is nil answers 501, an unknown path 404, a wrong
// verb 405. An error is answered as text, with 404 if it or a cause of it says NotFound() true, 400 if one says
// InvalidInput() true, and 500 otherwise. Cause(), Unwrap() and the reasons of the API's own errors are looked at.
//
// # Streams
//
// exec and attach speak SPDY (v4.channel.k8s.io and before) and WebSocket (v5.channel.k8s.io, which can end stdin, and
// before), port-forward speaks SPDY, WebSocket and SPDY tunnelled through WebSocket. kube-apiserver asks kubelets for
// SPDY and passes WebSocket through where a node declares the feature ExtendWebSocketsToKubelet
// (k8s.io/kubernetes, pkg/registry/core/pod/rest/subresources.go); kubectl asks for WebSocket first.
//
// The context that a function gets ends when its client has gone, when its server closes, or when it has returned. A
// handler returns after every goroutine that it started has ended, so a function that obeys its context can't outlive
// the server.
//
// The package must never look into a pod itself, keep a log, or know a node: it carries bytes.
//
// Its API may still change (docs/stability.md).
package api
