package workloads

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// claimName is the name of a pod's claim (getPersistentVolumeClaimName of
// pkg/controller/statefulset/stateful_set_utils.go).
func claimName(t *corev1.PersistentVolumeClaim, pod string) string { return t.Name + "-" + pod }

// claims creates the claims of a pod that aren't there. It reports whether all are, and stay, and why the API server
// refuses some.
func (s *setSync) claims(pod string, ordinal int) (all bool, refused error) {
	all = true
	var errs []error
	for i := range s.set.Spec.VolumeClaimTemplates {
		t := &s.set.Spec.VolumeClaimTemplates[i]
		name := claimName(t, pod)
		if o := s.byName[named{"persistentvolumeclaims", s.o.doc.Namespace, name}]; o != nil {
			all = all && o.api.GetDeletionTimestamp() == nil
			continue
		}
		c := t.DeepCopy()
		c.ObjectMeta = metav1.ObjectMeta{
			Namespace: s.o.doc.Namespace, Name: name, Labels: maps.Clone(t.Labels), Annotations: t.Annotations,
			Finalizers: []string{"kubernetes.io/pvc-protection"}, // plugin/pkg/admission/storage/storageobjectinuseprotection
		}
		for k, v := range s.set.Spec.Selector.MatchLabels {
			c.Labels = with(c.Labels, k, v)
		}
		if s.policy().WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType && s.wants(ordinal) {
			c.OwnerReferences = []metav1.OwnerReference{s.o.reference()}
		}
		c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		if s.Bounded != nil && s.Bounded(s.o.doc.Namespace) {
			if err := s.ChargeClaim(c); err != nil {
				s.record(s.o, corev1.EventTypeWarning, "FailedCreate", fmt.Sprintf("Create Claim %s for Pod %s in StatefulSet %s failed error: %v", name, pod, s.o.doc.Name, err))
				errs = append(errs, fmt.Errorf("failed to create PVC %s: %w", name, err))
				all = false
				continue
			}
		}
		if o, _ := s.create(kinds["persistentvolumeclaims"], c); o == nil {
			return false, nil
		}
		s.record(s.o, corev1.EventTypeNormal, "SuccessfulCreate", "Create Claim "+name+" Pod "+pod+" in StatefulSet "+s.o.doc.Name+" success")
	}
	err := utilerrors.NewAggregate(errs)
	if err != nil {
		s.again, s.refused = sooner(s.again, s.o.refuse()), true
	}
	return all, err
}

// volumes are those of a pod: its claims, and what else the template has (updateStorage).
func (s *setSync) volumes(t *corev1.PodTemplateSpec, pod string) (all []corev1.Volume) {
	claimed := map[string]bool{}
	for i := range s.set.Spec.VolumeClaimTemplates {
		c := &s.set.Spec.VolumeClaimTemplates[i]
		claimed[c.Name] = true
		all = append(all, corev1.Volume{Name: c.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(c, pod)},
		}})
	}
	return append(all, slices.DeleteFunc(slices.Clone(t.Spec.Volumes), func(v corev1.Volume) bool { return claimed[v.Name] })...)
}

func (s *setSync) policy() appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	retain := appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	p := appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: retain, WhenScaled: retain}
	if own := s.set.Spec.PersistentVolumeClaimRetentionPolicy; own != nil {
		p = *own
	}
	return p
}

// retain gives the claims of a pod the owner with which they go: the StatefulSet, or, of a pod that is too many, the pod,
// as the policy says (updateClaimOwnerRefForSetAndPod). Claims that something else controls are left alone.
func (s *setSync) retain(p *kube.Pod) {
	policy := s.policy()
	goes := appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	ordinal := ordinalOf(s.o, p)
	surplus := !s.wants(ordinal)
	for i := range s.set.Spec.VolumeClaimTemplates {
		o := s.byName[named{"persistentvolumeclaims", s.o.doc.Namespace, claimName(&s.set.Spec.VolumeClaimTemplates[i], p.Name)}]
		if o == nil {
			continue
		}
		refs := slices.DeleteFunc(slices.Clone(o.api.GetOwnerReferences()), func(r metav1.OwnerReference) bool {
			return r.UID == s.set.UID || string(r.UID) == p.UID
		})
		if slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }) {
			continue
		}
		yes := true
		switch {
		case policy.WhenScaled == goes && surplus:
			refs = append(refs, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: uidOf(&kube.Owner{UID: p.UID}), Controller: &yes, BlockOwnerDeletion: &yes})
		case policy.WhenDeleted == goes:
			refs = append(refs, s.o.reference())
		}
		if len(refs) == 0 {
			refs = nil
		}
		update(s.Actor, o, func(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = refs })
	}
}
