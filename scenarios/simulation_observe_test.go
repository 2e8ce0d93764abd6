package scenarios_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/timeline"
)

// step is an event, and the object with it.
type step struct {
	event  timeline.Event // without text
	object metav1.Object
}

// observed runs a scenario and keeps copies of what it shows, and the tape where there is text.
func observed(t *testing.T, f *scenarios.File, tape io.Writer) (all []step) {
	t.Helper()
	var w *timeline.Writer
	if tape != nil {
		var err error
		if w, err = timeline.NewWriter(tape, f.Header()); err != nil {
			t.Fatal(err)
		}
	}
	sim, err := f.Observe(tape != nil, func(ev timeline.Event, o metav1.Object) error {
		if w != nil {
			if err := w.WriteLine(ev); err != nil {
				return err
			}
		} else if ev.Object != nil || ev.Patch != nil {
			return fmt.Errorf("%s %s: text that nobody asked for", ev.Resource, ev.Name)
		}
		ev.Object, ev.Patch = nil, nil
		if (o != nil) != ev.Type.Object() {
			return fmt.Errorf("%s %s %s: object %v", ev.Type, ev.Resource, ev.Name, o)
		}
		if o != nil {
			o = o.(runtime.Object).DeepCopyObject().(metav1.Object)
		}
		all = append(all, step{ev, o})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	if err := sim.Run(); err != nil {
		t.Fatal(err)
	}
	if w != nil {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// An object that is observed is, event by event, what a reader of the tape decodes of the whole object, in each scenario and
// in a case of it with faults. Without text the same happens.
func TestObservedObjectsAreThoseOfTheTape(t *testing.T) {
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
			cases := uint64(2)
			if os.Getenv("NODESIM_SOAK") != "" {
				cases = 50
			}
			space := variant.NewSpace(variant.Config{File: &f.File, Seed: 1, MostFaults: 3})
			for n := range cases {
				holdObserved(t, &scenarios.File{File: *space.Case(1, n)})
			}
		})
	}
}

// holdObserved holds what is observed of a file's simulation against its tape.
func holdObserved(t *testing.T, f *scenarios.File) {
	t.Helper()
	var tape bytes.Buffer
	taken, textless := observed(t, f, &tape), observed(t, f, nil)
	r, err := timeline.NewReader(&tape)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			if i != len(taken) || i != len(textless) {
				t.Fatalf("%d lines of %d events, without text %d", i, len(taken), len(textless))
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(taken[i], textless[i], cmp.AllowUnexported(step{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("line %d, %s %s (-with text +without): %s", r.Line(), ev.Resource, ev.Name, diff)
		}
		if !ev.Type.Object() {
			continue
		}
		if diff := cmp.Diff(decodedObject(r.Header(), &ev), taken[i].object, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("line %d, %s %s (-tape +observed): %s", r.Line(), ev.Resource, ev.Name, diff)
		}
	}
}

// decodedObject is the object of a line.
func decodedObject(h *timeline.Header, ev *timeline.Event) metav1.Object {
	var d kubejson.Decoder
	var o metav1.Object
	r, _ := h.Lookup(ev.Resource)
	switch r.Group + "/" + r.Resource {
	case "/nodes":
		n := &corev1.Node{}
		d.Node(n, ev.Object)
		o = n
	case "/pods":
		p := &corev1.Pod{}
		d.Pod(p, ev.Object)
		o = p
	case "policy/poddisruptionbudgets":
		b := &policyv1.PodDisruptionBudget{}
		d.Budget(b, ev.Object)
		o = b
	case "/events":
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
