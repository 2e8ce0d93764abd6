package controller

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

// LeaveOutApplied takes the texts away from a node in which a controller has noted what it applied last: a second
// status and a second set of labels, several kilobytes of each node, which a controller needs where it writes alone.
// It is for the transform of the informer of [WithNodeLister]; the annotations stay, empty, so that the controller
// knows that it has to ask the server.
func LeaveOutApplied(node *corev1.Node) {
	for _, name := range [...]string{annotationStatus, annotationMeta} {
		if node.Annotations[name] != "" {
			node.Annotations[name] = ""
		}
	}
}

// leftOut reports whether what was applied last was taken away from a node by [LeaveOutApplied].
func leftOut(node *corev1.Node) bool {
	for _, name := range [...]string{annotationStatus, annotationMeta} {
		if text, is := node.Annotations[name]; is && text == "" {
			return true
		}
	}
	return false
}

// emptyPatch changes nothing.
const emptyPatch = "{}"

var nodeSchema = sync.OnceValues(func() (strategicpatch.LookupPatchMeta, error) {
	return strategicpatch.NewPatchMetaFromStruct(corev1.Node{})
})

// statusPatch returns the strategic merge patch of the subresource status that brings the desired labels, annotations and
// status to the live node: a three-way merge with what was applied last, so that what others have added survives, and
// what the desired node has given up goes. The patch holds the live node's UID, if it holds anything: a server refuses it for
// another node of that name.
func statusPatch(desired, live *corev1.Node) ([]byte, error) {
	applied, err := lastApplied(live)
	if err != nil {
		return nil, err
	}
	next, err := annotated(desired)
	if err != nil {
		return nil, err
	}
	var texts [3][]byte
	for i, node := range []*corev1.Node{applied, next, live} {
		if texts[i], err = json.Marshal(compared(node)); err != nil {
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

// A comparison is the input of a merge, with the fields that a Node leaves out where they are empty: a merge takes a
// list or a map that isn't there any more for one that shall go whole, with the elements of others.
type comparison struct {
	Metadata struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Status struct {
		corev1.NodeStatus `json:",inline"`
		Conditions        []corev1.NodeCondition `json:"conditions"`
		Addresses         []corev1.NodeAddress   `json:"addresses"`
		Capacity          corev1.ResourceList    `json:"capacity"`
		Allocatable       corev1.ResourceList    `json:"allocatable"`
	} `json:"status"`
}

func compared(node *corev1.Node) *comparison {
	c := &comparison{}
	c.Metadata.Labels, c.Metadata.Annotations = orEmpty(node.Labels), orEmpty(node.Annotations)
	c.Status.NodeStatus = node.Status
	c.Status.Conditions = append([]corev1.NodeCondition{}, node.Status.Conditions...)
	c.Status.Addresses = append([]corev1.NodeAddress{}, node.Status.Addresses...)
	c.Status.Capacity, c.Status.Allocatable = orEmpty(node.Status.Capacity), orEmpty(node.Status.Allocatable)
	return c
}

func orEmpty[M ~map[K]V, K comparable, V any](m M) M {
	if m == nil {
		return M{}
	}
	return m
}

// said is the part of an object's metadata that a provider has a say in.
func said(labels, annotations map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Labels: labels, Annotations: annotations}
}

// lastApplied returns the last applied state in the live node's annotations; an empty node unless they hold all of
// it.
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

// annotated is the desired node that remembers itself. It shares all else with it.
func annotated(desired *corev1.Node) (*corev1.Node, error) {
	meta := said(orEmpty(desired.Labels), desired.Annotations)
	metaText, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("encode the metadata of node %s: %w", desired.Name, err)
	}
	statusText, err := json.Marshal(desired.Status)
	if err != nil {
		return nil, fmt.Errorf("encode the status of node %s: %w", desired.Name, err)
	}
	node := *desired
	node.Annotations = make(map[string]string, len(desired.Annotations)+2)
	maps.Copy(node.Annotations, desired.Annotations)
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
