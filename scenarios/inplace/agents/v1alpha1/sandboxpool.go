// Package v1alpha1 holds the little of a sandbox pool's API that in-place updates touch: the images that a pod of the pool
// runs while it is idle. It is a type to pass around, not a resource: nothing is registered, and no CRD belongs to it.
//
// Its API may still change (docs/stability.md).
package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SandboxPool is a pool of pre-started idle pods that are turned into running sandboxes and back.
type SandboxPool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SandboxPoolSpec `json:"spec,omitempty"`
}

// SandboxPoolSpec describes the idle pods of the pool.
type SandboxPoolSpec struct {
	// Template is the pod of which the pool keeps copies.
	Template corev1.PodTemplateSpec `json:"template"`
	// IdleImage, if set, is the image of the template's first container while a pod is idle, in place of its own.
	IdleImage string `json:"idleImage,omitempty"`
}

// IdleImages are the images of an idle pod by container: those of the template, the first one replaced by IdleImage where
// that is set. A nil pool has none.
func (p *SandboxPool) IdleImages() map[string]string {
	if p == nil {
		return nil
	}
	images := make(map[string]string, len(p.Spec.Template.Spec.Containers))
	for i, c := range p.Spec.Template.Spec.Containers {
		images[c.Name] = c.Image
		if i == 0 && p.Spec.IdleImage != "" {
			images[c.Name] = p.Spec.IdleImage
		}
	}
	return images
}
