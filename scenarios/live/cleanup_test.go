package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	ktesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// What a process resumes is no longer ours: nothing of it may be removed. What
// --cleanup removes, two may remove.
func TestLeavesAloneWhatWasTakenOver(t *testing.T) {
	for by, left := range map[string]bool{"other:1:cafe": true, cleaner: false, "": false} {
		t.Run(by, func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", Labels: map[string]string{Label: "surge"}}}
			nodes := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, node)
			r := &run{
				Runner:  &Runner{label: "surge", clock: clock.RealClock{}, removeWithin: answerMost, warn: func(error) {}, tell: func(Progress) {}},
				clients: &clients{kube: faked(fake.NewClientset()), dynamic: nodes, close: func() {}},
			}
			if err := r.removeOrKeep(t.Context(), fmt.Errorf("it ends: %w", &takenOverError{RecordName, by})); err != nil {
				t.Fatal(err)
			}
			list, err := nodes.Resource(nodesResource).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if is := len(list.Items) == 1; is != left {
				t.Errorf("taken over by %q: the node is left: %v, want %v", by, is, left)
			}
		})
	}
}

// Who keeps things and was taken over doesn't write into another's record.
func TestNotesNothingInTheRecordOfAnother(t *testing.T) {
	record := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: RecordNamespace, Name: RecordName, Labels: map[string]string{Label: "surge"}},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("other:1:cafe")},
	}
	kube := fake.NewClientset(record)
	r := &run{Runner: &Runner{keep: true}, clients: &clients{kube: faked(kube), close: func() {}}}
	if err := r.removeOrKeep(t.Context(), &takenOverError{RecordName, "other:1:cafe"}); err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, a := range kube.Actions() {
		verbs = append(verbs, a.GetVerb())
	}
	if slices.Contains(verbs, "update") {
		t.Errorf("the record is written to: %s", strings.Join(verbs, ", "))
	}
}

// A process that lives may write at the moment at which --cleanup does: it is told all the same.
func TestDismissesAProcessThatHasJustWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: RecordNamespace, Name: RecordName, Annotations: map[string]string{annotation + "scenario": "surge"}},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("other:1:cafe"), RenewTime: ptr.To(metav1.NowMicro())},
		}
		kube := fake.NewClientset(record)
		conflicts := 1
		kube.PrependReactor("update", "leases", func(ktesting.Action) (bool, runtime.Object, error) {
			if conflicts == 0 {
				return false, nil, nil
			}
			conflicts--
			return true, nil, apierrors.NewConflict(coordinationv1.Resource("leases"), RecordName, errors.New("it was written"))
		})
		p, began := &Runner{label: "surge", clock: clock.RealClock{}}, time.Now()
		if err := p.stopOther(t.Context(), faked(kube)); err != nil {
			t.Fatal(err)
		}
		have, err := kube.CoordinationV1().Leases(RecordNamespace).Get(t.Context(), RecordName, metav1.GetOptions{})
		if err != nil || checkpointOf(have).Holder != cleaner {
			t.Errorf("the record is %+v, %v, want it held by %q", have, err, cleaner)
		}
		if time.Since(began) < checkpointEvery {
			t.Errorf("it waited for %s, want the time in which a process reads its record", time.Since(began))
		}
	})
}

// A server that has gone while --cleanup works ends it after some tries, with what was
// removed until then.
func TestCleanupEndsWhenTheServerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := fmt.Errorf("dial tcp 127.0.0.1:1: %w", syscall.ECONNREFUSED)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", Labels: map[string]string{Label: "surge"}}}
		nodes := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, node)
		kube := fake.NewClientset()
		asked := 0
		kube.PrependReactor("delete", "leases", func(ktesting.Action) (bool, runtime.Object, error) {
			asked++ // the node was deleted by then
			return true, nil, gone
		})
		nodes.PrependReactor("list", "*", func(ktesting.Action) (bool, runtime.Object, error) {
			if asked == 0 {
				return false, nil, nil
			}
			asked++
			return true, nil, gone
		})
		warned := 0
		r := &run{
			Runner:  &Runner{label: "surge", clock: clock.RealClock{}, warn: func(error) { warned++ }},
			clients: &clients{kube: faked(kube), dynamic: nodes, close: func() {}},
		}
		var report Report
		err := r.sweep(t.Context(), &report, cleanupTries)
		if !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), "(tried 8 times): want an API server that answers") {
			t.Errorf("found %v, want an error after %d tries", err, cleanupTries)
		}
		if asked != cleanupTries || warned != cleanupTries-1 {
			t.Errorf("asked %d times with %d warnings, want %d and one less", asked, warned, cleanupTries)
		}
		tries := 0
		err = r.attempts(t.Context(), cleanupTries, func(context.Context) error { tries++; return gone })
		if !errors.Is(err, syscall.ECONNREFUSED) || tries != cleanupTries {
			t.Errorf("found %v after %d tries, want an error after %d", err, tries, cleanupTries)
		}
	})
}

func TestReportSaysWhatWasRemoved(t *testing.T) {
	r := Report{Removed: 7, Kinds: map[string]int{"pods": 4, "nodes": 3}}
	if got, want := r.String(), "7 objects removed: 3 nodes, 4 pods\n"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}
