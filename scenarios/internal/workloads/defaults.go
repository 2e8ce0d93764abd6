package workloads

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/internal/kubedefaults"
)

// complete fills in what the API server does and the controllers read: not all objects come by a client's write.
func (a *Actor) complete(api apiObject) {
	if rc, is := api.(*corev1.ReplicationController); is && rc.Spec.Template == nil {
		rc.Spec.Template = &corev1.PodTemplateSpec{}
	}
	if k := kindOf(api); k != nil {
		if err := kubedefaults.FillObject(k.GroupVersionKind, api); err != nil {
			a.env.Fail(err)
		}
	}
}

// completeTemplate is complete for a template of pods.
func (a *Actor) completeTemplate(t *corev1.PodTemplateSpec) {
	of := &corev1.PodTemplate{Template: *t}
	if err := kubedefaults.FillObject(corev1.SchemeGroupVersion.WithKind("PodTemplate"), of); err != nil {
		a.env.Fail(err)
	}
	*t = of.Template
}
