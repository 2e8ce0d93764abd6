package scenarios

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// scheduling takes note of what clients write that says where pods come: the labels of namespaces, which terms of pods
// select, and PriorityClasses.
func (a *Acting) scheduling(r timeline.Resource, ev *timeline.Event) error {
	switch {
	case r.Group == "" && r.Resource == "namespaces":
		var in struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		}
		if ev.Type != timeline.Deleted {
			if err := json.Unmarshal(ev.Object, &in); err != nil {
				return err
			}
		}
		a.sim.scheduler.Namespace(ev.Name, convert.LabelsFromAPI(in.Metadata.Labels))
	case r.Group == schedulingv1.GroupName && r.Resource == "priorityclasses":
		if ev.Type == timeline.Deleted {
			delete(a.classes, ev.Name)
			return nil
		}
		in := &schedulingv1.PriorityClass{}
		if err := json.Unmarshal(ev.Object, in); err != nil {
			return err
		}
		a.classes[ev.Name] = in
	}
	return nil
}

// prioritize gives a template of pods the priority of its class, as the admission of each pod would
// (plugin/pkg/admission/priority). A class that isn't there leaves what the template says.
func (a *Acting) prioritize(out *controllers.PodTemplate) {
	if p, ok := priorities[spec.Priority(out.PriorityClass)]; ok {
		out.Priority = p
		return
	}
	class := a.classes[out.PriorityClass]
	if out.PriorityClass == "" {
		for _, c := range a.classes {
			if c.GlobalDefault && (class == nil || c.Value < class.Value) {
				class = c
			}
		}
	}
	if class == nil {
		return
	}
	out.Priority, out.PriorityClass = class.Value, class.Name
	if class.PreemptionPolicy != nil && *class.PreemptionPolicy == corev1.PreemptNever {
		d := kube.Demands{}
		if out.Demands != nil {
			d = *out.Demands
		}
		d.NeverPreempts = true
		out.Demands = &d
	}
}
