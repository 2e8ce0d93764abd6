package controller

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// podStore is the controller's memory: a record of each of its pods that is in the API, and the pods that have left
// the API and may still run at the provider. The provider and the informer know a pod by name, so the book is kept by
// namespace/name; each entry says which UID is meant, and what is asked for another UID finds nothing.
type podStore struct {
	mu   sync.Mutex
	pods map[string]*podRecord
	gone map[string][]types.UID
}

// podRecord is the memory of one pod.
type podRecord struct {
	uid          types.UID
	synced       uint64      // podFingerprint at the last success towards the provider; 0 before
	removeAt     time.Time   // once the provider has taken the deletion: when the object leaves the API at the latest
	lastReported *podReport  // what the provider said last; nil before
	accepted     uint64      // statusFingerprint of the API's answer to the last write of lastReported; 0 before
	newest       *corev1.Pod // that answer, until the informer has caught up with it
}

// podReport is the controller's copy of a pod that the provider hands in.
type podReport struct {
	uid         types.UID         // empty if the provider doesn't say it
	status      *corev1.PodStatus // never changed; once the API shows it, the cache's own
	fingerprint uint64
	deletion    *metav1.Time // the provider deletes it by itself
	grace       *int64
}

func newPodStore() *podStore {
	return &podStore{pods: map[string]*podRecord{}, gone: map[string][]types.UID{}}
}

// nameOf is the key of a pod in the book, in the cache and in the queue towards the provider.
func nameOf(pod *corev1.Pod) string { return cache.NewObjectName(pod.Namespace, pod.Name).String() }

// keyOf is the key of one pod, and never of its successor, in the queues towards the API.
func keyOf(pod *corev1.Pod) string { return nameOf(pod) + "/" + string(pod.UID) }

// remember opens a record for a pod that is in the API and says whether it is new. An earlier pod of the name is gone.
func (b *podStore) remember(pod *corev1.Pod) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := nameOf(pod)
	record := b.pods[name]
	if record != nil && record.uid == pod.UID {
		return false
	}
	if record != nil {
		b.lose(name, record.uid)
	}
	b.pods[name] = &podRecord{uid: pod.UID}
	return true
}

// forget closes the record of a pod that has left the API, and says whether there was one.
func (b *podStore) forget(pod *corev1.Pod) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := nameOf(pod)
	record := b.pods[name]
	if record == nil || record.uid != pod.UID {
		return slices.Contains(b.gone[name], pod.UID)
	}
	delete(b.pods, name)
	b.lose(name, pod.UID)
	return true
}

// lose notes a pod that the provider may still run; the lock is held.
func (b *podStore) lose(name string, uid types.UID) {
	if !slices.Contains(b.gone[name], uid) {
		b.gone[name] = append(b.gone[name], uid)
	}
}

// lost notes that the provider runs a pod which the API doesn't know.
func (b *podStore) lost(name string, uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lose(name, uid)
}

// goneBy lists the pods of the name that have left the API and may still run.
func (b *podStore) goneBy(name string) []types.UID {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.gone[name])
}

// ended strikes out pods that the provider has been told to end.
func (b *podStore) ended(name string, uids []types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := slices.DeleteFunc(b.gone[name], func(uid types.UID) bool { return slices.Contains(uids, uid) })
	if len(left) == 0 {
		delete(b.gone, name)
		return
	}
	b.gone[name] = left
}

// names lists the pods that have left the API and may still run.
func (b *podStore) names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	names := make([]string, 0, len(b.gone))
	for name := range b.gone {
		names = append(names, name)
	}
	return names
}

// read is a copy of a pod's record; the zero record if there is none.
func (b *podStore) read(name string, uid types.UID) podRecord {
	b.mu.Lock()
	defer b.mu.Unlock()
	if record := b.pods[name]; record != nil && record.uid == uid {
		return *record
	}
	return podRecord{}
}

// write changes a pod's record, if there is one.
func (b *podStore) write(name string, uid types.UID, change func(*podRecord)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if record := b.pods[name]; record != nil && record.uid == uid {
		change(record)
	}
}

// report notes what the provider said of a pod and says whether that is news. An empty UID means the pod of that name.
// The UID of the pod that is meant comes back, empty if there is no record of it.
func (b *podStore) report(name string, uid types.UID, said *podReport) (types.UID, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	record := b.pods[name]
	if record == nil || uid != "" && record.uid != uid {
		return "", false
	}
	if last := record.lastReported; last != nil && last.fingerprint == said.fingerprint && last.deletion.Equal(said.deletion) {
		return record.uid, false
	}
	record.lastReported, record.accepted = said, 0
	return record.uid, true
}

// share releases the status that the provider said, in favour of the cache's own, which agrees with it in all that a
// provider may say: of each pod, one status is in memory and not two. With readiness gates they needn't agree in Ready, and
// what the provider says of it counts again once the gates open.
func (b *podStore) share(pod *corev1.Pod, reported *podReport) {
	if reported.status == &pod.Status || len(pod.Spec.ReadinessGates) > 0 {
		return
	}
	shared := *reported
	shared.status = &pod.Status
	b.write(nameOf(pod), pod.UID, func(r *podRecord) {
		if r.lastReported == reported {
			r.lastReported = &shared
		}
	})
}

// caughtUp drops the answer to the last status write once the informer has the pod at that version or a later one.
func (b *podStore) caughtUp(pod *corev1.Pod) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if record := b.pods[nameOf(pod)]; record != nil && record.newest != nil && !newer(record.newest, pod) {
		record.newest = nil
	}
}

// newer says whether a is a later state than b of the same pod.
func newer(a, b *corev1.Pod) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err == nil && order > 0
}
