package scenarios

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/timeline"
)

// scheduling takes note of what clients write that says where pods come: the labels of namespaces, which terms of pods
// select.
func (a *Acting) scheduling(r timeline.Resource, ev *timeline.Event) error {
	if r.Group != "" || r.Resource != "namespaces" {
		return nil
	}
	var in struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if ev.Type != timeline.Deleted {
		if err := json.Unmarshal(ev.Object, &in); err != nil {
			return err
		}
	}
	a.sim.scheduler.Namespace(ev.Name, convert.LabelsFromAPI(in.Metadata.Labels))
	return nil
}
