package scenarios

import (
	"encoding/json"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/timeline"
)

// scheduling takes note of what clients write that says where pods come: the labels of namespaces, which terms of pods
// select, and how many volumes a node takes.
func (a *Acting) scheduling(r timeline.Resource, ev *timeline.Event) error {
	switch {
	case r.Group == "" && r.Resource == "namespaces":
		return a.namespaceLabels(ev)
	case r.Group == storagev1.GroupName && r.Resource == "csinodes":
		return a.volumeLimit(ev)
	}
	return nil
}

func (a *Acting) namespaceLabels(ev *timeline.Event) error {
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

// volumeLimit reads what a CSINode says of the provider's driver, whose volumes all claims have.
func (a *Acting) volumeLimit(ev *timeline.Event) error {
	var in storagev1.CSINode
	if ev.Type != timeline.Deleted {
		if err := json.Unmarshal(ev.Object, &in); err != nil {
			return err
		}
	}
	most := -1
	for _, d := range in.Spec.Drivers {
		if d.Name == a.sim.driver() && d.Allocatable != nil && d.Allocatable.Count != nil {
			most = int(*d.Allocatable.Count)
		}
	}
	a.sim.scheduler.VolumeLimit(ev.Name, most)
	return nil
}
