package workloads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
)

// prototype is what the pods of one template have in common.
type prototype struct {
	from                *corev1.PodTemplateSpec
	text                []byte // of from
	admitted            uint64 // with what [Config.Admission] said
	template            *kube.Template
	spec                *corev1.PodSpec
	labels, annotations kube.Pairs
	finalizers          []string
	// volumes is a patch that has the volumes as they are; nil where none is claimed. The first claim has the name claim,
	// or, ephemeral as it is, the name of its pod before it.
	volumes   []byte
	claim     string
	ephemeral bool
	gated     bool // gates keep schedulers from the pods
}

// claims finds what the pods claim first (pods of a StatefulSet claim more).
func (m *prototype) claims(s *corev1.PodSpec) {
	for i := range s.Volumes {
		switch v := &s.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			m.claim = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			m.claim, m.ephemeral = "-"+v.Name, true
		default:
			continue
		}
		m.volumes = fmt.Appendf(nil, `{"spec":{"volumes":%s}}`, rawjson.Get(m.template.Document, "spec", "volumes"))
		return
	}
}

// prototype returns that of a template, an earlier one where a pod of it would be the same.
func (a *Actor) prototype(o *object, t *corev1.PodTemplateSpec) (*prototype, error) {
	admitted := uint64(0)
	if a.Admission != nil {
		admitted = a.Admission()
	}
	o.made = slices.DeleteFunc(o.made, func(m *prototype) bool { return m.admitted != admitted })
	for _, m := range o.made {
		if m.from == t {
			return m, nil
		}
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	for _, m := range o.made {
		if bytes.Equal(m.text, text) {
			m.from = t
			return m, nil
		}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.doc.Namespace, GenerateName: o.doc.Name + "-", Labels: t.Labels, Annotations: t.Annotations},
		Spec:       *t.Spec.DeepCopy(),
	}
	if a.Admit != nil {
		if err := a.Admit(pod); err != nil {
			return nil, err
		}
	}
	m := &prototype{
		from: t, text: text, admitted: admitted, labels: convert.LabelsFromAPI(t.Labels), annotations: convert.LabelsFromAPI(pod.Annotations), finalizers: t.Finalizers, spec: &pod.Spec,
		template: convert.TemplateFromAPI(&corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}),
	}
	m.template.Resizable = true
	if a.Traits != nil {
		m.template.Workload = a.Traits(pod)
	}
	spec, err := json.Marshal(&pod.Spec)
	if err != nil {
		return nil, err
	}
	m.template.Document = fmt.Appendf(nil, `{"metadata":{},"spec":%s}`, spec)
	m.claims(&pod.Spec)
	m.gated = len(pod.Spec.SchedulingGates) > 0
	const most = 4 // of which pods are created at one time
	if len(o.made) == most {
		o.made = o.made[1:]
	}
	o.made = append(o.made, m)
	return m, nil
}
