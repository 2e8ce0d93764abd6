package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/rawjson"
)

func typesUID(uid string) types.UID { return types.UID(uid) }

// free reports whether a volume is nobody's, or meant for a claim.
func free(pv *corev1.PersistentVolume, claim *Object) bool {
	ref := pv.Spec.ClaimRef
	return ref == nil || ref.Namespace == claim.Namespace && ref.Name == claim.Name && (ref.UID == "" || string(ref.UID) == claim.UID)
}

// ofOtherClaim reports whether a volume is meant for another claim: most are, and reading that costs far less than decoding
// the volume.
func ofOtherClaim(disk, claim *Object) bool {
	ref := rawjson.Get(disk.text, "spec", "claimRef")
	return rawjson.IsObject(ref) && (rawjson.Text(ref, "namespace") != claim.Namespace || rawjson.Text(ref, "name") != claim.Name)
}

// match finds the volume of a claim: the one that is meant for it, or else the smallest that will do (FindMatchingVolume
// of k8s.io/component-helpers, storage/volume/pv_helpers.go). Where the claim waits for its first consumer, that one's
// node has to reach it.
func (v *volumes) match(x *Object, claim *corev1.PersistentVolumeClaim, node string, waits bool) (best *Object) {
	want := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	selector, err := metav1.LabelSelectorAsSelector(claim.Spec.Selector)
	if claim.Spec.Selector == nil {
		selector = labels.Everything()
	} else if err != nil {
		return nil
	}
	class := ""
	if claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	var size = want
	for _, disk := range inOrder(v.disks) {
		if ofOtherClaim(disk, x) {
			continue
		}
		pv := decode[corev1.PersistentVolume](disk)
		has := pv.Spec.Capacity[corev1.ResourceStorage]
		switch {
		case disk.Deleting || !free(pv, x) || has.Cmp(want) < 0 || !modes(pv, claim) || mode(pv.Spec.VolumeMode) != mode(claim.Spec.VolumeMode):
		case pv.Spec.ClaimRef != nil:
			return disk
		case waits && node == "", pv.Spec.StorageClassName != class, pv.Status.Phase != corev1.VolumeAvailable, !selector.Matches(labels.Set(pv.Labels)), !v.reaches(pv, node):
		case best == nil || has.Cmp(size) < 0:
			best, size = disk, has
		}
	}
	return best
}

func mode(m *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	if m == nil {
		return corev1.PersistentVolumeFilesystem
	}
	return *m
}

// modes reports whether a volume can be used in all the ways that a claim asks for.
func modes(pv *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) bool {
	return !slices.ContainsFunc(claim.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool { return !slices.Contains(pv.Spec.AccessModes, m) })
}

// reaches reports whether a node has access to a volume.
func (v *volumes) reaches(pv *corev1.PersistentVolume, node string) bool {
	n := v.Env.API.Node(node)
	if n == nil || pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return true
	}
	return slices.ContainsFunc(pv.Spec.NodeAffinity.Required.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
			value, has := n.Labels.Lookup(r.Key)
			in := has && slices.Contains(r.Values, value)
			switch r.Operator {
			case corev1.NodeSelectorOpIn:
				return !in
			case corev1.NodeSelectorOpNotIn:
				return in
			case corev1.NodeSelectorOpExists:
				return !has
			case corev1.NodeSelectorOpDoesNotExist:
				return has
			case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			}
			return true // a volume has none of those
		})
	})
}
