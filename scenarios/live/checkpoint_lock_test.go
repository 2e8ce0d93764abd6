package live

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// preparing is a Runner that runs nothing, and a server whose first answer to
// each kind of request is lost: before the request is done, or after it.
func preparing(behind bool, objects ...runtime.Object) (*Runner, *fake.Clientset) {
	kube := fake.NewClientset(objects...)
	lost := map[string]bool{}
	kube.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		request := a.GetVerb() + " " + a.GetResource().Resource
		if lost[request] {
			return false, nil, nil
		}
		lost[request] = true
		if create, is := a.(clienttesting.CreateAction); is && behind && a.GetVerb() == "create" {
			if err := kube.Tracker().Create(a.GetResource(), create.GetObject(), a.GetNamespace()); err != nil {
				return true, nil, err
			}
		}
		return true, nil, apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
	})
	return &Runner{
		config: &rest.Config{Host: "https://example.invalid"}, label: "surge", record: RecordName, clock: clock.RealClock{}, file: &scenarios.File{File: spec.File{}}, warn: func(error) {},
	}, kube
}

// A server that answers with errors of its own for a while is waited for from the
// first request on, and what it did nevertheless is found.
func TestPreparationOnAServerThatFalters(t *testing.T) {
	for name, behind := range map[string]bool{"not done": false, "done": true} {
		synctest.Test(t, func(t *testing.T) {
			p, kube := preparing(behind)
			if _, there, err := p.peek(t.Context(), faked(kube)); there || err != nil {
				t.Errorf("%s: a record is found: %t, %v", name, there, err)
			}
			if found, err := p.foreign(t.Context(), faked(kube)); found || err != nil {
				t.Errorf("%s: nodes of others are found: %t, %v", name, found, err)
			}
			l, adopted, err := p.claim(t.Context(), faked(kube))
			if err != nil || adopted {
				t.Fatalf("%s: the record is adopted: %t, %v; want a new one", name, adopted, err)
			}
			if err := l.note(t.Context(), true, false, 0); err == nil {
				t.Errorf("%s: the first note was taken", name) // the caller tries again
			}
			if err := l.note(t.Context(), true, false, 0); err != nil {
				t.Errorf("%s: the next note: %v", name, err)
			}
		})
	}
}

// A live run begins when --cleanup has removed an earlier one, and not in the middle of that.
func TestRecordThatIsBeingRemoved(t *testing.T) {
	for _, ends := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p, _ := preparing(false)
			p.removeWithin, p.tell = time.Minute, func(Progress) {}
			left := (&checkpointLock{p: p, now: checkpoint{Scenario: "surge", Values: p.values(), Begun: true, At: "90s", Holder: cleaner}}).object()
			_, kube := preparing(false, left)
			began := time.Now()
			if ends {
				time.AfterFunc(20*time.Second, func() {
					if err := kube.Tracker().Delete(coordinationv1.SchemeGroupVersion.WithResource("leases"), RecordNamespace, RecordName); err != nil {
						t.Error(err)
					}
				})
			}
			l, adopted, err := p.claim(t.Context(), faked(kube))
			var other *OtherRunError
			switch {
			case ends && (err != nil || adopted || l.now.Begun || time.Since(began) < 20*time.Second):
				t.Errorf("adopted %t, %v; want a new record, after the removal", adopted, err)
			case !ends && (!errors.As(err, &other) || other.Found != "which has been being removed for 1m0s"):
				t.Errorf("%v, want that it is being removed", err)
			}
		})
	}
}

// One that was left is taken over, unless somebody else is faster.
func TestRecordIsTakenOver(t *testing.T) {
	for name, faster := range map[string]bool{"nobody else": false, "somebody else": true} {
		synctest.Test(t, func(t *testing.T) {
			p, _ := preparing(false)
			left := (&checkpointLock{p: p, now: checkpoint{Scenario: "surge", Values: p.values(), Begun: true, At: "90s", Holder: "earlier"}}).object()
			_, kube := preparing(false, left)
			if faster {
				kube.PrependReactor("update", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
					now := left.DeepCopy()
					now.Spec.HolderIdentity = ptr.To("faster")
					if err := kube.Tracker().Update(coordinationv1.SchemeGroupVersion.WithResource("leases"), now, RecordNamespace); err != nil {
						return true, nil, err
					}
					return true, nil, apierrors.NewConflict(coordinationv1.Resource("leases"), RecordName, errors.New("changed"))
				})
			}
			l, adopted, err := p.claim(t.Context(), faked(kube))
			var other *OtherRunError
			if faster {
				if !errors.As(err, &other) || !other.Running || other.Found != "by faster" {
					t.Errorf("%s: %v, want that the faster one performs", name, err)
				}
				return
			}
			if err != nil || !adopted || !l.now.Begun || l.now.At != "90s" {
				t.Fatalf("%s: adopted %t, %v", name, adopted, err)
			}
			have, err := kube.CoordinationV1().Leases(RecordNamespace).Get(t.Context(), RecordName, metav1.GetOptions{})
			if err != nil || checkpointOf(have).Holder != l.holder {
				t.Errorf("%s: the record is %v, %v; want it to be ours", name, have, err)
			}
		})
	}
}
