package live

import (
	"context"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	classesResource     = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
	attachmentsResource = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "volumeattachments"}
	csiNodesResource    = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"}
	claimsResource      = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	volumesResource     = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}
)

// hasDisks reports whether the resources are those of a scenario with volumes.
func hasDisks(created []schema.GroupVersionResource) bool {
	return slices.Contains(created, classesResource)
}

// disks deletes claims, volumes and what they were attached by, when the pods are
// gone. kube-controller-manager lets them go: claims that no pod uses, volumes that
// no claim has.
func (s *sweep) disks(ctx context.Context) (left []string, err error) {
	if !hasDisks(s.resources) {
		return nil, nil
	}
	if left, err = s.attachments(ctx); err != nil {
		return nil, err
	}
	for _, r := range []schema.GroupVersionResource{claimsResource, volumesResource, csiNodesResource} {
		names, err := s.labelled(ctx, r)
		if err != nil {
			return nil, err
		}
		left = append(left, names...)
	}
	return left, nil
}

// attachments deletes those of our volumes, with the finalizers that no controller removes any more. The newest may
// not have the label yet.
func (s *sweep) attachments(ctx context.Context) (left []string, err error) {
	volumes, err := s.clients.dynamic.Resource(volumesResource).List(ctx, metav1.ListOptions{LabelSelector: Label + "=" + s.p.label})
	if err != nil {
		return nil, s.refused(volumesResource, "list", err)
	}
	ours := map[string]bool{}
	for i := range volumes.Items {
		ours[volumes.Items[i].GetName()] = true
	}
	client := s.clients.kube.StorageV1().VolumeAttachments()
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, s.refused(attachmentsResource, "list", err)
	}
	err = eachOf(list.Items, func(a *storagev1.VolumeAttachment) error {
		name := a.Spec.Source.PersistentVolumeName
		if a.Labels[Label] != s.p.label && (name == nil || !ours[*name]) {
			return nil
		}
		if len(a.Finalizers) > 0 {
			if err := release(ctx, s.clients.dynamic.Resource(attachmentsResource), a.Name, a.UID); err != nil {
				return s.refused(attachmentsResource, "patch", err)
			}
		}
		if err := deleted(client.Delete(ctx, a.Name, onlyThis(a.UID, nil))); err != nil {
			return s.refused(attachmentsResource, "delete", err)
		}
		s.note(attachmentsResource, a.UID)
		s.mu.Lock()
		defer s.mu.Unlock()
		left = append(left, "volumeattachments/"+a.Name)
		return nil
	})
	slices.Sort(left)
	return left, err
}
