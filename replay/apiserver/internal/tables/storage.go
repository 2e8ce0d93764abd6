package tables

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// volumePhase is the phase of a volume or a claim, unless it is being deleted.
func volumePhase(o *object) string {
	if o.DeletionTimestamp != nil {
		return "Terminating"
	}
	return cmp.Or(o.text(".status.phase", ""), "Pending")
}

// volumeClass is the storage class, unless the annotation that preceded the field is there.
func volumeClass(o *object) string {
	if older, ok := o.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return older
	}
	return o.text(".spec.storageClassName", "")
}

// claimCapacity and claimModes show what the volume offers, not what was asked for, so nothing before there is one.
func claimCapacity(o *object) string {
	if o.text(".spec.volumeName", "") == "" {
		return ""
	}
	return quantity(o, ".status.capacity.storage")
}

func claimModes(o *object) string {
	if o.text(".spec.volumeName", "") == "" {
		return ""
	}
	return accessModes(o, ".status.accessModes[*]")
}

// accessModes lists the modes in one order, each once, by their short names.
func accessModes(o *object, path string) string {
	modes := o.list(path)
	var words []string
	for _, known := range []struct {
		mode  corev1.PersistentVolumeAccessMode
		short string
	}{
		{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, string(known.mode)) {
			words = append(words, known.short)
		}
	}
	return strings.Join(words, ",")
}

// tokenRequests tells token requests that are there from an empty list of them.
func tokenRequests(o *object) string {
	if !o.has(".spec.tokenRequests") {
		return unset
	}
	return strings.Join(o.list(".spec.tokenRequests[*].audience"), ",")
}

// encodings are the versions in which API servers store a resource.
func encodings(o *object) string {
	servers := o.list(".status.storageVersions[*].apiServerID")
	for i, encoding := range o.list(".status.storageVersions[*].encodingVersion") {
		servers[i] += "=" + encoding
	}
	return cmp.Or(firstFew(servers, 3, ","), unset)
}
