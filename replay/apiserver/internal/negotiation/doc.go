// Package negotiation holds what nodesim uses of k8s.io/apiserver/pkg/endpoints/handlers/negotiation (v0.37.2),
// copied, with its license: which form of an answer a request asks for. The original brings the feature gates, and
// with them component-base's metrics, Prometheus and OpenTelemetry: 37 packages. Left out are the gate of CBOR, which
// is off by default, and what concerns bodies. A test checks the copy against the original.
package negotiation
