package live

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/scenarios"
)

var definitionsResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// What kubectl shows of the providers' kinds, and how it lets them be called, as
// their own definitions have it (kubernetes-sigs/karpenter, pkg/apis/crds;
// kubernetes-sigs/cluster-api, api/v1beta1).
var displays = map[string]display{
	"nodepools.karpenter.sh": {category: "karpenter", columns: []column{
		{"NodeClass", "string", ".spec.template.spec.nodeClassRef.name", 0},
		{"Ready", "string", `.status.conditions[?(@.type=="Ready")].status`, 0},
		{"Age", "date", ".metadata.creationTimestamp", 0},
	}},
	"nodeclaims.karpenter.sh": {category: "karpenter", columns: []column{
		{"Type", "string", `.metadata.labels.node\.kubernetes\.io/instance-type`, 0},
		{"Capacity", "string", `.metadata.labels.karpenter\.sh/capacity-type`, 0},
		{"Zone", "string", `.metadata.labels.topology\.kubernetes\.io/zone`, 0},
		{"Node", "string", ".status.nodeName", 0},
		{"Ready", "string", `.status.conditions[?(@.type=="Ready")].status`, 0},
		{"Age", "date", ".metadata.creationTimestamp", 0},
		{"ID", "string", ".status.providerID", 1},
		{"NodePool", "string", `.metadata.labels.karpenter\.sh/nodepool`, 1},
		{"NodeClass", "string", ".spec.nodeClassRef.name", 1},
	}},
	"machinesets.cluster.x-k8s.io": {category: "cluster-api", short: "ms", columns: []column{
		{"Cluster", "string", ".spec.clusterName", 0},
		{"Desired", "integer", ".spec.replicas", 10},
		{"Replicas", "integer", ".status.replicas", 0},
		{"Ready", "integer", ".status.readyReplicas", 0},
		{"Available", "integer", ".status.availableReplicas", 0},
		{"Age", "date", ".metadata.creationTimestamp", 0},
		{"Version", "string", ".spec.template.spec.version", 0},
	}},
	"machines.cluster.x-k8s.io": {category: "cluster-api", short: "ma", columns: []column{
		{"Cluster", "string", ".spec.clusterName", 0},
		{"NodeName", "string", ".status.nodeRef.name", 0},
		{"ProviderID", "string", ".spec.providerID", 0},
		{"Phase", "string", ".status.phase", 0},
		{"Age", "date", ".metadata.creationTimestamp", 0},
		{"Version", "string", ".spec.version", 0},
	}},
}

type display struct {
	category, short string
	columns         []column
}

type column struct {
	name, kind, path string
	priority         int64
}

// definitionOf is the smallest CustomResourceDefinition of a kind: any spec and
// any status, the status as a subresource, the provider's columns.
func definitionOf(kind scenarios.CustomKind, label string) *unstructured.Unstructured {
	shown := displays[kind.GroupResource().String()]
	scope := "Cluster"
	if kind.Namespaced {
		scope = "Namespaced"
	}
	names := map[string]any{"kind": kind.Kind, "plural": kind.Resource}
	if shown.category != "" {
		names["categories"] = []any{shown.category}
	}
	if shown.short != "" {
		names["shortNames"] = []any{shown.short}
	}
	columns := make([]any, 0, len(shown.columns))
	for _, c := range shown.columns {
		columns = append(columns, map[string]any{"name": c.name, "type": c.kind, "jsonPath": c.path, "priority": c.priority})
	}
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	version := map[string]any{
		"name": kind.Version, "served": true, "storage": true,
		"subresources": map[string]any{"status": map[string]any{}},
		"schema": map[string]any{"openAPIV3Schema": map[string]any{
			"type": "object", "properties": map[string]any{"spec": open, "status": open},
		}},
	}
	if len(columns) > 0 {
		version["additionalPrinterColumns"] = columns
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": kind.GroupResource().String(), "labels": map[string]any{Label: label}},
		"spec": map[string]any{
			"group": kind.Group, "scope": scope, "names": names, "versions": []any{version},
		},
	}}
}
