package podadmission

import storagev1 "k8s.io/api/storage/v1"

// DefaultStorageClass returns that of claims that name none, or nil: of those that are marked as default the newest, and
// of several of one second the first by name (GetDefaultClass of pkg/volume/util/storageclass.go).
func DefaultStorageClass(all []*storagev1.StorageClass) (best *storagev1.StorageClass) {
	for _, c := range all {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" && c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		if best == nil || c.CreationTimestamp.After(best.CreationTimestamp.Time) || c.CreationTimestamp.Equal(&best.CreationTimestamp) && c.Name < best.Name {
			best = c
		}
	}
	return best
}
