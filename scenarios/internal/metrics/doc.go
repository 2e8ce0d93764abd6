// Package metrics serves metrics.k8s.io/v1beta1, the API of kubectl top and of autoscalers, for nodes without kubelets,
// as metrics-server does for others.
//
// In: what nodes and pods use, as summaries of a kubelet's form ([Source]). Out: a [Handler] with the group's discovery,
// NodeMetrics and PodMetrics to get and to list, and [Register], which listens with it and makes it known to an API
// server by an APIService, for as long as it runs.
//
// # How an API server reaches it
//
// The aggregator of kube-apiserver sends requests to the Service that the APIService names (k8s.io/kube-aggregator,
// pkg/apiserver/handler_proxy.go). Ours is of type ExternalName and leads to the address of the listener, without
// endpoints or a cluster network; that works where kube-apiserver runs on the same host, and without
// --enable-aggregator-routing, which only takes Services with endpoints (k8s.io/apiserver, pkg/util/proxy/proxy.go,
// ResolveCluster and ResolveEndpoint). The APIService trusts the listener's own certificate and no other. No flag of
// kube-apiserver is needed; with --proxy-client-cert-file it shows a certificate, which [Options].ClientCA can demand.
//
// The package must never touch an APIService, or a Service, that it didn't write.
package metrics
