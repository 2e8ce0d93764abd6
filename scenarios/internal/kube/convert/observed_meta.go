package convert

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// begin is the metadata of an object that comes, without what [Observed.meta] sets.
func begin(ev *timeline.Event) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: ev.Name, Namespace: ev.Namespace, UID: types.UID(ev.UID)}
}

// meta sets what has changed of the metadata.
func (o *Observed) meta(to *metav1.ObjectMeta, old, m *kube.Meta) {
	if !kube.Identical(old.Labels, m.Labels) {
		to.Labels = o.set(m.Labels)
	}
	if !kube.Identical(old.Annotations, m.Annotations) {
		to.Annotations = o.set(m.Annotations)
	}
	o.rest(to, old, m)
}

// ownMeta is meta of an object with maps of its own, which nobody keeps.
func (o *Observed) ownMeta(to *metav1.ObjectMeta, old, m *kube.Meta) {
	to.Labels, to.Annotations = changePairs(to.Labels, old.Labels, m.Labels), changePairs(to.Annotations, old.Annotations, m.Annotations)
	o.rest(to, old, m)
}

// changePairs makes of a map with some pairs one with others. Both lists are sorted.
func changePairs(is map[string]string, old, now kube.Pairs) map[string]string {
	if kube.Identical(old, now) {
		return is
	}
	if is == nil {
		is = make(map[string]string, len(now))
	}
	for i := range now {
		for len(old) > 0 && old[0].Key < now[i].Key {
			delete(is, old[0].Key)
			old = old[1:]
		}
		if len(old) > 0 && old[0].Key == now[i].Key {
			same := old[0].Value == now[i].Value
			if old = old[1:]; same {
				continue
			}
		}
		is[now[i].Key] = now[i].Value
	}
	for i := range old {
		delete(is, old[i].Key)
	}
	return is
}

// rest sets what has changed of the metadata beside labels and annotations.
func (o *Observed) rest(to *metav1.ObjectMeta, old, m *kube.Meta) {
	to.Generation = m.Generation
	if old.Created != m.Created {
		to.CreationTimestamp.Time = second(m.Created)
	}
	if old.Deleting != m.Deleting || old.Grace != m.Grace {
		to.DeletionTimestamp, to.DeletionGracePeriodSeconds = nil, nil
		if m.Deleting != 0 {
			at, grace := metav1.Time{Time: second(m.Deleting)}, m.Grace
			to.DeletionTimestamp, to.DeletionGracePeriodSeconds = &at, &grace
		}
	}
	if !kube.Identical(old.Finalizers, m.Finalizers) {
		to.Finalizers = m.Finalizers
	}
	if old.Owner != m.Owner {
		to.OwnerReferences = o.owner(m.Owner)
	}
}

// second is a moment in whole seconds, the zero time where there is none.
func second(i kube.Instant) time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(int64(i)/int64(time.Second), 0).UTC()
}

// moment is a moment in whole seconds, nil where there is none.
func moment(i kube.Instant) *metav1.Time {
	if i == 0 {
		return nil
	}
	return &metav1.Time{Time: second(i)}
}

// micro is a moment in microseconds.
func micro(i kube.Instant) metav1.MicroTime {
	if i == 0 {
		return metav1.MicroTime{}
	}
	return metav1.MicroTime{Time: i.Time().Truncate(time.Microsecond)}
}

// set identifies labels by the list that they are.
type set struct {
	first *kube.Pair
	n     int
}

// set are labels or annotations, which the pods of a workload may share.
func (o *Observed) set(p kube.Pairs) map[string]string {
	if len(p) == 0 {
		return nil
	}
	k := set{&p[0], len(p)}
	m := o.sets[k]
	if m == nil {
		m = make(map[string]string, len(p))
		for i := range p {
			m[p[i].Key] = p[i].Value
		}
		o.sets[k] = m
	}
	return m
}

func (o *Observed) owner(of *kube.Owner) []metav1.OwnerReference {
	if of == nil {
		return nil
	}
	all := o.owners[of]
	if all == nil {
		all = []metav1.OwnerReference{{Kind: of.Kind}}
		o.owners[of] = all
	}
	return all
}

// custom is a provider's object, of which observers look at the metadata alone.
func (o *Observed) custom(ev *timeline.Event, old, c *kube.Custom) metav1.Object {
	m, fresh := o.others.of(ev, &c.Beside)
	if fresh {
		*m = metav1.PartialObjectMetadata{ObjectMeta: begin(ev)}
		old = &kube.Custom{}
	}
	if old != nil {
		o.meta(&m.ObjectMeta, &old.Meta, &c.Meta)
	}
	m.ResourceVersion = ev.RV
	return m
}
