package virtualnode

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Where a node remembers what its controller applied last, so that the next one tells what it has given up itself from
// what others have added. The names are those of Virtual Kubelet (github.com/virtual-kubelet/virtual-kubelet,
// node/node.go), whose nodes can be taken over.
const (
	annotationStatus = "virtual-kubelet.io/last-applied-node-status"
	annotationMeta   = "virtual-kubelet.io/last-applied-object-meta"
	annotationTaints = "nodesim.dev/last-applied-taints"
)

// stripApplied takes away what a provider can only have copied from the server.
func stripApplied(annotations map[string]string) {
	delete(annotations, annotationStatus)
	delete(annotations, annotationMeta)
	delete(annotations, annotationTaints)
}

// emptyPatch changes nothing.
const emptyPatch = "{}"

var nodeSchema = sync.OnceValues(func() (strategicpatch.LookupPatchMeta, error) {
	return strategicpatch.NewPatchMetaFromStruct(corev1.Node{})
})

// statusPatch returns the strategic merge patch of the subresource status that brings the wished labels, annotations and
// status to the live node: a three-way merge with what was applied last, so that what others have added survives, and
// what the wish has given up goes. The patch holds the live node's UID, if it holds anything: a server refuses it for
// another node of that name.
func statusPatch(wished, live *corev1.Node) ([]byte, error) {
	applied, err := lastApplied(live)
	if err != nil {
		return nil, err
	}
	next, err := annotated(wished)
	if err != nil {
		return nil, err
	}
	current := &corev1.Node{ObjectMeta: said(live.Labels, live.Annotations), Status: live.Status}
	next = &corev1.Node{ObjectMeta: said(next.Labels, next.Annotations), Status: next.Status}
	var texts [3][]byte
	for i, node := range []*corev1.Node{applied, next, current} {
		if texts[i], err = json.Marshal(node); err != nil {
			return nil, fmt.Errorf("encode node %s: %w", live.Name, err)
		}
	}
	schema, err := nodeSchema()
	if err != nil {
		return nil, fmt.Errorf("read the schema of nodes: %w", err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(texts[0], texts[1], texts[2], schema, true)
	if err != nil {
		return nil, fmt.Errorf("compare node %s with what it should be: %w", live.Name, err)
	}
	if string(patch) == emptyPatch {
		return patch, nil
	}
	return finished(patch, next, live)
}

// said is the part of an object's metadata that a provider has a say in.
func said(labels, annotations map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Labels: labels, Annotations: annotations}
}

// lastApplied is what the live node remembers; an empty node unless it remembers all of it.
func lastApplied(live *corev1.Node) (*corev1.Node, error) {
	status, hasStatus := live.Annotations[annotationStatus]
	meta, hasMeta := live.Annotations[annotationMeta]
	applied := &corev1.Node{}
	if !hasStatus || !hasMeta {
		return applied, nil
	}
	const remedy = "want JSON as its controller wrote it: remove the annotation"
	if err := json.Unmarshal([]byte(status), &applied.Status); err != nil {
		return nil, fmt.Errorf("node %s: annotation %s: %w: %s", live.Name, annotationStatus, err, remedy)
	}
	var object metav1.ObjectMeta
	if err := json.Unmarshal([]byte(meta), &object); err != nil {
		return nil, fmt.Errorf("node %s: annotation %s: %w: %s", live.Name, annotationMeta, err, remedy)
	}
	applied.ObjectMeta = said(object.Labels, object.Annotations)
	return applied, nil
}

// annotated is the wished node that remembers itself. It shares all else with the wish.
func annotated(wished *corev1.Node) (*corev1.Node, error) {
	meta := said(wished.Labels, wished.Annotations)
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	metaText, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("encode the metadata of node %s: %w", wished.Name, err)
	}
	statusText, err := json.Marshal(wished.Status)
	if err != nil {
		return nil, fmt.Errorf("encode the status of node %s: %w", wished.Name, err)
	}
	node := *wished
	node.Annotations = make(map[string]string, len(wished.Annotations)+2)
	maps.Copy(node.Annotations, wished.Annotations)
	node.Annotations[annotationMeta] = string(metaText)
	node.Annotations[annotationStatus] = string(statusText)
	return &node, nil
}

// finished adds the UID to a patch, and mends its addresses.
func finished(patch []byte, next, live *corev1.Node) ([]byte, error) {
	var object map[string]any
	if err := json.Unmarshal(patch, &object); err != nil {
		return nil, fmt.Errorf("read the patch of node %s: %w", live.Name, err)
	}
	if live.UID != "" {
		metadata, ok := object["metadata"].(map[string]any)
		if !ok {
			metadata = map[string]any{}
			object["metadata"] = metadata
		}
		metadata["uid"] = live.UID
	}
	if status, ok := object["status"].(map[string]any); ok {
		replaceAddresses(status, next.Status.Addresses)
	}
	return json.Marshal(object)
}

// replaceAddresses makes a patch that touches the addresses replace them all. Their merge key is the type, of which a
// dual-stack node has two alike, so that a merge would lose one (k8s.io/component-helpers, node/util/status.go,
// fixupPatchForNodeStatusAddresses).
func replaceAddresses(status map[string]any, addresses []corev1.NodeAddress) {
	if _, touched := status["addresses"]; !touched {
		return
	}
	delete(status, "$setElementOrder/addresses")
	all := make([]any, 0, len(addresses)+1)
	for _, address := range addresses {
		all = append(all, address)
	}
	status["addresses"] = append(all, map[string]any{"$patch": "replace"})
}
