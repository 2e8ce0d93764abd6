// Package e2e is Kubernetes' own end-to-end tests of three groups ([sig-apps], [sig-api-machinery] and [sig-scheduling]),
// unmodified from Kubernetes' module, as one test binary. `make e2e` runs those that are conformance tests against a real control
// plane with virtual nodes, and against a simulated cluster that takes writes, and counts what passes on both.
package e2e
