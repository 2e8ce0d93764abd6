package writes

import (
	"encoding/json"
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/timeline"
)

// PatchName is a patch type in one word.
func PatchName(t types.PatchType) string {
	switch t {
	case types.JSONPatchType:
		return "json"
	case types.MergePatchType:
		return "merge"
	case types.StrategicMergePatchType:
		return "strategic"
	case types.ApplyYAMLPatchType:
		return "apply"
	case types.ApplyCBORPatchType:
		return "apply-cbor"
	}
	return string(t)
}

// MarshalJSON makes the line of the log, its members in this order, those that
// say nothing left out:
//
//	{"at":"92.4s","verb":"patch","resource":"nodes","name":"ip-10-0-1-10","patchType":"strategic","body":{"spec":{"unschedulable":true}},"fieldManager":"kubectl-cordon","code":200}
func (e Entry) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		At           string                `json:"at"`
		Verb         string                `json:"verb"`
		Resource     string                `json:"resource"`
		Subresource  string                `json:"subresource,omitempty"`
		Namespace    string                `json:"namespace,omitempty"`
		Name         string                `json:"name,omitempty"`
		PatchType    string                `json:"patchType,omitempty"`
		Labels       string                `json:"labelSelector,omitempty"`
		Fields       string                `json:"fieldSelector,omitempty"`
		Body         json.RawMessage       `json:"body,omitempty"`
		Hidden       bool                  `json:"hidden,omitempty"`
		Options      *metav1.DeleteOptions `json:"options,omitempty"`
		DryRun       bool                  `json:"dryRun,omitempty"`
		FieldManager string                `json:"fieldManager,omitempty"`
		Force        bool                  `json:"force,omitempty"`
		Code         int                   `json:"code"`
		Reason       metav1.StatusReason   `json:"reason,omitempty"`
	}{
		timeline.FormatAt(e.At), e.Verb, e.Resource.GroupResource().String(), e.Subresource, e.Namespace, e.Name, PatchName(e.PatchType),
		e.Labels, e.Fields, e.Body, e.Hidden, e.Delete, e.DryRun, e.Manager, e.Force, e.Code, e.Reason,
	})
}

// Lines returns what writes each entry to w as one line of JSON, for [New]. The
// first error is kept, nothing is written after it, and failed returns it; it
// may be called at any time.
func Lines(w io.Writer) (record func(Entry), failed func() error) {
	var mu sync.Mutex
	var first error
	record = func(e Entry) {
		line, err := json.Marshal(e)
		mu.Lock()
		defer mu.Unlock()
		if first == nil && err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		if first == nil {
			first = err
		}
	}
	return record, func() error {
		mu.Lock()
		defer mu.Unlock()
		return first
	}
}
