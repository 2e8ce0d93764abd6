package scenarios

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// versions hold the newest known version of each pod: several paths bring a pod here, each in its own order, and the
// slower ones may lag. Versions of one resource compare as numbers (KEP-5504); those that are none pass.
type versions struct {
	seen, told map[types.UID]uint64 // by the watch or the kubelet, by the kubelet alone
	// gone are deleted pods by the version of their deletion, which is above all that they had (k8s.io/apiserver,
	// pkg/storage/etcd3/watcher.go): a path that lags may still bring one of those. order is the order of deletions;
	// no path brings the oldest ones any more.
	gone  map[types.UID]uint64
	order []types.UID
}

// maxTombstones is the number of tombstones of deleted pods: far more than can be under way to kubelets when they are.
const maxTombstones = 4096

func newVersions() versions {
	return versions{seen: map[types.UID]uint64{}, told: map[types.UID]uint64{}, gone: map[types.UID]uint64{}}
}

// addTombstone remembers that a pod was deleted. It may be called again with an older
// state of the pod.
func (v *versions) addTombstone(in *corev1.Pod) {
	delete(v.seen, in.UID)
	delete(v.told, in.UID)
	version, is := versionOf(in)
	if !is {
		return
	}
	if _, known := v.gone[in.UID]; !known {
		if v.order = append(v.order, in.UID); len(v.order) > maxTombstones {
			delete(v.gone, v.order[0])
			v.order = v.order[1:]
		}
	}
	v.gone[in.UID] = max(version, v.gone[in.UID])
}

// hasTombstone reports whether a pod is as it was before it was deleted. One that was taken for gone, and that has changed
// since, lives.
func (v *versions) hasTombstone(in *corev1.Pod) bool {
	version, is := versionOf(in)
	return is && version < v.gone[in.UID]
}

// newer reports whether a pod is at least as new as what was seen of it.
func (v *versions) newer(in *corev1.Pod) bool { return atLeast(v.seen, in) }

// newerThanTold reports whether it is at least as new as what its kubelet was told.
func (v *versions) newerThanTold(in *corev1.Pod) bool { return atLeast(v.told, in) }

func atLeast(known map[types.UID]uint64, in *corev1.Pod) bool {
	version, is := versionOf(in)
	if !is {
		return true
	}
	if version < known[in.UID] {
		return false
	}
	known[in.UID] = version
	return true
}

func versionOf(in *corev1.Pod) (version uint64, is bool) {
	version, err := strconv.ParseUint(in.ResourceVersion, 10, 64)
	return version, err == nil
}
