package hunt

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// What patches make of an object, event by event, is what a reader of the tape decodes of the whole object.
func TestObjectsAreThoseOfTheTape(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Document == nil || s.Name == "percentage" { // as surge, and large
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			f, err := s.Document.Resolve(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var tape bytes.Buffer
			h := f.Header()
			w, err := timeline.NewWriter(&tape, h)
			if err != nil {
				t.Fatal(err)
			}
			held := newObjects(&h)
			defer held.release()
			var taken []metav1.Object // copies
			sim, err := f.Simulate(func(ev timeline.Event) error {
				if ev.Type.Object() {
					taken = append(taken, copied(held.take(&ev)))
				}
				return w.WriteLine(ev)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(sim.Run(), w.Close()); err != nil {
				t.Fatal(err)
			}
			r, err := timeline.NewReader(&tape)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; ; {
				ev, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if !ev.Type.Object() {
					continue
				}
				want := whole(held.resource(ev.Resource), &ev)
				if diff := cmp.Diff(want, taken[i], cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("line %d, %s %s: %s", r.Line(), ev.Resource, ev.Name, diff)
				}
				i++
			}
		})
	}
}

func copied(o metav1.Object) metav1.Object {
	switch o := o.(type) {
	case *corev1.Node:
		return o.DeepCopy()
	case *corev1.Pod:
		return o.DeepCopy()
	case *policyv1.PodDisruptionBudget:
		return o.DeepCopy()
	case *corev1.Event:
		return o.DeepCopy()
	}
	m := o.(*metav1.PartialObjectMetadata)
	return m.DeepCopy()
}

func whole(resource string, ev *timeline.Event) metav1.Object {
	var d kubejson.Decoder
	var o metav1.Object
	switch resource {
	case noderoll.Nodes:
		n := &corev1.Node{}
		d.Node(n, ev.Object)
		o = n
	case noderoll.Pods:
		p := &corev1.Pod{}
		d.Pod(p, ev.Object)
		o = p
	case noderoll.Budgets:
		b := &policyv1.PodDisruptionBudget{}
		d.Budget(b, ev.Object)
		o = b
	case noderoll.Events:
		e := &corev1.Event{}
		d.Event(e, ev.Object)
		o = e
	default:
		m := &metav1.PartialObjectMetadata{}
		d.Meta(&m.ObjectMeta, ev.Object)
		o = m
	}
	o.SetName(ev.Name)
	o.SetNamespace(ev.Namespace)
	o.SetUID(types.UID(ev.UID))
	o.SetResourceVersion(ev.RV)
	return o
}
