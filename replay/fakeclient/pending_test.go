package fakeclient

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
)

func TestPendingIsMissing(t *testing.T) {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for name, version := range map[string]string{"a": "1", "b": "2", "stripped": ""} {
		if err := store.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		versions map[string]string
		whole    bool
		want     string // the key that is missing
	}{
		"nothing":              {},
		"held":                 {versions: map[string]string{"a": "1", "stripped": "7", "gone": deleted}},
		"an older version":     {versions: map[string]string{"b": "3"}, want: "b"},
		"not there":            {versions: map[string]string{"c": "3"}, want: "c"},
		"there still":          {versions: map[string]string{"a": deleted}, want: "a"},
		"a whole list":         {versions: map[string]string{"a": "1", "b": "2", "stripped": "7"}, whole: true},
		"more than the list":   {versions: map[string]string{"a": "1", "stripped": "7"}, whole: true, want: "b"},
		"an empty whole list":  {versions: map[string]string{"a": deleted, "b": deleted}, whole: true, want: "a b stripped"},
		"a part of the list":   {versions: map[string]string{"a": "1"}},
		"an object that left":  {versions: map[string]string{"a": "1", "b": "2", "stripped": "7", "c": deleted}, whole: true},
		"another's whole list": {versions: map[string]string{"x/a": "1"}, whole: true, want: "x/a"},
	} {
		key, missing := (&pending{versions: tt.versions, whole: tt.whole}).missing(store)
		if missing != (tt.want != "") || missing && !strings.Contains(" "+tt.want+" ", " "+key+" ") {
			t.Errorf("%s: found %q, %v: want %q", name, key, missing, tt.want)
		}
	}
}

// What has changed since it was compared is compared again.
func TestPendingIsForgottenAsItWas(t *testing.T) {
	p := &pending{versions: map[string]string{"a": "1"}, whole: true, notes: 3}
	if p.clear(2); len(p.versions) != 1 || !p.whole {
		t.Errorf("found %v, %v after a change: want what it was", p.versions, p.whole)
	}
	if p.clear(3); len(p.versions) != 0 || p.whole {
		t.Errorf("found %v, %v: want nothing", p.versions, p.whole)
	}
}

// A list of one page that the code under test asks for, and one with another selector, say nothing about an informer's store.
func TestListsOfOthersDontCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ForTest(t, replay.Events(header(), roll()), fault.Inject("close:nodes,count=3"))
		lister := f.Informers.Core().V1().Nodes().Lister()
		f.Start()
		for {
			for _, o := range []metav1.ListOptions{{Limit: 1}, {}, {LabelSelector: "none=here"}} {
				if _, err := f.CoreV1().Nodes().List(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.Step(t.Context()); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if n, err := lister.Get("b"); err != nil || !n.Spec.Unschedulable {
			t.Errorf("the lister has %v, %v: want the tape's last", n, err)
		}
	})
}

// A watch that is refused leaves its informer where it is; no other informer waits for it, whatever versions they have.
func TestRefusedWatchHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ForTest(t, replay.Events(header(), roll()), fault.Inject("429:pods,verb=watch,for=1h"))
		pods, nodes := f.Informers.Core().V1().Pods().Lister(), f.Informers.Core().V1().Nodes().Lister()
		f.Play()
		if n, err := nodes.Get("b"); err != nil || !n.Spec.Unschedulable {
			t.Errorf("the lister has %v, %v: want the tape's last", n, err)
		}
		if _, err := pods.Pods("default").Get("p"); err != nil {
			t.Errorf("the lister of what can't be watched: %v: want what was listed", err)
		}
	})
}

// An object that a transform refuses never comes into the store.
func TestTransformThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ForTest(t, replay.Events(header(), roll()))
		i := f.Informers.Core().V1().Nodes().Informer()
		if err := i.SetTransform(func(o any) (any, error) {
			if n, ok := o.(*corev1.Node); ok && n.Name == "c" {
				return nil, errors.New("no c")
			}
			return o, nil
		}); err != nil {
			t.Fatal(err)
		}
		f.Start()
		err := f.StepTo(t.Context(), time.Hour)
		want := "lacks c for 30s"
		if storesSayVersions {
			want = "lacks version 60 for 30s"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found the error %v, want %q in it", err, want)
		}
	})
}
