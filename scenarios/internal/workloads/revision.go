package workloads

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ControllerRevisions hold the templates that a StatefulSet or a DaemonSet has had.

func revised(o *object) *appsv1.ControllerRevision { return o.api.(*appsv1.ControllerRevision) }

// dataOf is a template as a ControllerRevision holds it: a patch of the workload (getPatch of
// pkg/controller/statefulset/stateful_set_utils.go).
func (a *Actor) dataOf(t *corev1.PodTemplateSpec) []byte {
	text, err := json.Marshal(t)
	if err != nil {
		a.env.Fail(err)
		return nil
	}
	var template map[string]any
	if err := json.Unmarshal(text, &template); err != nil {
		a.env.Fail(err)
		return nil
	}
	template["$patch"] = "replace"
	text, err = json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
	if err != nil {
		a.env.Fail(err)
	}
	return text
}

// templateOf is the template that a ControllerRevision holds.
func (a *Actor) templateOf(rev *appsv1.ControllerRevision) *corev1.PodTemplateSpec {
	var in struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(rev.Data.Raw, &in); err != nil {
		return nil // a client's, which is none
	}
	return &in.Spec.Template
}

// sameData compares templates whatever the order of their fields, which the API server doesn't keep.
func (a *Actor) sameData(rev *appsv1.ControllerRevision, data []byte) bool {
	if bytes.Equal(rev.Data.Raw, data) {
		return true
	}
	var in map[string]any
	if json.Unmarshal(rev.Data.Raw, &in) != nil {
		return false
	}
	sorted, err := json.Marshal(in)
	return err == nil && bytes.Equal(sorted, data)
}

// revisions are those of a workload in their order. Those that it selects and that nothing controls are adopted.
func (a *Actor) revisions(o *object) (own []*object) {
	for _, r := range slices.Clone(a.within[place{"controllerrevisions", o.doc.Namespace}]) {
		selected := o.selects.Matches(labelled{mapped(r.api.GetLabels())})
		switch c := metav1.GetControllerOfNoCopy(r.api); {
		case c != nil && c.UID == o.api.GetUID():
		case c == nil && selected && r.api.GetDeletionTimestamp() == nil && o.api.GetDeletionTimestamp() == nil:
			update(a, r, func(rev *appsv1.ControllerRevision) { rev.OwnerReferences = append(rev.OwnerReferences, o.reference()) })
		default:
			continue
		}
		own = append(own, r)
	}
	slices.SortStableFunc(own, func(a, b *object) int {
		return cmp.Or(cmp.Compare(revised(a).Revision, revised(b).Revision), byAge(a, b))
	})
	return own
}

// newRevision is a ControllerRevision of a workload with a name that tells its data.
func (o *object) newRevision(data []byte, n int64, labels map[string]string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.doc.Namespace, Labels: labels, Annotations: maps.Clone(o.api.GetAnnotations()), OwnerReferences: []metav1.OwnerReference{o.reference()},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: n,
	}
}

// dataHash is HashControllerRevision of pkg/controller/history.
func dataHash(data []byte, collisions int32) string {
	h := fnv.New32()
	h.Write(data)
	fmt.Fprint(h, collisions)
	return safe(fmt.Sprint(h.Sum32()))
}

// renumber gives a ControllerRevision another number.
func (a *Actor) renumber(o *object, n int64) {
	if revised(o).Revision != n {
		update(a, o, func(rev *appsv1.ControllerRevision) { rev.Revision = n })
	}
}
