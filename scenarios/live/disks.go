package live

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
)

var _ scenarios.Disks = (*apiServer)(nil)

// CreateVolume implements [scenarios.Disks].
func (w *apiServer) CreateVolume(pv *corev1.PersistentVolume) {
	pv.Labels = withLabel(pv.Labels, w.label)
	w.writeQueue.send("persistentvolume/"+pv.Name, "create persistentvolumes "+pv.Name, func(ctx context.Context) error {
		_, err := w.client.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{FieldManager: fieldManager})
		if apierrors.IsAlreadyExists(err) {
			return nil // its name has the claim's UID
		}
		return err
	})
}

// DeleteVolume implements [scenarios.Disks].
func (w *apiServer) DeleteVolume(name string, uid types.UID) {
	w.writeQueue.send("persistentvolume/"+name, "delete persistentvolumes "+name, func(ctx context.Context) error {
		return deleted(w.client.CoreV1().PersistentVolumes().Delete(ctx, name, onlyThis(uid, nil)))
	})
}

// WriteAttachment implements [scenarios.Disks]. The finalizer comes before the status, and with it the label. Writes
// of one volume keep their order: an attach-detach controller that saw a detachment fail asks for the next attachment
// beside it (pkg/volume/util/operationexecutor, GenerateDetachVolumeFunc).
func (w *apiServer) WriteAttachment(old, new *storagev1.VolumeAttachment) {
	is := new.DeepCopy()
	is.Labels = withLabel(is.Labels, w.label)
	key := "volumeattachment/" + is.Name
	if volume := is.Spec.Source.PersistentVolumeName; volume != nil {
		key = "volumeattachments of " + *volume
	}
	w.writeQueue.send(key, "patch volumeattachments "+is.Name, func(ctx context.Context) error {
		was, next := &storagev1.VolumeAttachment{ObjectMeta: *old.ObjectMeta.DeepCopy()}, &storagev1.VolumeAttachment{ObjectMeta: *is.ObjectMeta.DeepCopy()}
		patch, err := twoWay(was, next, &storagev1.VolumeAttachment{}, is.UID, "")
		if err != nil {
			return err
		}
		if err := w.patchAttachment(ctx, is, patch); err != nil || apiequality.Semantic.DeepEqual(old.Status, is.Status) {
			return err
		}
		was, next = &storagev1.VolumeAttachment{Status: old.Status}, &storagev1.VolumeAttachment{Status: is.Status}
		if patch, err = twoWay(was, next, &storagev1.VolumeAttachment{}, is.UID, ""); err != nil {
			return err
		}
		return w.patchAttachment(ctx, is, patch, "status")
	})
}

// patchAttachment writes to the VolumeAttachment of that UID, if it is there.
func (w *apiServer) patchAttachment(ctx context.Context, is *storagev1.VolumeAttachment, patch []byte, sub ...string) error {
	if patch == nil {
		return nil
	}
	all := w.client.StorageV1().VolumeAttachments()
	_, err := all.Patch(ctx, is.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, sub...)
	return replaced(err, is.UID, func() (*storagev1.VolumeAttachment, error) { return all.Get(ctx, is.Name, metav1.GetOptions{}) })
}

// PostDrivers implements [scenarios.Disks]. A CSINode goes with its Node: one of an earlier Node of the name becomes
// this one's. Those of a foreign Node belong to its owner.
func (w *apiServer) PostDrivers(csi *storagev1.CSINode) {
	csi.Labels = withLabel(csi.Labels, w.label)
	w.writeQueue.send("node/"+csi.Name, "create csinodes "+csi.Name, func(ctx context.Context) error {
		node, err := w.client.CoreV1().Nodes().Get(ctx, csi.Name, metav1.GetOptions{})
		if err != nil || !w.kubelets.owns(node) {
			return gone(err)
		}
		csi.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}
		all := w.client.StorageV1().CSINodes()
		_, err = all.Create(ctx, csi, metav1.CreateOptions{FieldManager: fieldManager})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": csi.Labels, "ownerReferences": csi.OwnerReferences}})
		if err != nil {
			return fmt.Errorf("encode the owner of csinode %s: %w", csi.Name, err)
		}
		_, err = all.Patch(ctx, csi.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		if apierrors.IsNotFound(err) { // it was being collected
			return apierrors.NewServiceUnavailable("csinode " + csi.Name + " was being deleted")
		}
		return err
	})
}

func withLabel(labels map[string]string, label string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	labels[Label] = label
	return labels
}

// labelClaims has the claims that controllers make of a workload's templates carry
// the label: they outlive it.
func labelClaims(o runtime.Object, label string) {
	if set, is := o.(*appsv1.StatefulSet); is {
		for i := range set.Spec.VolumeClaimTemplates {
			claim := &set.Spec.VolumeClaimTemplates[i]
			claim.Labels = withLabel(claim.Labels, label)
		}
	}
	pods := convert.PodTemplateToAPI(o)
	if pods == nil {
		return
	}
	for i := range pods.Spec.Volumes {
		if e := pods.Spec.Volumes[i].Ephemeral; e != nil && e.VolumeClaimTemplate != nil {
			e.VolumeClaimTemplate.Labels = withLabel(e.VolumeClaimTemplate.Labels, label)
		}
	}
}

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
