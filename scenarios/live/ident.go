package live

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Label is the label of everything that a live run creates: nodes, namespaces, workloads, budgets and the record. Its
// value is the scenario's name, a DNS-1123 label. What carries it is taken away at the end, and nothing else is.
const Label = "nodesim.dev/live"

// The record of a live run: a ConfigMap whose name doesn't depend on the scenario, so that one cluster can't have two
// live runs.
const (
	RecordNamespace = metav1.NamespaceSystem
	RecordName      = "nodesim-live"
)

// fieldManager is the name under which the API server notes our writes.
const fieldManager = "nodesim-live"
